//! The approximate samplers against plain references of themselves, index by index, and their
//! properties: numbers, spacing, determinism, errors. A file a sampler; shared code is here.

mod every;
mod fastpoint;
mod grid;
mod interface;
mod morton;
mod npdu;
mod random;

use crate::cases::some;
use crate::common::integers;
use farpoint::approximate::{ApproximateSample, Estimator, Keep, Method, Order};
use farpoint::backend::SplitMix64;
use farpoint::{Algorithm, Scalar, Start};
use farpoint_generate::{Kind, generate};
use std::collections::HashSet;

/// Returns every method with every option.
fn methods() -> Vec<Method> {
    let mut all = vec![Method::Random { seed: 0 }, Method::Random { seed: 7 }];
    all.extend([Keep::First, Keep::Random(3), Keep::Center].map(|keep| Method::Grid { keep }));
    all.extend([1, 10, 21].map(|bits| Method::Morton { bits }));
    for order in [Order::Input, Order::Morton, Order::Neighbors] {
        all.extend(
            [None, Some(1), Some(7), Some(100_000)].map(|window| Method::Npdu { window, order }),
        );
    }
    for estimator in [Estimator::Network, Estimator::Fit] {
        all.push(Method::FastPoint { first: Algorithm::Auto, estimator });
    }
    all
}

/// Returns clouds full of ties and repeats, on lines, tiny and near the ends of the range of numbers.
fn clouds() -> Vec<(String, Vec<[f32; 3]>)> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        for n in [1, 2, 5, 70, 900] {
            all.push((format!("{kind} {n}"), generate(kind, n, 1)));
        }
    }
    for (name, scale) in [("huge", 3e38f32), ("wide", 1e19), ("tiny", 1e-44), ("small", 1e-23)] {
        let rows = integers::<3>(300, 7, 1.0, 4);
        let row = |row: &[f64; 3]| row.map(|x| (x as f32 - 3.0) / 3.0 * scale);
        all.push((name.to_owned(), rows.iter().map(row).collect()));
    }
    // Every size of the five, and every kind.
    some(0, 4, all).collect()
}

fn assert_distinct(name: &str, sample: &ApproximateSample, count: usize, points: usize) {
    assert_eq!(sample.len(), count, "{name}");
    let different: HashSet<_> = sample.indices.iter().collect();
    assert_eq!(different.len(), count, "{name}: indices are different");
    assert!(sample.indices.iter().all(|&index| index < points), "{name}");
}

/// Returns starts in a cloud, and the points that they mean.
fn starts(points: usize) -> Vec<(Start, Vec<usize>)> {
    let random = SplitMix64::new(4).below(points as u64) as usize;
    let mut several = vec![points / 2, points - 1, 0, points / 3];
    let mut seen = HashSet::new();
    several.retain(|&point| seen.insert(point));
    vec![
        (Start::Index(0), vec![0]),
        (Start::Index(points - 1), vec![points - 1]),
        (Start::Random(4), vec![random]),
        (Start::Indices(several.clone()), several),
    ]
}

/// Returns squared distances in the documented order of operations.
fn squared<T: Scalar>(a: &[T; 3], b: &[T; 3]) -> T {
    let square = |x: usize| (a[x] - b[x]) * (a[x] - b[x]);
    (square(0) + square(1)) + square(2)
}

/// Returns the largest of the distances, the lowest index among equals; chosen points have none.
fn farthest(distance: &[Option<f32>]) -> usize {
    let key = |k: &usize| distance[*k].map(|d| (d.to_bits(), std::cmp::Reverse(*k)));
    (0..distance.len()).max_by_key(key).unwrap()
}
