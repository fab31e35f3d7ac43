//! One step: test a new sample against every bucket, skip, delay or visit, find the next.

use super::buckets::{Buckets, PENDING};
use farpoint::Scalar;
use farpoint::backend::{Kernel, Simd, load, store};

pub(super) struct Step<'a, T> {
    pub(super) buckets: &'a mut Buckets<T>,
    /// Slot of the sample.
    pub(super) slot: usize,
}

/// The farthest point: its slot and its squared distance, -1 if all are chosen.
pub(super) struct Farthest<T> {
    pub(super) slot: usize,
    pub(super) value: T,
}

/// Counts of a step.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) tested: u64,
    pub(super) pruned: u64,
    pub(super) distances: u64,
    pub(super) effective: u64,
}

impl<T: Scalar> Kernel<T> for Step<'_, T> {
    type Output = (Farthest<T>, Counts);

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output {
        match self.buckets.axes.len() {
            3 => self.step::<S, 3>(simd),
            _ => self.step::<S, 0>(simd),
        }
    }
}

impl<T: Scalar> Step<'_, T> {
    /// `DIMS` is the number of axes if known, else 0.
    #[inline(always)]
    fn step<S: Simd<T>, const DIMS: usize>(self, simd: S) -> (Farthest<T>, Counts) {
        let Self { buckets, slot, .. } = self;
        let mut counts = Counts::default();
        let own_bucket = buckets.bucket_of(slot);
        // The sample leaves its bucket's state behind: that bucket is visited in any case.
        buckets.distance[slot] = T::from_f64(-1.0);
        buckets.delay(own_bucket, slot);
        buckets.visit::<S, DIMS>(simd, own_bucket, &mut counts);
        let at = [0, 1, 2].map(|axis| simd.splat(buckets.axes[axis][slot]));
        for first in (0..buckets.len).step_by(S::LANES) {
            let reached = buckets.reached::<S, DIMS>(simd, first, slot, at);
            counts.distances += u64::from(reached.count_ones());
            let mut remaining = reached;
            while remaining != 0 {
                let bucket = first + remaining.trailing_zeros() as usize;
                remaining &= remaining - 1;
                if bucket == own_bucket {
                    continue;
                }
                let best = buckets.best[bucket] as usize;
                let nearer = buckets.squared_distance(best, slot) < buckets.largest[bucket];
                buckets.delay(bucket, slot);
                if nearer || usize::from(buckets.waiting[bucket]) == PENDING {
                    buckets.visit::<S, DIMS>(simd, bucket, &mut counts);
                }
            }
            let tested = (buckets.len - first).min(S::LANES) as u64;
            counts.tested += tested;
            counts.pruned += tested - u64::from(reached.count_ones());
        }
        (buckets.farthest(simd), counts)
    }
}

impl<T: Scalar> Buckets<T> {
    /// Puts a sample on a bucket's pending list, which has room: full ones are visited at once.
    #[inline(always)]
    fn delay(&mut self, bucket: usize, slot: usize) {
        let waiting = &mut self.waiting[bucket];
        self.pending[bucket * PENDING + usize::from(*waiting)] = slot as u32;
        *waiting += 1;
    }

    /// Returns the mask of the buckets of a vector in which the sample may make a distance smaller. `at` are its
    /// first three coordinates.
    #[inline(always)]
    fn reached<S: Simd<T>, const DIMS: usize>(
        &self,
        simd: S,
        first: usize,
        slot: usize,
        at: [S::V; 3],
    ) -> u32 {
        let dims = if DIMS > 0 { DIMS } else { self.axes.len() };
        let two = simd.add(self.gap(simd, first, 0, at[0]), self.gap(simd, first, 1, at[1]));
        let mut bound = simd.add(two, self.gap(simd, first, 2, at[2]));
        for axis in 3..dims {
            let at = simd.splat(self.axes[axis][slot]);
            bound = simd.add(bound, self.gap(simd, first, axis, at));
        }
        simd.lt(bound, load(simd, &self.largest[first..]))
    }

    /// Returns the squared distance along an axis from a coordinate to the boxes of a vector of buckets.
    #[inline(always)]
    fn gap<S: Simd<T>>(&self, simd: S, first: usize, axis: usize, at: S::V) -> S::V {
        let low = load(simd, &self.low[axis][first..]);
        let high = load(simd, &self.high[axis][first..]);
        let outside = simd.max(simd.sub(low, at), simd.sub(at, high));
        let gap = simd.max(outside, simd.splat(T::ZERO));
        simd.mul(gap, gap)
    }

    /// Returns the squared distance of the points in two slots, in the documented order of operations.
    #[inline(always)]
    fn squared_distance(&self, a: usize, b: usize) -> T {
        let square = |axis: usize| {
            let difference = self.axes[axis][a] - self.axes[axis][b];
            difference * difference
        };
        (1..self.axes.len()).fold(square(0), |sum, axis| sum + square(axis))
    }

    /// Applies the pending samples of a bucket, and finds its farthest point.
    #[inline(always)]
    fn visit<S: Simd<T>, const DIMS: usize>(
        &mut self,
        simd: S,
        bucket: usize,
        counts: &mut Counts,
    ) {
        let dims = if DIMS > 0 { DIMS } else { self.axes.len() };
        let (start, end) = (self.first[bucket] as usize, self.first[bucket + 1] as usize);
        let waiting = usize::from(std::mem::take(&mut self.waiting[bucket]));
        let pending = &self.pending[bucket * PENDING..][..waiting];
        let mut lane_max = simd.splat(T::from_f64(-1.0));
        for at in (start..end).step_by(S::LANES) {
            let here = [0, 1, 2].map(|axis| load(simd, &self.axes[axis][at..]));
            let mut old = load(simd, &self.distance[at..]);
            for &slot in pending {
                let of = [0, 1, 2].map(|axis| simd.splat(self.axes[axis][slot as usize]));
                let squares = [0, 1, 2].map(|axis| square(simd, here[axis], of[axis]));
                let mut new = simd.add(simd.add(squares[0], squares[1]), squares[2]);
                for axis in 3..dims {
                    let of = simd.splat(self.axes[axis][slot as usize]);
                    let here = load(simd, &self.axes[axis][at..]);
                    new = simd.add(new, square(simd, here, of));
                }
                counts.effective += u64::from(simd.lt(new, old).count_ones());
                old = simd.min(new, old);
            }
            store(simd, &mut self.distance[at..], old);
            lane_max = simd.max(lane_max, old);
        }
        counts.distances += ((end - start) * waiting) as u64;
        let largest = simd.largest(lane_max);
        self.largest[bucket] = largest;
        let mut at = start;
        // Points lie in index order, so the first slot is the lowest index.
        self.best[bucket] = loop {
            let equal = simd.eq(load(simd, &self.distance[at..]), simd.splat(largest));
            if equal != 0 {
                break at as u32 + equal.trailing_zeros();
            }
            at += S::LANES;
        };
    }

    /// Returns the farthest point of all buckets, the lowest index among equals.
    #[inline(always)]
    fn farthest<S: Simd<T>>(&self, simd: S) -> Farthest<T> {
        let mut lane_max = simd.splat(T::from_f64(-1.0));
        for first in (0..self.len).step_by(S::LANES) {
            // What lies beyond the last bucket is -1.
            lane_max = simd.max(lane_max, load(simd, &self.largest[first..]));
        }
        let value = simd.largest(lane_max);
        let mut best = usize::MAX;
        for first in (0..self.len).step_by(S::LANES) {
            let mut equal = simd.eq(load(simd, &self.largest[first..]), simd.splat(value));
            while equal != 0 {
                let bucket = first + equal.trailing_zeros() as usize;
                equal &= equal - 1;
                // If all points are chosen, padding is equal too.
                if bucket < self.len {
                    let slot = self.best[bucket] as usize;
                    if best == usize::MAX || self.points[slot] < self.points[best] {
                        best = slot;
                    }
                }
            }
        }
        Farthest { slot: best, value }
    }
}

#[inline(always)]
fn square<T: Scalar, S: Simd<T>>(simd: S, a: S::V, b: S::V) -> S::V {
    let difference = simd.sub(a, b);
    simd.mul(difference, difference)
}
