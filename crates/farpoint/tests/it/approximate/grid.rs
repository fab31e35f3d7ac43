//! Grids: the kept point of each cell, the cell size for a count, centroids.

use crate::common::{integers, uniform};
use farpoint::Points;
use farpoint::approximate::{ApproximateSampler, Details, Keep, Method};
use farpoint::backend::SplitMix64;
use farpoint_generate::{Kind, generate};
use std::collections::{BTreeMap, HashSet};

/// Returns the points of each cell, in the order of cells' first points.
fn cells<const D: usize>(cloud: &[[f64; D]], size: f64) -> Vec<Vec<usize>> {
    let low: [f64; D] =
        std::array::from_fn(|a| cloud.iter().map(|p| p[a]).fold(f64::INFINITY, f64::min));
    let mut cells: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
    for (k, p) in cloud.iter().enumerate() {
        let cell = (0..D).map(|a| ((p[a] - low[a]) / size).floor() as i64).collect();
        cells.entry(cell).or_default().push(k);
    }
    let mut cells: Vec<_> = cells.into_values().collect();
    cells.sort();
    cells
}

fn grid_references<const D: usize>(cloud: &[[f64; D]], size: f64) {
    let cells = cells(cloud, size);
    let low: [f64; D] =
        std::array::from_fn(|a| cloud.iter().map(|p| p[a]).fold(f64::INFINITY, f64::min));
    let off = |k: usize| {
        let part = |a: usize| {
            let at = (cloud[k][a] - low[a]) / size;
            at - at.floor() - 0.5
        };
        (0..D).map(|a| part(a) * part(a)).fold(0.0, |sum, x| sum + x)
    };
    let center = |cell: &Vec<usize>| {
        *cell.iter().min_by(|&&a, &&b| off(a).total_cmp(&off(b)).then(a.cmp(&b))).unwrap()
    };
    let mut random = SplitMix64::new(9);
    let any: Vec<usize> =
        cells.iter().map(|cell| cell[random.below(cell.len() as u64) as usize]).collect();
    let expected = [
        (Keep::First, cells.iter().map(|cell| cell[0]).collect()),
        (Keep::Center, cells.iter().map(center).collect()),
        (Keep::Random(9), any),
    ];
    for (keep, mut expected) in expected {
        expected.sort_unstable();
        let sample = ApproximateSampler::cell(Method::Grid { keep }, size).sample(cloud).unwrap();
        assert_eq!(sample.indices, expected, "{keep:?}, cells of {size}");
        assert_eq!(sample.details, Details::Grid { cell: size, cells: cells.len() });
    }
    let grid = Method::Grid { keep: Keep::First };
    let centroids = ApproximateSampler::cell(grid, size).centroids(cloud).unwrap();
    assert_eq!(centroids.dims, D);
    assert_eq!(Points::<f64>::len(&centroids), cells.len());
    for (k, cell) in cells.iter().enumerate() {
        assert_eq!(centroids.counts[k] as usize, cell.len());
        let found = &centroids.coordinates[k * D..(k + 1) * D];
        for (a, found) in found.iter().enumerate() {
            let mean = cell.iter().map(|&p| cloud[p][a]).sum::<f64>() / cell.len() as f64;
            assert!((found - mean).abs() <= 1e-12 * mean.abs().max(1.0));
        }
    }
}

#[test]
fn grids_match_a_straightforward_grid() {
    for size in [0.01, 0.05, 0.3, 2.0] {
        // Around zero: cells are floored, not cut towards it.
        let moved = |p: &[f64; 3]| p.map(|x| x - 0.5);
        grid_references(&uniform::<3>(800, 1).iter().map(moved).collect::<Vec<_>>(), size);
        grid_references(&uniform::<1>(300, 2), size);
        grid_references(&uniform::<6>(300, 3), size);
        grid_references(&integers::<3>(500, 4, 0.1, 3), size);
    }
    // So small that cells of all axes don't fit in 64 bits together.
    grid_references(&uniform::<6>(300, 3), 1e-9);
    grid_references(&uniform::<2>(300, 3), 1e-15);
}

#[test]
fn a_count_uses_the_largest_cell_that_yields_it() {
    let cloud = generate(Kind::Room, 20_000, 1);
    let grid = Method::Grid { keep: Keep::First };
    for count in [2, 10, 333, 5000, 12_000] {
        let sample = ApproximateSampler::count(grid, count).sample(&cloud).unwrap();
        let Details::Grid { cell, cells } = sample.details else { panic!("a grid") };
        assert!(cells >= count, "{count}: {cells} cells");
        assert!(count < 100 || cells as f64 <= 1.02 * count as f64, "{count}: {cells} cells");
        let repeated = ApproximateSampler::cell(grid, cell).sample(&cloud).unwrap();
        assert_eq!(repeated.len(), cells);
        let kept: HashSet<_> = repeated.indices.iter().collect();
        assert!(sample.indices.iter().all(|index| kept.contains(index)));
        let centroids = ApproximateSampler::count(grid, count).centroids(&cloud).unwrap();
        let found = centroids.counts.len();
        assert!(found <= count && (count < 100 || found as f64 >= 0.98 * count as f64), "{found}");
        assert_eq!(centroids.counts.iter().sum::<u32>(), 20_000);
    }
    // Two to four points in each place: the lowest indices make up for duplicates.
    let twice = generate(Kind::Duplicated, 1000, 1);
    let sample = ApproximateSampler::count(grid, 900).sample(&twice).unwrap();
    let places: HashSet<_> = twice.iter().map(|p| p.map(f32::to_bits)).collect();
    assert_eq!(sample.details, Details::Grid { cell: 0.0, cells: places.len() });
    let sampled: HashSet<_> = sample.indices.iter().map(|&k| twice[k].map(f32::to_bits)).collect();
    assert_eq!(sampled, places);
}
