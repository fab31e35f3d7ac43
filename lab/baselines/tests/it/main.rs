//! The baselines against plain references of themselves, index by index.

mod fastpoint;
mod interface;
mod morton;
mod npdu;
mod quick;

use farpoint::backend::SplitMix64;
use farpoint::{Algorithm, Amount, Scalar, Start};
use farpoint_baselines::{Estimator, First, Found, Job, Method, Order};
use farpoint_generate::{Kind, generate};
use std::collections::HashSet;

/// Returns every method with every option.
fn methods() -> Vec<Method> {
    let mut all: Vec<_> = [1, 10, 21].map(|bits| Method::Morton { bits }).into();
    for order in [Order::Input, Order::Morton, Order::Neighbors] {
        all.extend(
            [None, Some(1), Some(7), Some(100_000)].map(|window| Method::Npdu { window, order }),
        );
    }
    for estimator in [Estimator::Network, Estimator::Fit] {
        for first in [First::Exact(Algorithm::Auto), First::Quick] {
            all.push(Method::FastPoint { first, estimator });
        }
    }
    all.extend([None, Some(0), Some(3), Some(20)].map(|height| Method::Quick { height }));
    all
}

/// Returns clouds full of ties and repeats, on lines, tiny and near the ends of the range of numbers.
fn clouds() -> Vec<(String, Vec<[f32; 3]>)> {
    let mut all = Vec::new();
    for (kind, n) in Kind::ALL.into_iter().zip([1, 2, 5, 70, 900, 5, 70, 900].into_iter().cycle()) {
        all.push((format!("{kind} {n}"), generate(kind, n, 1)));
    }
    for (name, scale) in [("huge", 3e38f32), ("wide", 1e19), ("tiny", 1e-44), ("small", 1e-23)] {
        let rows = integers::<3>(300, 7, 4);
        let row = |row: &[f64; 3]| row.map(|x| (x as f32 - 3.0) / 3.0 * scale);
        all.push((name.to_owned(), rows.iter().map(row).collect()));
    }
    all.push(("in one place".into(), vec![[1.0, 2.0, 3.0]; 50]));
    all
}

/// Returns random rows of whole numbers below `end`.
fn integers<const D: usize>(n: usize, end: u64, seed: u64) -> Vec<[f64; D]> {
    let mut random = SplitMix64::new(seed);
    (0..n).map(|_| std::array::from_fn(|_| random.below(end) as f64)).collect()
}

fn job(method: Method, count: usize) -> Job {
    Job::new(method, Amount::Count(count))
}

fn sample(method: Method, count: usize, cloud: &[[f32; 3]]) -> Found<f32> {
    farpoint_baselines::sample(&job(method, count), cloud).unwrap()
}

fn from(method: Method, count: usize, start: &Start, cloud: &[[f32; 3]]) -> Found<f32> {
    let job = Job { start: start.clone(), ..job(method, count) };
    farpoint_baselines::sample(&job, cloud).unwrap()
}

fn assert_distinct(name: &str, indices: &[usize], count: usize, points: usize) {
    assert_eq!(indices.len(), count, "{name}");
    let different: HashSet<_> = indices.iter().collect();
    assert_eq!(different.len(), count, "{name}: indices are different");
    assert!(indices.iter().all(|&index| index < points), "{name}");
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
