//! QuickFPS (M. Han et al., IEEE TCAD 42(11), 2023): one sample at a time over the buckets of a
//! KD-tree of fixed height.
//!
//! Every bucket has a box, the largest squared distance inside and the point that has it. The
//! next sample is the farthest of those points. It is then tested against every bucket:
//!
//! * *skip*: the box is at least as far away as the bucket's largest distance, so that nothing
//!   inside changes;
//! * *delay*: something inside may change, but not the bucket's farthest point. The sample is
//!   put on the bucket's pending list;
//! * *visit*: the farthest point comes nearer. All pending samples and the new one are applied
//!   in one pass, and the farthest point is found anew.
//!
//! Delaying is exact: distances only fall, so that a farthest point that keeps its distance
//! stays the farthest, and the lowest index among equals, whatever happens to the others. The
//! box test is as safe in floating point as that of `tree`: the bound is computed by the
//! operations of the distance itself, each monotone, over all axes in their order.
//!
//! O(buckets) box tests a sample, and the points of a few buckets. One thread.

mod buckets;
mod step;

use super::selection::Selection;
use super::tree::finish;
use crate::QuickOptions;
use crate::clock::Clock;
use crate::cloud::WorkingCopy;
use crate::simd::Simd;
use crate::threads::Team;
use crate::{Error, Scalar};
use buckets::Buckets;
use std::mem;
use step::{Counts, Farthest, Step};

/// Maximum height of a tree: a million buckets.
pub(crate) const MAX_HEIGHT: u32 = 20;

/// Target number of points per bucket (docs/quick.md).
const BUCKET: usize = 512;

pub(crate) fn run<T: Scalar, S: Simd<T>>(
    simd: S,
    cloud: &WorkingCopy<T>,
    options: &QuickOptions,
    selection: &mut Selection<'_, T>,
) -> Result<(), Error> {
    let mut clock = Clock::now();
    let height = options.height.unwrap_or_else(|| chosen(cloud.len));
    let team = Team::single();
    let mut buckets = selection.build(&team, |_| Buckets::new(cloud, height, &team))?;
    clock.lap(&mut selection.statistics.seconds.build);
    let apply = |buckets: &mut Buckets<T>, slot: usize, selection: &mut Selection<'_, T>| {
        let (farthest, counts) = simd.vectorize(Step { buckets, slot, count: selection.count });
        add(&counts, selection);
        farthest
    };
    let mut farthest = Farthest { slot: 0, value: T::INFINITY };
    let starts = mem::take(&mut selection.starts);
    for (&start, slot) in starts.iter().zip(buckets.slots(&starts)) {
        selection.begin(start);
        farthest = apply(&mut buckets, slot, selection);
    }
    while farthest.value > T::ZERO {
        let Farthest { slot, value } = farthest;
        if !selection.offer(buckets.points[slot], value) {
            return Ok(());
        }
        farthest = apply(&mut buckets, slot, selection);
        selection.report(value)?;
    }
    finish(cloud, selection);
    clock.lap(&mut selection.statistics.seconds.single);
    Ok(())
}

/// Returns the height for a number of points.
fn chosen(points: usize) -> u32 {
    (points / BUCKET).max(1).ilog2().min(MAX_HEIGHT)
}

fn add<T: Scalar>(counts: &Counts, selection: &mut Selection<'_, T>) {
    let statistics = &mut selection.statistics;
    statistics.regions_tested += counts.tested;
    statistics.regions_pruned += counts.pruned;
    statistics.distance_evaluations += counts.distances;
    statistics.effective_updates += counts.effective;
}
