//! The paper's figures that need no clock: how many updates are in vain, how even a sample is.

use super::measure::{Case, Job, statistics};
use super::plot::{Axis, Plot, Series};
use super::write::row;
use super::{Bench, generated};
use crate::input::each_precision;
use crate::output::{count, number};
use anyhow::Result;
use farpoint::measure::{Spacing, covering_radius, spacing};
use farpoint::{Algorithm, BadRows, Sampler, SplitMix64, Start};
use farpoint_generate::Kind;

/// Figure 3: at each step of brute force, the share of distances that change nothing.
pub(super) fn updates(bench: &Bench<'_>) -> Result<()> {
    let mut rows = vec![row(["cloud", "step", "updates in vain"])];
    let (mut lines, mut series) = (Vec::new(), Vec::new());
    let points = if bench.args.quick { 5000 } else { 40_000 };
    for kind in [Kind::Room, Kind::Lidar, Kind::Object] {
        let case = generated(kind, points);
        let job = Job::new(Algorithm::Naive, case.quarter(), bench.threads);
        let counts = statistics(&case, &job)?.effective_by_step;
        let vain = |step: usize| 1.0 - f64::from(counts[step]) / points as f64;
        let steps: Vec<_> = (1..counts.len()).filter(|k| worth_showing(*k)).collect();
        for &step in &steps {
            let share = format!("{:.3} %", 100.0 * vain(step));
            rows.push(vec![case.name.clone(), count(step), share]);
            lines.push(vec![case.name.clone(), step.to_string(), vain(step).to_string()]);
        }
        let points = steps.iter().map(|&step| (step as f64, 100.0 * vain(step))).collect();
        series.push(Series { name: case.name, points });
    }
    bench.table("Figure 3: updates that change nothing", &rows)?;
    let plot = Plot {
        title: "Brute force: updates that change nothing".into(),
        foot: bench.machine.to_string(),
        x: Axis::log("step"),
        y: Axis::linear("per cent of the points"),
        series,
    };
    bench.plot("updates", &plot)?;
    bench.rows("updates", &["cloud", "step", "share_in_vain"], &lines)
}

/// 1, 2, 5, 10, 20, ...
fn worth_showing(step: usize) -> bool {
    let power = 10usize.pow(step.ilog10());
    step.is_multiple_of(power) && [1, 2, 5].contains(&(step / power))
}

/// A sample's measures.
struct Evenness {
    radius: f64,
    spacing: Spacing,
}

/// Figure 2c: spacing of farthest point samples and of random ones.
pub(super) fn uniformity(bench: &Bench<'_>) -> Result<()> {
    let points = if bench.args.quick { 5000 } else { 200_000 };
    let kinds = if bench.args.no_generated { Vec::new() } else { vec![Kind::Object, Kind::Room] };
    let generated: Vec<_> = kinds.into_iter().map(|kind| generated(kind, points)).collect();
    let mut lines = Vec::new();
    for case in generated.iter().chain(&bench.given) {
        let head = ["samples", "how", "covering radius", "mean spacing", "min", "max"];
        let mut rows = vec![row(head)];
        let mut series: Vec<Series> = Vec::new();
        for part in [64, 32, 16, 8, 4, 2] {
            let samples = (case.usable() / part).max(2);
            for (how, found) in both(case, samples)? {
                let Spacing { mean, min, max } = found.spacing;
                let values = [found.radius, mean, min, max];
                let mut line = vec![count(samples), how.to_owned()];
                line.extend(values.map(number));
                rows.push(line);
                let mut line = vec![case.name.clone(), samples.to_string(), how.to_owned()];
                line.extend(values.map(|value| value.to_string()));
                lines.push(line);
                for (what, value) in [("mean", mean), ("min", min), ("max", max)] {
                    add(&mut series, format!("{how}, {what}"), (samples as f64, value));
                }
            }
        }
        bench.table(&format!("Figure 2c: {}", case.name), &rows)?;
        let plot = Plot {
            title: format!("{}: distance from each sample to its nearest", case.name),
            foot: bench.machine.to_string(),
            x: Axis::log("samples"),
            y: Axis::log("unit of the cloud"),
            series,
        };
        bench.plot(&format!("uniformity-{}", case.name), &plot)?;
    }
    let head = ["cloud", "samples", "how", "covering_radius", "mean", "min", "max"];
    bench.rows("uniformity", &head, &lines)
}

fn add(series: &mut Vec<Series>, name: String, point: (f64, f64)) {
    match series.iter_mut().find(|series| series.name == name) {
        Some(series) => series.points.push(point),
        None => series.push(Series { name, points: vec![point] }),
    }
}

/// A farthest point sample and a random one. Rows that can't be sampled are left out first.
fn both(case: &Case, samples: usize) -> Result<[(&'static str, Evenness); 2]> {
    each_precision!(&case.points, points => {
        let usable: Vec<_> = points
            .iter()
            .copied()
            .filter(|row| row.iter().all(|value| farpoint::Scalar::is_finite(*value)))
            .collect();
        let sampler = Sampler::count(samples).bad_rows(BadRows::Skip).start(Start::Index(0));
        let farthest = sampler.sample(&usable)?.indices;
        let mut random = SplitMix64::new(1);
        let mut rows: Vec<usize> = (0..usable.len()).collect();
        for k in 0..samples {
            rows.swap(k, k + random.below((usable.len() - k) as u64) as usize);
        }
        rows.truncate(samples);
        let judge = |rows: &[usize]| -> Result<Evenness> {
            Ok(Evenness {
                radius: farpoint::Scalar::to_f64(covering_radius(&usable, rows)?),
                spacing: spacing(&usable, rows)?,
            })
        };
        Ok([("farthest", judge(&farthest)?), ("random", judge(&rows)?)])
    })
}
