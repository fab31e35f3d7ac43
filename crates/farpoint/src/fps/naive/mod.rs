//! Brute force: every sample is compared with every point. O(points * samples), vectorized
//! and on all cores; the yardstick for the others.

mod small_cloud;

use super::selection::Selection;
use crate::cloud::{PADDING, WorkingCopy};
use crate::distance::{square, squared};
use crate::memory::{self, Aligned, Shared};
use crate::simd::{Kernel, Simd};
use crate::threads::Team;
use crate::{Error, Scalar};
use small_cloud::SmallCloud;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};

/// Points per block, whose largest distance is kept so that the farthest point is found
/// without reading all distances again.
const BLOCK: usize = 512;

/// Minimum number of points per thread: below, waking it costs more than it saves.
const POINTS_A_THREAD: usize = 1 << 15;

/// Up to this many points fit a cache, and passes over them are short.
const SMALL: usize = 4096;

/// Marks chosen points and padding: below every distance, and below itself never.
const CHOSEN: f64 = -1.0;

pub(crate) fn run<T: Scalar, S: Simd<T>>(
    simd: S,
    team: &Team,
    cloud: &WorkingCopy<T>,
    selection: &mut Selection<'_, T>,
) -> Result<(), Error> {
    let chosen = T::from_f64(CHOSEN);
    let mut distance = Aligned::new(cloud.len.div_ceil(PADDING) * PADDING, T::INFINITY);
    distance[cloud.len..].fill(chosen);
    if cloud.len <= SMALL && !selection.count {
        return simd.vectorize(SmallCloud { cloud, distance: &mut distance, selection });
    }
    let mut largest = memory::filled(cloud.len.div_ceil(BLOCK), chosen);
    let parts = team.size().min(cloud.len / POINTS_A_THREAD).max(1);
    let mut apply = |selection: &mut Selection<'_, T>, sample: u32| {
        distance[sample as usize] = chosen;
        let effective =
            update(simd, team, cloud, sample, &mut distance, &mut largest, parts, selection.count);
        selection.statistics.distance_evaluations += cloud.len as u64;
        selection.statistics.effective_updates += u64::from(effective);
        if selection.count {
            memory::push(&mut selection.statistics.effective_by_step, effective);
        }
        simd.vectorize(Farthest { distance: &distance, largest: &largest })
    };
    let mut next = None;
    for &start in &mem::take(&mut selection.starts) {
        selection.begin(start);
        next = apply(selection, start);
    }
    while let Some((point, value)) = next {
        if !selection.offer(point, value) {
            break;
        }
        next = apply(selection, point);
        selection.report(value)?;
    }
    Ok(())
}

/// The largest distance and the lowest index of the points that have it; `None` if all are chosen.
struct Farthest<'a, T> {
    distance: &'a [T],
    largest: &'a [T],
}

impl<T: Scalar> Kernel<T> for Farthest<'_, T> {
    type Output = Option<(u32, T)>;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output {
        let mut block = 0;
        for (other, value) in self.largest.iter().enumerate() {
            if *value > self.largest[block] {
                block = other;
            }
        }
        let value = self.largest[block];
        if value < T::ZERO {
            return None;
        }
        let end = (block * BLOCK + BLOCK).min(self.distance.len());
        for at in (block * BLOCK..end).step_by(S::LANES) {
            // SAFETY: the length of `distance` is a multiple of the widest set's lanes, as is `at`,
            // which is below it.
            let here = unsafe { memory::load(simd, self.distance, at) };
            let equal = simd.eq(here, simd.splat(value));
            if equal != 0 {
                return Some(((at + equal.trailing_zeros() as usize) as u32, value));
            }
        }
        None
    }
}

/// Lowers all distances by one sample, in `parts` parts; counts effective updates.
#[allow(clippy::too_many_arguments, reason = "the state of the one loop that calls it")]
fn update<T: Scalar, S: Simd<T>>(
    simd: S,
    team: &Team,
    cloud: &WorkingCopy<T>,
    sample: u32,
    distance: &mut [T],
    largest: &mut [T],
    parts: usize,
    count: bool,
) -> u32 {
    let blocks = largest.len().div_ceil(parts);
    let (len, all) = (distance.len(), largest.len());
    let (distance, largest) = (Shared::new(distance), Shared::new(largest));
    let effective = AtomicU32::new(0);
    team.each(parts, |k, _| {
        let (first, end) = (k * blocks, (k * blocks + blocks).min(all));
        let points = (first * BLOCK).min(len)..(end * BLOCK).min(len);
        // SAFETY: blocks and their points are the part's alone, and within the arrays.
        let (distance, largest) =
            unsafe { (distance.part(points), largest.part(first.min(all)..end)) };
        let first = first * BLOCK;
        let part = simd.vectorize(Update { cloud, sample, first, distance, largest, count });
        if count {
            effective.fetch_add(part, Ordering::Relaxed);
        }
    });
    effective.into_inner()
}

struct Update<'a, T> {
    cloud: &'a WorkingCopy<T>,
    sample: u32,
    /// First point of this part.
    first: usize,
    distance: &'a mut [T],
    largest: &'a mut [T],
    count: bool,
}

impl<T: Scalar> Kernel<T> for Update<'_, T> {
    type Output = u32;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> u32 {
        match (self.cloud.dims(), self.count) {
            (3, false) => self.blocks::<S, 3, false>(simd),
            (3, true) => self.blocks::<S, 3, true>(simd),
            (_, false) => self.blocks::<S, 0, false>(simd),
            (_, true) => self.blocks::<S, 0, true>(simd),
        }
    }
}

impl<T: Scalar> Update<'_, T> {
    /// `DIMS` is the number of axes if known, else 0.
    #[inline(always)]
    fn blocks<S: Simd<T>, const DIMS: usize, const COUNT: bool>(self, simd: S) -> u32 {
        let axes = &self.cloud.axes;
        let dims = if DIMS > 0 { DIMS } else { axes.len() };
        let sample = |axis: usize| simd.splat(axes[axis][self.sample as usize]);
        let [x, y, z] = [sample(0), sample(1), sample(2)];
        let mut effective = 0;
        for (block, largest) in self.largest.iter_mut().enumerate() {
            let start = block * BLOCK;
            let end = (start + BLOCK).min(self.distance.len());
            let mut lane_max = simd.splat(T::from_f64(CHOSEN));
            for at in (start..end).step_by(S::LANES) {
                // SAFETY: the length of `distance` is a multiple of the widest set's lanes, as is
                // `at`, which is below it; `first + at` is below the length of each axis.
                unsafe {
                    let load = |axis: usize| axes.get_unchecked(axis).load(simd, self.first + at);
                    let mut new = squared(simd, [load(0), load(1), load(2)], [x, y, z]);
                    for axis in 3..dims {
                        new = simd.add(new, square(simd, load(axis), sample(axis)));
                    }
                    let old = memory::load(simd, self.distance, at);
                    if COUNT {
                        effective += simd.lt(new, old).count_ones();
                    }
                    let new = simd.min(new, old);
                    memory::store(simd, self.distance, at, new);
                    lane_max = simd.max(lane_max, new);
                }
            }
            *largest = simd.largest(lane_max);
        }
        effective
    }
}
