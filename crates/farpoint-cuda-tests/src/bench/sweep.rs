//! A grid of shapes by every algorithm: what the rules of `auto` are made from.

use super::rig::{Budget, Rig, Timing};
use crate::variants::{self, Variant};
use anyhow::{Result, ensure};
use farpoint_cuda::Device;
use farpoint_generate::{Kind, generate};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::time::Instant;

const SIZES: [usize; 7] = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];
const BATCHES: [usize; 3] = [1, 8, 64];
const PARTS: [&str; 5] = ["naive", "persistent", "peak", "radius", "auto"];

/// Points of a batch, above which a shape is left out.
const MOST: usize = 16 << 20;

/// Distinct clouds of a batch; larger batches repeat them.
const DISTINCT: usize = 8;

/// Prints the grid, and returns it with whether all agreed.
pub(crate) fn run(device: &Device, seconds: f64) -> Result<(Value, bool)> {
    println!(
        "times in ms; * extrapolated from fewer samples; then the fastest of the four and auto over it\n"
    );
    println!("{:>4} {:>9} {:>8} {}  fastest    auto over it", "B", "N", "M", heads());
    let begin = Instant::now();
    let (mut grid, mut agree) = (Vec::new(), true);
    for n in SIZES {
        let seeds: Vec<u64> = (1..=DISTINCT as u64).collect();
        let clouds: Vec<Vec<f32>> = seeds
            .par_iter()
            .map(|&seed| generate(Kind::Room, n, seed).as_flattened().to_vec())
            .collect();
        for b in BATCHES.into_iter().filter(|b| b * n <= MOST) {
            let data: Vec<f32> =
                (0..b).flat_map(|k| clouds[k % DISTINCT].iter().copied()).collect();
            for m in [64, n / 4] {
                if (m == 64 && n / 4 == 64) || begin.elapsed().as_secs_f64() > seconds {
                    continue;
                }
                let rig = Rig::new(device, [b, n, 3], std::slice::from_ref(&data), m)?;
                let timings: Vec<_> = PARTS.iter().map(|part| cell(&rig, part, m)).collect();
                agree &= agreeing(&timings);
                print_row([b, n, m], &timings);
                grid.push(json!({
                    "clouds": b, "points": n, "samples": m,
                    "milliseconds": PARTS.iter().zip(&timings).map(|(part, timing)| {
                        let ms = timing.as_ref().map(|timing| timing.seconds * 1e3).ok();
                        (part.to_string(), json!(ms))
                    }).collect::<serde_json::Map<_, _>>(),
                }));
            }
        }
    }
    println!("\n{:.0} s", begin.elapsed().as_secs_f64());
    ensure!(!grid.is_empty(), "nothing was measured");
    Ok((json!(grid), agree))
}

fn heads() -> String {
    PARTS.iter().map(|part| format!("{part:>12}")).collect()
}

fn cell(rig: &Rig<'_>, part: &str, m: usize) -> Result<Timing> {
    let variant = Variant::plain(variants::algorithm(part));
    let longest = match part {
        "peak" => f64::INFINITY,
        // Guessed from its first samples, which take longest.
        "radius" | "auto" => 0.25,
        _ => 0.05,
    };
    rig.measure(&variant, m, Budget { longest, warm: 1, repeats: 3 }, |_, _, _| Ok(()))
}

/// Whether all that took the same samples chose the same.
fn agreeing(timings: &[Result<Timing>]) -> bool {
    let full = || timings.iter().flatten().filter(|timing| !timing.extrapolated());
    full().all(|a| full().all(|b| a.checksum == b.checksum))
}

fn print_row([b, n, m]: [usize; 3], timings: &[Result<Timing>]) {
    let cells: String = timings
        .iter()
        .map(|timing| match timing {
            Ok(timing) => {
                let mark = if timing.extrapolated() { '*' } else { ' ' };
                format!("{:>11.3}{mark}", timing.seconds * 1e3)
            }
            Err(_) => format!("{:>12}", "-"),
        })
        .collect();
    let seconds = |timing: &Result<Timing>| timing.as_ref().map_or(f64::NAN, |t| t.seconds);
    let (auto, others) = timings.split_last().expect("five algorithms");
    let fastest = PARTS.iter().zip(others).min_by(|a, b| seconds(a.1).total_cmp(&seconds(b.1)));
    let (part, least) = fastest.map_or(("-", f64::NAN), |(part, timing)| (part, seconds(timing)));
    let differ = if agreeing(timings) { "" } else { "  INDICES DIFFER" };
    println!("{b:>4} {n:>9} {m:>8} {cells}  {part:<10} {:.2}{differ}", seconds(auto) / least);
    for (part, timing) in PARTS.iter().zip(timings) {
        if let Err(error) = timing {
            println!("      {part}: {error:#}");
        }
    }
}
