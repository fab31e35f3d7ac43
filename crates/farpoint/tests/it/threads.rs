//! More threads than the machine has cores, on every instruction set, in both precisions, with 2
//! to 16 axes: the same as `reference`, and (under AddressSanitizer, in `cargo xtask test`) no
//! access outside the arrays.

use crate::cases::some;
use crate::common::{Config, as_f32, check, configs, integers, uniform};
use farpoint::{Algorithm, Cpu, Sampler};
use farpoint_generate::{Kind, generate};

/// Enough points for threads to share the work, and of no round number.
const POINTS: usize = 17_001;

/// Enough samples for bands that threads share.
const SAMPLES: usize = 501;

const THREADS: [usize; 6] = [1, 2, 3, 5, 8, 16];

/// Returns `peak` with all numbers of threads; the others, which share less, with one and with many.
fn all_configs() -> Vec<Config> {
    let mut all = configs(&THREADS);
    all.retain(|config| {
        config.algorithm == Algorithm::peak() || [1, 8].contains(&config.threads())
    });
    all
}

/// Returns points on a line: every distance occurs many times.
fn line<const D: usize>(n: usize) -> Vec<[f64; D]> {
    (0..n).map(|k| [(k * 7919 % 5003) as f64; D]).collect()
}

/// Runs each number of axes with another part of the clouds, unless all are used.
fn axes<const D: usize>(first: usize) {
    let clouds: [(&str, Vec<[f64; D]>); 3] = [
        ("any", uniform(POINTS, 5)),
        ("tied", integers(POINTS, 9, 0.1, 6)),
        ("line", line(POINTS)),
    ];
    let cases = clouds.iter().flat_map(|cloud| [(cloud, true), (cloud, false)]);
    for ((name, cloud), double) in some(first, 5, cases) {
        let mut configs = all_configs();
        configs.retain(|config| *name == "any" || config.algorithm == Algorithm::peak());
        let name = format!("{name}, {D} axes, {}", if double { "f64" } else { "f32" });
        match double {
            true => check(&name, cloud, &[SAMPLES], 17, &configs),
            false => check(&name, &as_f32(cloud), &[SAMPLES], 17, &configs),
        }
    }
}

#[test]
fn two_axes() {
    axes::<2>(0);
}

#[test]
fn three_axes() {
    axes::<3>(1);
}

#[test]
fn four_axes() {
    axes::<4>(2);
}

#[test]
fn seven_axes() {
    axes::<7>(3);
}

#[test]
fn sixteen_axes() {
    axes::<16>(4);
}

/// Parts of a tree begin at any leaf, and several threads write to one tree.
#[test]
fn rooms_and_turns_of_many_sizes() {
    let mut all = all_configs();
    all.retain(|config| config.algorithm == Algorithm::peak());
    let clouds = [(Kind::Room, 16_384), (Kind::Lidar, 33_333), (Kind::Duplicated, 50_001)];
    for (kind, n) in some(1, 3, clouds) {
        let cloud = generate(kind, n, 11);
        check(&format!("{kind} {n}"), &cloud, &[n / 8], 0, &all);
    }
}

/// A batch on more threads than there are cores: large clouds one after another among small ones.
#[test]
fn batches_of_large_and_small_clouds() {
    let large = generate(Kind::Room, 200_000, 1);
    let small: Vec<_> = (0..9).map(|k| generate(Kind::Lattice, 100 + 37 * k, k as u64)).collect();
    let mut clouds: Vec<&[[f32; 3]]> = small.iter().map(Vec::as_slice).collect();
    clouds.insert(4, &large);
    let sampler = Sampler::ratio(0.02);
    let truth: Vec<_> = clouds
        .iter()
        .map(|cloud| sampler.on(&Cpu::new().threads(1)).sample(*cloud).unwrap())
        .collect();
    for threads in THREADS {
        let batch = sampler.on(&Cpu::new().threads(threads)).sample_batch(&clouds).unwrap();
        for (k, (sample, truth)) in batch.iter().zip(&truth).enumerate() {
            assert_eq!(sample.indices, truth.indices, "cloud {k}, {threads} threads");
        }
    }
}
