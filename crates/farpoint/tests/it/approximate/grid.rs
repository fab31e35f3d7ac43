//! Grids: the kept point of each cell, the cell size for a count, centroids.

use crate::common::{as_f32, integers, uniform};
use farpoint::approximate::{ApproximateSampler, Details, Keep, Method};
use farpoint::voxels::reference;
use farpoint::{Origin, Points, Reduce, Scalar, VoxelGrid};
use farpoint_generate::{Kind, generate};
use std::collections::{BTreeSet, HashSet};

const REDUCED: [(Keep, Reduce); 3] = [
    (Keep::First, Reduce::First),
    (Keep::Center, Reduce::Center),
    (Keep::Random(9), Reduce::Random(9)),
];

/// Compares a cell size with the loop that defines voxels.
fn grid_references<T: Scalar, const D: usize>(cloud: &[[T; D]], size: f64) {
    let voxels = |reduce| reference::downsample(&VoxelGrid::new(size).reduce(reduce), cloud);
    for (keep, reduce) in REDUCED {
        let sample = ApproximateSampler::cell(Method::Grid { keep }, size).sample(cloud);
        let (sample, voxels) = match (sample, voxels(reduce)) {
            (Err(found), Err(expected)) => {
                assert_eq!(found, expected, "{keep:?}, cells of {size}");
                continue;
            }
            (sample, voxels) => (sample.unwrap(), voxels.unwrap()),
        };
        let mut expected: Vec<usize> = voxels.rows.iter().map(|&row| row as usize).collect();
        expected.sort_unstable();
        assert_eq!(sample.indices, expected, "{keep:?}, cells of {size}");
        assert_eq!(sample.details, Details::Grid { cell: size, cells: expected.len() });
    }
    let grid = Method::Grid { keep: Keep::First };
    let Ok(expected) = voxels(Reduce::Mean) else { return };
    let found = ApproximateSampler::cell(grid, size).centroids(cloud).unwrap();
    assert_eq!((found.dims, Points::<T>::len(&found)), (D, expected.len()));
    assert_eq!((found.coordinates, found.counts), (expected.coordinates, expected.counts));
    assert_eq!((found.inverse, found.cell), (expected.inverse, size));
}

#[test]
fn cells_of_a_size_are_voxels() {
    for size in [0.01, 0.05, 0.3, 2.0] {
        // Around zero: cells are floored, not cut towards it.
        let moved = |p: &[f64; 3]| p.map(|x| x - 0.5);
        grid_references(&uniform::<3>(800, 1).iter().map(moved).collect::<Vec<_>>(), size);
        grid_references(&as_f32(&uniform::<3>(800, 1)), size);
        grid_references(&uniform::<1>(300, 2), size);
        grid_references(&uniform::<6>(300, 3), size);
        grid_references(&integers::<3>(500, 4, 0.1, 3), size);
    }
    // So small that cells of all axes don't fit in 64 bits together, or one of them not in 32.
    grid_references(&uniform::<6>(300, 3), 1e-9);
    grid_references(&uniform::<2>(300, 3), 1e-15);
}

/// A cell is decided by its own points alone, and is the same in every cloud.
#[test]
fn cells_of_a_size_do_not_depend_on_other_points() {
    let room = generate(Kind::Room, 5000, 3);
    for (keep, _) in REDUCED {
        let sampler = ApproximateSampler::cell(Method::Grid { keep }, 0.25);
        let chosen = |cloud: &[[f32; 3]]| -> BTreeSet<[u32; 3]> {
            let rows = sampler.sample(cloud).unwrap().indices;
            rows.iter().map(|&row| cloud[row].map(f32::to_bits)).collect()
        };
        let all = chosen(&room);
        let made = sampler.centroids(&room).unwrap();
        let alone = (0..room.len()).filter(|&row| made.counts[made.inverse[row] as usize] == 1);
        // The lowest corner among them.
        let low = (0..room.len()).min_by(|&a, &b| room[a][0].total_cmp(&room[b][0])).unwrap();
        for row in alone.step_by(50).chain([low]).collect::<Vec<_>>() {
            let of_cell = made.counts[made.inverse[row] as usize];
            let mut rest = room.clone();
            let removed = rest.remove(row).map(f32::to_bits);
            let (kept, mut expected) = (chosen(&rest), all.clone());
            if of_cell == 1 {
                assert!(expected.remove(&removed));
                assert!(kept == expected, "{keep:?}, without row {row}");
            } else {
                // Only the point of its cell may be another.
                assert!(kept.symmetric_difference(&expected).count() <= 2, "{keep:?}, row {row}");
            }
        }
    }
    // Two clouds in one place: cells that both have hold the points of both.
    let grid = ApproximateSampler::cell(Method::Grid { keep: Keep::First }, 0.25);
    let (a, b) = room.split_at(2000);
    let cells = |cloud: &[[f32; 3]]| -> BTreeSet<[i32; 3]> {
        let made = grid.centroids(cloud).unwrap();
        let cell = |row: &[f32]| std::array::from_fn(|axis| (row[axis] / 0.25).floor() as i32);
        made.coordinates.chunks_exact(3).map(cell).collect()
    };
    assert_eq!(cells(a).union(&cells(b)).copied().collect::<BTreeSet<_>>(), cells(&room));
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
        let repeated = VoxelGrid::new(cell).origin(Origin::Min).reduce(Reduce::First);
        let repeated = repeated.downsample(&cloud).unwrap();
        assert_eq!(repeated.len(), cells);
        let kept: HashSet<_> = repeated.rows.iter().map(|&row| row as usize).collect();
        assert!(sample.indices.iter().all(|index| kept.contains(index)));
        let centroids = ApproximateSampler::count(grid, count).centroids(&cloud).unwrap();
        let found = centroids.counts.len();
        assert!(found <= count && (count < 100 || found as f64 >= 0.98 * count as f64), "{found}");
        assert_eq!(centroids.counts.iter().sum::<u32>(), 20_000);
    }
    // Around 0, where no cell counted from it holds all.
    let both = [[-1.0f64, -2.0, 1.0], [3.0, 1.0, -1.0], [0.5, 0.0, 0.0]];
    let one = ApproximateSampler::count(grid, 1);
    assert_eq!(
        (one.sample(&both).unwrap().len(), one.centroids(&both).unwrap().counts),
        (1, vec![3])
    );
    // Two to four points in each place: the lowest indices make up for duplicates.
    let twice = generate(Kind::Duplicated, 1000, 1);
    let sample = ApproximateSampler::count(grid, 900).sample(&twice).unwrap();
    let places: HashSet<_> = twice.iter().map(|p| p.map(f32::to_bits)).collect();
    assert_eq!(sample.details, Details::Grid { cell: 0.0, cells: places.len() });
    let sampled: HashSet<_> = sample.indices.iter().map(|&k| twice[k].map(f32::to_bits)).collect();
    assert_eq!(sampled, places);
}
