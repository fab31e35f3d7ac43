//! RadiusFPS (the paper's section 3): one sample at a time over the active voxels of a grid.
//!
//! Two states are kept: the squared distance of every point to the sample (`Dist_p`, eq. 4)
//! and the largest of each voxel (`Dist_v`, eq. 5). The next sample is found in two levels,
//! voxels and then points (eq. 15 and 16). It is compared with the sphere of every voxel;
//! voxels that it cannot change are left alone (*radius pruning*, eq. 25). In the others,
//! points too far along one axis are left alone (*point skip*, eq. 28), the rest are brought
//! up to date. O(voxels) sphere tests a sample and the points of a few voxels.
//!
//! Both prunings can be switched off ([`RadiusOptions`]); the result is the same. `voxels`
//! proves that the sphere test is safe in floating point. The point skip needs no slack: the
//! computed distance is a sum of computed squares, none negative, and rounding is monotone,
//! so that the sum is never below one of its terms. A term that is at least `Dist_p` means a
//! distance that is at least `Dist_p`.
//!
//! Ties go to the lowest index: a voxel's points lie in index order, and of the voxels whose
//! largest distance is the largest of all, the one whose point has the lowest index wins.

mod grid;
mod step;
mod voxels;

use super::selection::Selection;
use crate::RadiusOptions;
use crate::clock::Clock;
use crate::cloud::WorkingCopy;
use crate::memory;
use crate::simd::Simd;
use crate::threads::Team;
use crate::{Error, Scalar};
use grid::Grid;
use std::mem;
use step::{Counts, Farthest, Step};
use voxels::Voxels;

pub(crate) fn run<T: Scalar, S: Simd<T>>(
    simd: S,
    cloud: &WorkingCopy<T>,
    options: &RadiusOptions,
    selection: &mut Selection<'_, T>,
) -> Result<(), Error> {
    let mut clock = Clock::now();
    let team = Team::single();
    let mut voxels = selection.build(&team, |_| {
        let grid = match options.nvox {
            None => Grid::chosen(cloud, &team),
            Some(nvox) => Grid::new(cloud, nvox),
        };
        Voxels::new(cloud, &grid, &team)
    })?;
    clock.lap(&mut selection.statistics.seconds.build);
    let mut visits = memory::with_capacity(voxels.len);
    let mut apply = |voxels: &mut Voxels<T>, place: usize, selection: &mut Selection<'_, T>| {
        let step = Step { voxels, visits: &mut visits, place, options, count: selection.count };
        let (farthest, counts) = simd.vectorize(step);
        add(&counts, selection);
        farthest
    };
    let mut farthest = Farthest { place: 0, value: T::INFINITY };
    let starts = mem::take(&mut selection.starts);
    for (&start, place) in starts.iter().zip(places(&voxels, &starts)) {
        selection.begin(start);
        farthest = apply(&mut voxels, place, selection);
    }
    while farthest.value > T::ZERO {
        let Farthest { place, value } = farthest;
        if !selection.offer(voxels.points[place], value) {
            return Ok(());
        }
        farthest = apply(&mut voxels, place, selection);
        selection.report(value)?;
    }
    finish(&voxels, selection);
    clock.lap(&mut selection.statistics.seconds.single);
    Ok(())
}

/// Returns the places of the start points.
fn places<T: Scalar>(voxels: &Voxels<T>, starts: &[u32]) -> Vec<usize> {
    if let [start] = *starts {
        return voxels.points.iter().position(|&point| point == start).into_iter().collect();
    }
    let mut place_of = memory::zeros(voxels.points.len());
    for (place, &point) in voxels.points.iter().enumerate() {
        place_of[point as usize] = place;
    }
    memory::collected(starts.iter().map(|&start| place_of[start as usize]))
}

/// Offers the remaining points when the largest distance is zero: duplicates of chosen points, in
/// index order.
fn finish<T: Scalar>(voxels: &Voxels<T>, selection: &mut Selection<'_, T>) {
    let unchosen = voxels.points.iter().zip(&voxels.distance[..]);
    let mut remaining: Vec<u32> = memory::collected(
        unchosen.filter(|(_, distance)| **distance >= T::ZERO).map(|(point, _)| *point),
    );
    remaining.sort_unstable();
    for point in remaining {
        if !selection.offer(point, T::ZERO) {
            return;
        }
    }
}

fn add<T: Scalar>(counts: &Counts, selection: &mut Selection<'_, T>) {
    let statistics = &mut selection.statistics;
    statistics.regions_tested += counts.tested;
    statistics.regions_pruned += counts.pruned;
    statistics.points_skipped += counts.skipped;
    statistics.distance_evaluations += counts.distances;
    statistics.effective_updates += counts.effective;
}
