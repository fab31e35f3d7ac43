//! Small clouds: what a robot samples twenty times a second, one by one and in batches.

use super::Bench;
use super::write::row;
use crate::output::{count, number, seconds};
use anyhow::Result;
use farpoint::{Algorithm, Sampler};
use std::time::Instant;

/// Clouds of a batch.
const BATCH: usize = 32;

const WHO: [Algorithm; 5] =
    [Algorithm::Naive, Algorithm::Radius, Algorithm::Tree, Algorithm::Peak, Algorithm::Auto];

/// Something to be timed.
struct Work<'a> {
    name: String,
    /// Clouds it samples.
    clouds: usize,
    run: Box<dyn Fn() -> Result<()> + 'a>,
}

pub(super) fn small(bench: &Bench<'_>) -> Result<()> {
    let mut rows = vec![row(["cloud", "what", "time", "over naive"])];
    let mut lines = Vec::new();
    for (points, samples) in [(1024, 512), (4096, 1024), (24_000, 6000)] {
        let clouds: Vec<_> =
            (0..BATCH as u64).map(|seed| farpoint_generate::room(points, seed)).collect();
        let work = work(&clouds, samples, bench.threads);
        let medians = medians(&work, bench)?;
        for (work, time) in work.iter().zip(&medians) {
            let size = format!("{} of {}", count(samples), count(points));
            let gain = format!("{}x", number(medians[0] * work.clouds as f64 / time));
            rows.push(vec![size, work.name.clone(), seconds(*time), gain]);
            lines.push(vec![
                points.to_string(),
                samples.to_string(),
                work.name.clone(),
                format!("{time:.9}"),
                bench.machine.to_string(),
            ]);
        }
    }
    bench.table("Small clouds: rooms, one thread unless told", &rows)?;
    bench.rows("small", &["points", "samples", "what", "seconds", "machine"], &lines)
}

/// Every algorithm on the first cloud, and all clouds at once; naive comes first.
fn work(clouds: &[Vec<[f32; 3]>], samples: usize, threads: usize) -> Vec<Work<'_>> {
    let sampler =
        move |algorithm, threads| Sampler::count(samples).algorithm(algorithm).threads(threads);
    let mut work: Vec<Work<'_>> = Vec::new();
    for algorithm in WHO {
        let one = sampler(algorithm, 1);
        work.push(Work {
            name: algorithm.to_string(),
            clouds: 1,
            run: Box::new(move || Ok(one.sample(&clouds[0]).map(drop)?)),
        });
    }
    let mut steps = vec![1, threads];
    steps.dedup();
    for threads in steps {
        let all = sampler(Algorithm::Auto, threads);
        let plural = if threads == 1 { "" } else { "s" };
        work.push(Work {
            name: format!("auto, batch of {}, {threads} thread{plural}", clouds.len()),
            clouds: clouds.len(),
            run: Box::new(move || Ok(all.sample_batch(clouds).map(drop)?)),
        });
    }
    work
}

/// Median seconds of each work, done in turns, each repeated for long enough to be measured.
fn medians(work: &[Work<'_>], bench: &Bench<'_>) -> Result<Vec<f64>> {
    let mut all = vec![Vec::new(); work.len()];
    let patience = if bench.args.quick { 0.005 } else { 0.05 };
    for _ in 0..bench.effort.runs {
        for (work, times) in work.iter().zip(&mut all) {
            let (start, mut repeats) = (Instant::now(), 0);
            while repeats == 0 || start.elapsed().as_secs_f64() < patience {
                (work.run)()?;
                repeats += 1;
            }
            times.push(start.elapsed().as_secs_f64() / f64::from(repeats));
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    Ok(all.into_iter().map(median).collect())
}
