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

use crate::run::Run;
use buckets::Buckets;
use farpoint::backend::vectorize;
use farpoint::{Level, Scalar};
use std::time::Instant;
use step::{Counts, Farthest, Step};

/// Maximum height of a tree: a million buckets.
const MAX_HEIGHT: u32 = 20;

/// Target number of points per bucket.
const BUCKET: usize = 512;

/// Returns the samples and the squared selection distance of each, infinite for start points; then the squared covering
/// radius.
pub(crate) fn sample<T: Scalar>(run: &mut Run<'_, T>, height: Option<u32>) -> (Vec<u32>, Vec<T>) {
    let begin = Instant::now();
    let n = run.cloud.points();
    let height = height.unwrap_or_else(|| (n / BUCKET).max(1).ilog2().min(MAX_HEIGHT));
    let mut buckets = Buckets::new(&run.axes, height);
    run.statistics.seconds.build = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let (mut chosen, mut distances) = (Vec::with_capacity(run.count), Vec::new());
    let mut farthest = Farthest { slot: 0, value: T::INFINITY };
    let starts = run.starts;
    for (&start, slot) in starts.iter().zip(buckets.slots(starts)) {
        chosen.push(start);
        distances.push(T::INFINITY);
        farthest = apply(run, &mut buckets, slot);
    }
    while farthest.value > T::ZERO && chosen.len() < run.count {
        let Farthest { slot, value } = farthest;
        chosen.push(buckets.points[slot]);
        distances.push(value);
        farthest = apply(run, &mut buckets, slot);
    }
    finish(run, &mut chosen);
    let covering = if farthest.value > T::ZERO { farthest.value } else { T::ZERO };
    distances.resize(run.count, T::ZERO);
    distances.push(covering);
    run.statistics.seconds.single = begin.elapsed().as_secs_f64();
    (chosen, distances)
}

fn apply<T: Scalar>(run: &mut Run<'_, T>, buckets: &mut Buckets<T>, slot: usize) -> Farthest<T> {
    let (farthest, counts) = vectorize(Level::detect(), Step { buckets, slot });
    let Counts { tested, pruned, distances, effective } = counts;
    run.statistics.regions_tested += tested;
    run.statistics.regions_pruned += pruned;
    run.statistics.distance_evaluations += distances;
    run.statistics.effective_updates += effective;
    farthest
}

/// Adds what coincides with chosen points, in the order of indices.
fn finish<T>(run: &Run<'_, T>, chosen: &mut Vec<u32>) {
    let mut is_chosen = vec![false; run.axes[0].len()];
    chosen.iter().for_each(|&point| is_chosen[point as usize] = true);
    let rest = (0..).zip(is_chosen).filter(|(_, chosen)| !chosen).map(|(point, _)| point);
    chosen.extend(rest.take(run.count - chosen.len()));
}
