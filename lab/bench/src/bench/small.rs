//! Small clouds, as a robot samples them twenty times a second, one by one and in batches.

use super::Bench;
use super::write::row;
use crate::timing::{Contender, Record, Subject, measure, repeated};
use anyhow::Result;
use farpoint::{Algorithm, Cpu, Sampler};
use farpoint_cli::output::{count, number, seconds};

/// Clouds per batch.
const BATCH: usize = 32;

const WHO: [Algorithm; 5] =
    [Algorithm::Naive, Algorithm::radius(), Algorithm::Tree, Algorithm::peak(), Algorithm::Auto];

type Clouds = [Vec<[f32; 3]>];

pub(super) fn small(bench: &Bench<'_>) -> Result<()> {
    let mut rows = vec![row(["cloud", "what", "time", "over naive"])];
    let mut lines = Vec::new();
    for (points, samples) in [(1024, 512), (4096, 1024), (24_000, 6000)] {
        let clouds: Vec<_> =
            (0..BATCH as u64).map(|seed| farpoint_generate::room(points, seed)).collect();
        let contenders = contenders(&clouds, samples, bench);
        let name = format!("rooms of {points}");
        let records = measure(Subject { name: &name, points }, &contenders, bench.effort)?;
        for record in &records {
            let clouds = if record.variant.is_empty() { 1 } else { BATCH };
            let size = format!("{} of {}", count(samples), count(points));
            let gain = records[0].median() * clouds as f64 / record.median();
            let gain = format!("{}x", number(gain));
            rows.push(vec![size, named(record), seconds(record.median()), gain]);
            lines.push(vec![
                points.to_string(),
                samples.to_string(),
                named(record),
                format!("{:.9}", record.median()),
                bench.machine.to_string(),
            ]);
        }
    }
    bench.table("Small clouds: rooms, one thread unless more are named", &rows)?;
    bench.rows("small", &["points", "samples", "what", "seconds", "machine"], &lines)
}

fn named(record: &Record) -> String {
    match record.variant.as_str() {
        "" => record.requested.to_owned(),
        variant => format!("{}, {variant}", record.requested),
    }
}

/// Every algorithm on the first cloud, and all clouds at once; naive comes first. All choose the same
/// points of the first cloud.
fn contenders<'a>(clouds: &'a Clouds, samples: usize, bench: &Bench<'_>) -> Vec<Contender<'a>> {
    let patience = if bench.args.quick { 0.005 } else { 0.05 };
    let mut contenders: Vec<_> =
        WHO.map(|algorithm| one(&clouds[0], algorithm, samples, patience)).into();
    let mut steps = vec![1, bench.threads];
    steps.dedup();
    contenders.extend(steps.into_iter().map(|threads| batch(clouds, threads, samples, patience)));
    contenders
}

fn one(cloud: &[[f32; 3]], algorithm: Algorithm, samples: usize, patience: f64) -> Contender<'_> {
    let (cpu, sampler) = (Cpu::new().threads(1), Sampler::count(samples).algorithm(algorithm));
    Contender::new(algorithm.name(), samples, move |_| {
        repeated(algorithm.name(), patience, || Ok(sampler.on(&cpu).sample(cloud)?.indices))
    })
}

fn batch(clouds: &Clouds, threads: usize, samples: usize, patience: f64) -> Contender<'_> {
    let algorithm = Algorithm::Auto;
    let (cpu, sampler) = (Cpu::new().threads(threads), Sampler::count(samples));
    let plural = if threads == 1 { "" } else { "s" };
    let contender = Contender::new(algorithm.name(), samples, move |_| {
        repeated(algorithm.name(), patience, || {
            Ok(sampler.on(&cpu).sample_batch(clouds)?.swap_remove(0).indices)
        })
    });
    contender
        .variant(format!("batch of {}, {threads} thread{plural}", clouds.len()))
        .threads(threads)
}
