//! The approximate samplers against plain references of themselves, index by index, and their
//! properties: numbers, spacing, determinism, errors. A file a sampler; shared code is here.

mod every;
mod grid;
mod interface;
mod random;

use crate::cases::some;
use crate::common::integers;
use farpoint::approximate::{ApproximateSample, Keep, Method};
use farpoint_generate::{Kind, generate};
use std::collections::HashSet;

/// Returns every method with every option.
fn methods() -> Vec<Method> {
    let mut all = vec![Method::Random { seed: 0 }, Method::Random { seed: 7 }];
    all.extend([Keep::First, Keep::Random(3), Keep::Center].map(|keep| Method::Grid { keep }));
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
