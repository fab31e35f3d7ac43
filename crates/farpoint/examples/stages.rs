//! Times of the stages of a sample on 1, 2, 4 ... threads, in milliseconds: the best of several runs.
//!
//! `cargo run --release --example stages -- 1,2,4,8,16 2 room:1000000 lidar:120000 batch:32x24000 turn.bin`
//! (numbers of threads, seconds for each line, clouds; a file holds rows of four `f32`). `cpu` is the least
//! processor time of a run, of all threads together.

use farpoint::{Cpu, Measured, Sample, Sampler};
use std::time::Instant;

type Cloud = Vec<[f32; 3]>;

fn main() {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().expect("threads, seconds a line, clouds");
    let threads: Vec<usize> = word().split(',').map(|t| t.parse().expect("a number")).collect();
    let patience: f64 = word().parse().expect("seconds");
    println!("cloud threads plain cpu checksum | with statistics: all, stages");
    for name in words {
        let clouds = clouds(&name);
        for &threads in &threads {
            line(&name, &clouds, threads, patience);
        }
    }
}

/// Returns the clouds of a name.
fn clouds(name: &str) -> Vec<Cloud> {
    match name.split_once(':') {
        Some(("batch", size)) => {
            let (clouds, points) = size.split_once('x').expect("clouds x points");
            let points = points.parse().expect("a number of points");
            (0..clouds.parse().expect("a number of clouds"))
                .map(|seed| farpoint_generate::room(points, seed))
                .collect()
        }
        Some((kind, points)) => {
            let kind = kind.parse().expect("a kind of cloud");
            vec![farpoint_generate::generate(kind, points.parse().expect("a number"), 1)]
        }
        None => vec![file(name)],
    }
}

/// Reads the first three columns of a file of four.
fn file(path: &str) -> Cloud {
    let bytes = std::fs::read(path).expect("a file");
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let row = |row: &[u8]| [number(&row[..4]), number(&row[4..8]), number(&row[8..12])];
    bytes.chunks_exact(16).map(row).collect()
}

fn line(name: &str, clouds: &[Cloud], threads: usize, patience: f64) {
    let cpu = Cpu::new().threads(threads);
    let run = |sampler: &Sampler| -> (f64, Vec<Sample<f32>>) {
        let start = Instant::now();
        let samples = match clouds {
            [one] => vec![sampler.on(&cpu).sample(one).expect("a cloud")],
            many => sampler.on(&cpu).sample_batch(many).expect("clouds"),
        };
        (start.elapsed().as_secs_f64(), samples)
    };
    let mut cpu_time = f64::INFINITY;
    let mut best = |sampler: &Sampler, patience: f64| {
        let start = Instant::now();
        let mut best = run(sampler);
        let mut runs = 1;
        while runs < 2 || (start.elapsed().as_secs_f64() < patience && runs < 40) {
            let before = processor_seconds();
            let other = run(sampler);
            cpu_time = cpu_time.min(processor_seconds() - before);
            if other.0 < best.0 {
                best = other;
            }
            runs += 1;
        }
        best
    };
    let sampler = Sampler::ratio(0.25);
    let (plain, samples) = best(&sampler, patience);
    let sum = |sum: u64, &row: &usize| sum.wrapping_mul(31).wrapping_add(row as u64);
    let checksum = samples.iter().flat_map(|s| &s.indices).fold(0u64, sum);
    let (all, samples) = best(&sampler.statistics(true), patience / 2.0);
    let [plain, cpu_time, all] = [plain, cpu_time, all].map(|seconds| seconds * 1e3);
    let stages = samples[0].statistics.as_ref().expect("statistics").named();
    let stages = stages.iter().filter_map(|(name, measured)| match measured {
        Measured::Seconds(s) => Some(format!("{} {:.2}", name.replace(" seconds", ""), s * 1e3)),
        _ => None,
    });
    let stages = stages.collect::<Vec<_>>().join(" ");
    println!("{name} {threads} {plain:.2} {cpu_time:.2} {checksum:016x} | {all:.2} {stages}");
}

/// Returns the processor time of this process so far.
#[cfg(target_os = "linux")]
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is there to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[cfg(not(target_os = "linux"))]
fn processor_seconds() -> f64 {
    0.0
}
