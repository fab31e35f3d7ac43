//! Time of each stage of one sample on 1, 2, 4 ... threads. Counting takes some time of its own.

use super::Bench;
use super::write::row;
use crate::timing::{Case, OnCpu, generated};
use anyhow::Result;
use farpoint::{Algorithm, Measured};
use farpoint_cli::output::{count, seconds};
use farpoint_generate::Kind;
use std::time::Instant;

/// The stages of `peak` on the CPU, in their order.
const STAGES: [&str; 8] =
    ["copy", "order", "build", "single", "collect", "solve", "update", "sort"];

pub(super) fn stages(bench: &Bench<'_>) -> Result<()> {
    let mut cases = bench.room();
    if !bench.args.no_generated {
        cases.push(generated(Kind::Lidar, if bench.args.quick { 30_000 } else { 120_000 }));
    }
    let mut lines = Vec::new();
    for case in cases.iter().chain(&bench.user_cases) {
        let mut rows = vec![row(["threads", "all"])];
        rows[0].extend(STAGES.map(str::to_owned));
        for threads in bench.steps() {
            let times = median(bench, case, threads)?;
            let cells = times.iter().map(|&time| seconds(time));
            rows.push([threads.to_string()].into_iter().chain(cells).collect());
            let mut line = vec![case.name.clone(), case.usable().to_string(), threads.to_string()];
            line.extend(times.iter().map(|time| format!("{time:.9}")));
            line.push(bench.machine.to_string());
            lines.push(line);
        }
        let (samples, points) = (count(case.quarter()), count(case.usable()));
        bench.table(&format!("Stages: {}, {samples} of {points} points", case.name), &rows)?;
    }
    let mut head = vec!["cloud", "points", "threads", "all"];
    head.extend(STAGES);
    head.push("machine");
    bench.rows("stages", &head, &lines)
}

/// Returns the seconds of the whole run and of each stage, of the run of median time.
fn median(bench: &Bench<'_>, case: &Case, threads: usize) -> Result<Vec<f64>> {
    let mut runs = Vec::new();
    for _ in 0..bench.effort.runs {
        let start = Instant::now();
        let algorithm = Algorithm::peak();
        let counted = OnCpu { algorithm, threads }.statistics(case, case.quarter())?;
        let mut times = vec![start.elapsed().as_secs_f64()];
        let named = counted.named();
        times.extend(STAGES.map(|stage| stage_of(&named, stage)));
        runs.push(times);
    }
    runs.sort_by(|a, b| a[0].total_cmp(&b[0]));
    Ok(runs.swap_remove(runs.len() / 2))
}

/// Returns the seconds of a stage; 0 if there was none.
fn stage_of(named: &[(&'static str, Measured)], stage: &str) -> f64 {
    let found = named.iter().find(|(name, _)| name.strip_suffix(" seconds") == Some(stage));
    match found {
        Some((_, Measured::Seconds(seconds))) => *seconds,
        _ => 0.0,
    }
}
