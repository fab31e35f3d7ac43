//! A grid of shapes by every algorithm, the source of the rules of `auto`.

use super::super::Output;
use super::rig::{Rig, Way};
use crate::machine::Machine;
use crate::timing::{Effort, Record, Subject, measure_alone};
use anyhow::{Result, ensure};
use farpoint::Algorithm;
use farpoint_cuda::Gpu;
use farpoint_generate::{Kind, generate};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::time::Instant;

#[derive(Debug, clap::Args)]
pub(crate) struct Sweep {
    /// Seconds after which the grid ends.
    #[arg(long, value_name = "S", default_value_t = 90.0)]
    seconds: f64,
    #[command(flatten)]
    output: Output,
}

const SIZES: [usize; 7] = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];
const BATCHES: [usize; 3] = [1, 8, 64];
/// Algorithms that are compared, then auto.
const WHO: [Algorithm; 5] = [
    Algorithm::Naive,
    Algorithm::Persistent,
    Algorithm::peak(),
    Algorithm::radius(),
    Algorithm::Auto,
];

/// Maximum number of points per batch; larger shapes are skipped.
const MOST: usize = 16 << 20;

/// Number of distinct clouds per batch; larger batches repeat them.
const DISTINCT: usize = 8;

const EFFORT: Effort = Effort { warm: 1, runs: 3, budget: 0.3 };

/// A shape (clouds, points, samples), with its times.
type Row = ([usize; 3], Vec<Result<Record>>);

impl Sweep {
    pub(crate) fn run(&self) -> Result<bool> {
        let gpu = Gpu::new(0)?;
        let machine = Machine::with_gpus();
        println!("{machine}\n\ntimes in ms; * computed from fewer samples\n");
        let heads: String = WHO.iter().map(|part| format!("{:>12}", part.name())).collect();
        println!("{:>4} {:>9} {:>8} {heads}  fastest    auto over it", "B", "N", "M");
        let (begin, mut rows) = (Instant::now(), Vec::new());
        for n in SIZES {
            let clouds = clouds(n);
            for [b, m] in shapes(n) {
                if begin.elapsed().as_secs_f64() < self.seconds {
                    let records = measure(&gpu, &clouds, [b, n, m])?;
                    println!("{}", line([b, n, m], &records));
                    rows.push(([b, n, m], records));
                }
            }
        }
        ensure!(!rows.is_empty(), "no shape was measured");
        let text = format!("{:.0} s", begin.elapsed().as_secs_f64());
        let json = || json!({ "machine": machine.json(), "grid": grid(&rows) });
        self.output.write(&text, json)?;
        Ok(rows.iter().all(|(_, records)| agree(records)))
    }
}

/// Numbers of clouds and samples for clouds of `n` points.
fn shapes(n: usize) -> impl Iterator<Item = [usize; 2]> {
    let samples = if n / 4 == 64 { vec![64] } else { vec![64, n / 4] };
    let batches = BATCHES.into_iter().filter(move |b| b * n <= MOST);
    batches.flat_map(move |b| samples.clone().into_iter().map(move |m| [b, m]))
}

fn clouds(n: usize) -> Vec<Vec<f32>> {
    let seeds: Vec<u64> = (1..=DISTINCT as u64).collect();
    let cloud = |&seed: &u64| generate(Kind::Room, n, seed).as_flattened().to_vec();
    seeds.par_iter().map(cloud).collect()
}

fn measure(gpu: &Gpu, clouds: &[Vec<f32>], [b, n, m]: [usize; 3]) -> Result<Vec<Result<Record>>> {
    let data: Vec<f32> = (0..b).flat_map(|k| clouds[k % DISTINCT].iter().copied()).collect();
    let rig = Rig::new(gpu, [b, n, 3], &[data], m)?;
    let subject = Subject { name: "room", points: b * n };
    let all = WHO.map(|algorithm| {
        // Times of the others are not proportional to their samples.
        let linear = !matches!(algorithm, Algorithm::Peak(_) | Algorithm::Auto);
        let contender = rig.contender(Way::plain(algorithm), m, &|_, _, _| Ok(()))?;
        measure_alone(subject, &contender.linear(linear), EFFORT)
    });
    Ok(all.into())
}

/// Returns whether all that took all samples chose the same points.
fn agree(records: &[Result<Record>]) -> bool {
    let whole = || records.iter().flatten().filter(|record| !record.computed());
    whole().all(|a| whole().all(|b| a.checksum == b.checksum))
}

fn line([b, n, m]: [usize; 3], records: &[Result<Record>]) -> String {
    let cell = |record: &Result<Record>| match record {
        Ok(record) => {
            let mark = if record.computed() { '*' } else { ' ' };
            format!("{:>11.3}{mark}", record.median() * 1e3)
        }
        Err(_) => format!("{:>12}", "-"),
    };
    let cells: String = records.iter().map(cell).collect();
    let seconds = |record: &Result<Record>| record.as_ref().map_or(f64::NAN, Record::median);
    let (auto, others) = records.split_last().expect("five algorithms");
    let fastest = WHO.iter().zip(others).min_by(|a, b| seconds(a.1).total_cmp(&seconds(b.1)));
    let (name, least) = fastest.map_or(("-", f64::NAN), |(who, r)| (who.name(), seconds(r)));
    let differ = if agree(records) { "" } else { "  INDICES DIFFER" };
    let mut text =
        format!("{b:>4} {n:>9} {m:>8} {cells}  {name:<10} {:.2}{differ}", seconds(auto) / least);
    for (who, record) in WHO.iter().zip(records) {
        if let Err(error) = record {
            text.push_str(&format!("\n      {who}: {error:#}"));
        }
    }
    text
}

fn grid(rows: &[Row]) -> Vec<Value> {
    let row = |([b, n, m], records): &Row| {
        let times = WHO.iter().zip(records).map(|(who, record)| {
            let ms = record.as_ref().map(|record| record.median() * 1e3).ok();
            (who.to_string(), json!(ms))
        });
        json!({
            "clouds": b, "points": n, "samples": m, "milliseconds": times.collect::<Map<_, _>>(),
        })
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::shapes;

    #[test]
    fn small_clouds_have_one_number_of_samples() {
        assert_eq!(shapes(256).collect::<Vec<_>>(), [[1, 64], [8, 64], [64, 64]]);
        assert_eq!(shapes(1_048_576).count(), 4);
    }
}
