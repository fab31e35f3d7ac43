//! Small clouds: what a robot samples twenty times a second, one by one and in batches.

use super::Bench;
use super::write::row;
use crate::output::{count, number, seconds};
use anyhow::Result;
use farpoint::{Algorithm, Sampler};
use std::time::Instant;

/// Clouds of a batch.
const BATCH: usize = 32;

pub(super) fn small(bench: &Bench<'_>) -> Result<()> {
    let mut rows = vec![row(["cloud", "what", "time", "over naive"])];
    let mut lines = Vec::new();
    for (points, samples) in [(1024, 512), (4096, 1024), (24_000, 6000)] {
        let cloud = farpoint_generate::room(points, 1);
        let clouds: Vec<_> =
            (0..BATCH as u64).map(|seed| farpoint_generate::room(points, seed)).collect();
        let sampler =
            |algorithm, threads| Sampler::count(samples).algorithm(algorithm).threads(threads);
        let who = [
            Algorithm::Naive,
            Algorithm::Radius,
            Algorithm::Tree,
            Algorithm::Peak,
            Algorithm::Auto,
        ];
        let mut work: Vec<(String, Box<dyn Fn() -> Result<()>>)> = Vec::new();
        for algorithm in who {
            let (one, cloud) = (sampler(algorithm, 1), &cloud);
            work.push((algorithm.to_string(), Box::new(move || Ok(one.sample(cloud).map(drop)?))));
        }
        for threads in [1, bench.threads] {
            let (all, clouds) = (sampler(Algorithm::Auto, threads), &clouds);
            let plural = if threads == 1 { "" } else { "s" };
            let name = format!("auto, batch of {BATCH}, {threads} thread{plural}");
            work.push((name, Box::new(move || Ok(all.sample_batch(clouds).map(drop)?))));
        }
        let medians = medians(&work, bench)?;
        for (k, ((name, _), time)) in work.iter().zip(&medians).enumerate() {
            let clouds = if k < who.len() { 1.0 } else { BATCH as f64 };
            let gain = format!("{}x", number(medians[0] * clouds / time));
            let size = format!("{} of {}", count(samples), count(points));
            rows.push(vec![size, name.clone(), seconds(*time), gain]);
            lines.push(vec![
                points.to_string(),
                samples.to_string(),
                name.clone(),
                format!("{time:.9}"),
                bench.machine.to_string(),
            ]);
        }
    }
    bench.table("Small clouds: rooms, one thread unless told", &rows)?;
    bench.rows("small", &["points", "samples", "what", "seconds", "machine"], &lines)
}

/// Median seconds of each work, done in turns, each repeated for long enough to be measured.
fn medians(
    work: &[(String, Box<dyn Fn() -> Result<()> + '_>)],
    bench: &Bench<'_>,
) -> Result<Vec<f64>> {
    let mut all = vec![Vec::new(); work.len()];
    let patience = if bench.args.quick { 0.005 } else { 0.05 };
    for _ in 0..bench.effort.runs {
        for ((_, work), times) in work.iter().zip(&mut all) {
            let (start, mut repeats) = (Instant::now(), 0);
            while repeats == 0 || start.elapsed().as_secs_f64() < patience {
                work()?;
                repeats += 1;
            }
            times.push(start.elapsed().as_secs_f64() / f64::from(repeats));
        }
    }
    Ok(all
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect())
}
