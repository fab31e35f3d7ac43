//! Parts that compare times; each builds its contenders, measures them together, and reports.

use super::Bench;
use super::write::{row, time, times};
use crate::plot::{Axis, Lines, Panel, Series, Sheet};
use crate::timing::{self, Case, Contender, OnCpu, Record, generated};
use anyhow::Result;
use farpoint::Algorithm;
use farpoint_cli::output::{count, number};
use farpoint_generate::Kind;

const ALL: [Algorithm; 4] =
    [Algorithm::Naive, Algorithm::radius(), Algorithm::Tree, Algorithm::peak()];

fn contender(case: &Case, algorithm: Algorithm, samples: usize, threads: usize) -> Contender<'_> {
    OnCpu { algorithm, threads }.contender(case, samples)
}

fn measure(bench: &Bench<'_>, case: &Case, contenders: &[Contender<'_>]) -> Result<Vec<Record>> {
    timing::measure(case.subject(), contenders, bench.effort)
}

/// Every algorithm on every cloud, on one thread and on all.
pub(super) fn algorithms(bench: &Bench<'_>) -> Result<()> {
    let mut all = Vec::new();
    for case in bench.generated().iter().chain(&bench.user_cases) {
        let m = case.quarter();
        let mut contenders: Vec<_> = ALL.iter().map(|a| contender(case, *a, m, 1)).collect();
        contenders.push(contender(case, Algorithm::Auto, m, 1));
        if bench.threads > 1 {
            let wide = [Algorithm::Naive, Algorithm::Tree, Algorithm::peak(), Algorithm::Auto];
            contenders.extend(wide.map(|a| contender(case, a, m, bench.threads)));
        }
        let records = measure(bench, case, &contenders)?;
        let head = ["algorithm", "threads", "time", "samples/s", "over naive", "bytes per point"];
        let mut rows = vec![row(head)];
        rows.extend(records.iter().map(|record| {
            let name = match record.requested {
                "auto" => format!("auto ({})", record.algorithm),
                other => other.to_string(),
            };
            vec![
                name,
                record.threads.to_string(),
                time(record),
                count((m as f64 / record.median()) as u64),
                times(&records[0], record),
                number(record.bytes_per_point()),
            ]
        }));
        bench.table(&heading("Algorithms", case, m), &rows)?;
        all.extend(records);
    }
    bench.csv("algorithms", &all)
}

fn heading(part: &str, case: &Case, samples: usize) -> String {
    format!("{part}: {}, {} of {} points", case.name, count(samples), count(case.usable()))
}

/// Ten times the points at the same ratio.
pub(super) fn growth(bench: &Bench<'_>) -> Result<()> {
    let sizes =
        if bench.args.quick { [1_000, 10_000, 100_000] } else { [100_000, 1_000_000, 10_000_000] };
    let (mut all, mut rows) = (Vec::<Record>::new(), Vec::new());
    rows.push(row(["points", "samples", "algorithm", "time", "over a tenth", "bytes per point"]));
    for points in sizes {
        let case = generated(Kind::Room, points);
        let contender = contender(&case, Algorithm::Auto, case.quarter(), 1);
        let record = measure(bench, &case, &[contender])?.remove(0);
        let grown = match all.last() {
            Some(last) => format!("{}x", number(record.median() / last.median())),
            None => String::new(),
        };
        rows.push(vec![
            count(points),
            count(record.samples),
            format!("auto ({})", record.algorithm),
            time(&record),
            grown,
            number(record.bytes_per_point()),
        ]);
        all.push(record);
    }
    bench.table("Growth: room, a quarter of the points, one thread", &rows)?;
    let points = all.iter().map(|record| (record.points as f64, record.median())).collect();
    let panel = Panel::Lines(Lines {
        title: String::new(),
        x: Axis::log("points"),
        y: Axis::log("seconds"),
        series: vec![Series::new("auto", points)],
    });
    let title = "A quarter of a room scan, one thread";
    bench.plot("growth", &Sheet::single(title, &bench.machine.to_string(), panel))?;
    bench.csv("growth", &all)
}

/// One thread against several.
pub(super) fn threads(bench: &Bench<'_>) -> Result<()> {
    let mut all = Vec::new();
    let steps = bench.steps();
    let mut cases = bench.room();
    if !bench.args.no_generated {
        cases.push(generated(Kind::Lidar, if bench.args.quick { 30_000 } else { 120_000 }));
    }
    for case in cases.iter().chain(&bench.user_cases) {
        let m = case.quarter();
        let who = [Algorithm::Naive, Algorithm::Tree, Algorithm::peak()];
        let contenders: Vec<_> = who
            .iter()
            .flat_map(|a| steps.iter().map(move |t| contender(case, *a, m, *t)))
            .collect();
        let records = measure(bench, case, &contenders)?;
        let mut rows = vec![row(["algorithm", "threads", "time", "over one"])];
        for of_one in records.chunks(steps.len()) {
            rows.extend(of_one.iter().map(|record| {
                let name = record.requested.to_string();
                vec![name, record.threads.to_string(), time(record), times(&of_one[0], record)]
            }));
        }
        bench.table(&heading("Threads", case, m), &rows)?;
        all.extend(records);
    }
    bench.csv("threads", &all)
}

/// Clouds full of ties and repeats against one without, all of one size.
pub(super) fn ties(bench: &Bench<'_>) -> Result<()> {
    let points = if bench.args.quick { 20_000 } else { 200_000 };
    let kinds = [
        Kind::Cube,
        Kind::Lattice,
        Kind::Line,
        Kind::Equal,
        Kind::Duplicated,
        Kind::Clusters,
        Kind::Sphere,
    ];
    let mut all: Vec<Record> = Vec::new();
    let mut rows = vec![row(["cloud", "algorithm", "time", "time of the cube's"])];
    for kind in kinds {
        let case = generated(kind, points);
        let contender = contender(&case, Algorithm::Auto, case.quarter(), 1);
        all.extend(measure(bench, &case, &[contender])?);
        let (first, last) = (&all[0], &all[all.len() - 1]);
        rows.push(vec![
            kind.to_string(),
            format!("auto ({})", last.algorithm),
            time(last),
            format!("{}x", number(last.median() / first.median())),
        ]);
    }
    let title = format!("Ties and repeats: a quarter of {} points, one thread", count(points));
    bench.table(&title, &rows)?;
    bench.csv("ties", &all)
}
