//! Golden clouds: small ones of every kind by the project's own generators, the samples of
//! `reference`, and the committed record of both. Every algorithm, instruction set and
//! number of threads must reproduce the record, on every machine.
//!
//! `cargo xtask golden` writes the record anew.

use farpoint::{Algorithm, Cpu, DeviceKind, Level, Sample, Sampler, Scalar, Start, reference};
use farpoint_generate::{Kind, generate};
use std::fmt::Write;

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/fps.txt");

const HEADER: &str = "\
# Written by `cargo xtask golden`: clouds by farpoint-generate, sampled by `reference`.
# Checksums are 64-bit FNV-1a over little-endian bytes: of the coordinates' bits row by row,
# of the indices as u64, of the bits of the squared selection distances. `first` are the
# first 16 indices.
";

/// One line of the record.
struct Case {
    kind: Kind,
    n: usize,
    seed: u64,
    double: bool,
    m: usize,
    start: usize,
}

/// Returns every kind in both precisions: a quarter of a middle cloud, and all of a small one.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, seed) in Kind::ALL.into_iter().zip(1..) {
        for double in [false, true] {
            cases.push(Case { kind, n: 5000, seed, double, m: 1250, start: 0 });
            cases.push(Case { kind, n: 1500, seed: seed + 100, double, m: 1500, start: 777 });
        }
    }
    cases
}

#[test]
fn every_algorithm_gives_the_recorded_samples() {
    let write = std::env::var("FARPOINT_GOLDEN").is_ok_and(|value| value == "write");
    let lines: Vec<String> = cases().iter().map(record_line).collect();
    let record = format!("{HEADER}{}", lines.concat());
    if write {
        std::fs::write(RECORD, &record).expect("the record can be written");
    }
    let committed = std::fs::read_to_string(RECORD).expect("the record is committed");
    for (computed_line, committed_line) in record.lines().zip(committed.lines()) {
        assert_eq!(computed_line, committed_line, "left: now, right: in {RECORD}");
    }
    assert_eq!(record.lines().count(), committed.lines().count(), "lines of {RECORD}");
}

fn record_line(case: &Case) -> String {
    if case.double {
        // Not representable in f32, so that the lower bits take part.
        let scalar = |x| f64::from(x) * (1.0 + 1.0 / (1u64 << 40) as f64);
        line(case, scalar, |x| x.to_bits().to_le_bytes().to_vec())
    } else {
        line(case, |x| x, |x: f32| x.to_bits().to_le_bytes().to_vec())
    }
}

/// Returns the record's line of a case, after comparing every algorithm with `reference`.
fn line<T: Scalar>(case: &Case, scalar: fn(f32) -> T, bytes: fn(T) -> Vec<u8>) -> String {
    let Case { kind, n, seed, double, m, start } = *case;
    let cloud: Vec<[T; 3]> =
        generate(kind, n, seed).into_iter().map(|point| point.map(scalar)).collect();
    let sample = reference(&cloud, m, start).expect("a golden cloud can be sampled");
    let precision = if double { "f64" } else { "f32" };
    let mut line = format!("{kind} n={n} seed={seed} {precision} m={m} start={start}");
    check_algorithms(&line, &cloud, &sample, start);

    let points = fnv(cloud.iter().flatten().flat_map(|&value| bytes(value)));
    let indices = fnv(sample.indices.iter().flat_map(|&i| (i as u64).to_le_bytes()));
    let distances = fnv(sample.squared_distances.iter().flat_map(|&value| bytes(value)));
    let first: Vec<_> = sample.indices.iter().take(16).map(usize::to_string).collect();
    let first = first.join(",");
    writeln!(
        line,
        " points={points:016x} indices={indices:016x} distances={distances:016x} first={first}"
    )
    .expect("a string can be written to");
    line
}

fn check_algorithms<T: Scalar>(name: &str, cloud: &Vec<[T; 3]>, truth: &Sample<T>, start: usize) {
    for algorithm in Algorithm::of(DeviceKind::Cpu) {
        if algorithm == Algorithm::Reference {
            continue;
        }
        for level in Level::available() {
            for threads in [1, 2] {
                let sample = Sampler::count(truth.len())
                    .start(Start::Index(start))
                    .algorithm(algorithm)
                    .on(&Cpu::new().level(level).threads(threads))
                    .sample(cloud)
                    .expect("a golden cloud can be sampled");
                let context = format!("{algorithm}, {level:?}, {threads} threads: {name}");
                let differs = (0..truth.len()).find(|&k| sample.indices[k] != truth.indices[k]);
                assert_eq!(differs, None, "first different index, {context}");
                assert_eq!(sample.squared_distances, truth.squared_distances, "{context}");
                assert_eq!(
                    sample.squared_covering_radius, truth.squared_covering_radius,
                    "covering radius, {context}"
                );
            }
        }
    }
}

/// Returns the 64-bit FNV-1a checksum.
fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
