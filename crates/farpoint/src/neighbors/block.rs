//! All pairs of up to 64 queries and a block of 64 points, in vectors: the one place where
//! distances are computed, whatever found the block.

use super::metric::Metric;
use crate::Scalar;
use crate::memory;
use crate::simd::Simd;
use crate::spatial::{LEAF, NONE};

/// Points that are looked through together: a leaf of a tree, or a stretch of a cloud.
#[derive(Clone, Copy)]
pub(super) struct Block<'a, T> {
    /// A row of [`LEAF`] coordinates an axis; places without a point repeat the first point.
    pub(super) numbers: &'a [T],
    /// The point in each place, ascending; [`NONE`] where there is none.
    pub(super) points: &'a [u32; LEAF],
}

impl<T> Block<'_, T> {
    /// Number of points.
    pub(super) fn len(&self) -> usize {
        self.points.iter().position(|&point| point == NONE).unwrap_or(LEAF)
    }
}

/// Queries that go through a search together, and the nearest point of each so far.
#[repr(align(64))]
pub(super) struct Group<'a, T> {
    /// Distance to the nearest point; -1 in places without a query, which no bound is below.
    best: [T; LEAF],
    /// That point; the lowest of those equally near.
    nearest: [u32; LEAF],
    queries: Block<'a, T>,
    len: usize,
}

/// At most so many boxes are compared before any is looked into.
pub(super) const TOGETHER: usize = 16;

/// So many points of a block are a sample of it.
const SAMPLES: usize = 8;

/// How near each query is to several boxes.
#[repr(align(64))]
pub(super) struct Bounds<T> {
    of_box: [[T; LEAF]; TOGETHER],
    /// The least of a query's bounds.
    least: [T; LEAF],
    /// The queries that are nearest to a box.
    pub(super) nearest: [u64; TOGETHER],
}

impl<T: Scalar> Bounds<T> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            of_box: [[T::ZERO; LEAF]; TOGETHER],
            least: [T::INFINITY; LEAF],
            nearest: [0; TOGETHER],
        }
    }
}

impl<'a, T: Scalar> Group<'a, T> {
    pub(super) fn new(queries: Block<'a, T>) -> Self {
        let len = queries.len();
        let mut best = [T::INFINITY; LEAF];
        best[len..].fill(T::from_f64(-1.0));
        Self { best, nearest: [NONE; LEAF], queries, len }
    }

    /// Each query's point, the nearest point, and its distance.
    pub(super) fn found(&self) -> impl Iterator<Item = (u32, u32, T)> {
        let found = self.queries.points.iter().zip(&self.nearest).zip(&self.best);
        found.take(self.len).map(|((&query, &nearest), &best)| (query, nearest, best))
    }

    /// The largest of the best distances: nothing farther away can matter.
    #[inline(always)]
    pub(super) fn worst<S: Simd<T>>(&self, simd: S) -> T {
        let mut worst = simd.splat(T::ZERO);
        for at in (0..LEAF).step_by(S::LANES) {
            // SAFETY: whole vectors of an array of `LEAF` numbers.
            worst = simd.max(worst, unsafe { memory::load(simd, &self.best, at) });
        }
        simd.largest(worst)
    }

    /// Number of queries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All queries, of which there is one.
    pub(super) fn all(&self) -> u64 {
        u64::MAX >> (LEAF - self.len)
    }

    /// The queries for which a box may hold a point as near as the best.
    #[inline(always)]
    pub(super) fn reached<S: Simd<T>, M: Metric>(&self, simd: S, around: [[S::V; 3]; 2]) -> u64 {
        let zero = simd.splat(T::ZERO);
        let numbers = &self.queries.numbers[..3 * LEAF];
        let mut reached = 0;
        for at in (0..LEAF).step_by(S::LANES) {
            // SAFETY: whole vectors of rows of `LEAF` numbers, of which there are three, and of
            // `best`.
            let (query, best) = unsafe {
                let row = |axis: usize| memory::load(simd, numbers, axis * LEAF + at);
                ([row(0), row(1), row(2)], memory::load(simd, &self.best, at))
            };
            let bound = super::metric::bound::<T, S, M>(simd, [query; 2], around, zero);
            reached |= u64::from(simd.le(bound, best)) << at;
        }
        reached
    }

    /// Lowers the best distances to those of some points of a block. The points are not kept:
    /// whatever holds them will be met, for it is not beyond the best.
    #[inline(always)]
    pub(super) fn sample<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        dims: usize,
    ) {
        assert!(block.numbers.len() >= dims * LEAF && self.queries.numbers.len() >= dims * LEAF);
        for at in (0..LEAF).step_by(S::LANES) {
            let numbers = self.queries.numbers;
            // SAFETY: whole vectors of rows of `LEAF` numbers, of which there are `dims`.
            let row = |axis: usize| unsafe { memory::load(simd, numbers, axis * LEAF + at) };
            // SAFETY: whole vectors of an array of `LEAF` numbers.
            let mut best = unsafe { memory::load(simd, &self.best, at) };
            for lane in (0..LEAF).step_by(LEAF / SAMPLES) {
                let part = |axis: usize| {
                    M::parts(simd, row(axis), simd.splat(block.numbers[axis * LEAF + lane]))
                };
                let mut distance = simd.add(simd.add(part(0), part(1)), part(2));
                for axis in 3..dims {
                    distance = simd.add(distance, part(axis));
                }
                best = simd.min(best, distance);
            }
            // SAFETY: whole vectors of an array of `LEAF` numbers.
            unsafe { memory::store(simd, &mut self.best, at, best) };
        }
    }

    /// Bounds for all queries of a box, which becomes number `k`.
    #[inline(always)]
    pub(super) fn add_bounds<S: Simd<T>, M: Metric>(
        &self,
        simd: S,
        around: [[S::V; 3]; 2],
        bounds: &mut Bounds<T>,
        k: usize,
    ) {
        let zero = simd.splat(T::ZERO);
        let numbers = &self.queries.numbers[..3 * LEAF];
        let (row, least) = (&mut bounds.of_box[k], &mut bounds.least);
        let mut less = 0;
        for at in (0..LEAF).step_by(S::LANES) {
            // SAFETY: the queries' first three rows were cut out as a slice; `least` and the box's
            // row have `LEAF` numbers each, which vectors divide.
            unsafe {
                let axis = |axis: usize| memory::load(simd, numbers, axis * LEAF + at);
                let query = [axis(0), axis(1), axis(2)];
                let bound = super::metric::bound::<T, S, M>(simd, [query; 2], around, zero);
                let before = memory::load(simd, least, at);
                less |= u64::from(simd.lt(bound, before)) << at;
                memory::store(simd, least, at, simd.min(bound, before));
                memory::store(simd, row, at, bound);
            }
        }
        bounds.nearest[..k].iter_mut().for_each(|nearest| *nearest &= !less);
        bounds.nearest[k] = less;
    }

    /// The queries for which box `k` may hold a point as near as the best.
    #[inline(always)]
    pub(super) fn within<S: Simd<T>>(&self, simd: S, bounds: &Bounds<T>, k: usize) -> u64 {
        let row = &bounds.of_box[k];
        let mut within = 0;
        for at in (0..LEAF).step_by(S::LANES) {
            // SAFETY: whole vectors of the box's row and of `best`, both of `LEAF` numbers.
            let (bound, best) =
                unsafe { (memory::load(simd, row, at), memory::load(simd, &self.best, at)) };
            within |= u64::from(simd.le(bound, best)) << at;
        }
        within
    }

    /// Looks through a block for the queries of `wanted`.
    #[inline(always)]
    pub(super) fn meet<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        wanted: u64,
        dims: usize,
    ) {
        assert!(block.numbers.len() >= dims * LEAF && self.queries.numbers.len() >= dims * LEAF);
        // SAFETY: the assertion, and there are three axes at least.
        unsafe {
            match dims {
                3 => self.pairs::<S, M, true>(simd, block, wanted, 3),
                _ => self.pairs::<S, M, false>(simd, block, wanted, dims),
            }
        }
    }

    /// # Safety
    /// The queries and the block must have `dims` rows of coordinates, three if `PLAIN`, else
    /// as many or more.
    #[inline(always)]
    unsafe fn pairs<S: Simd<T>, M: Metric, const PLAIN: bool>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        mut wanted: u64,
        dims: usize,
    ) {
        let zero = simd.splat(T::ZERO);
        while wanted != 0 {
            let lane = wanted.trailing_zeros() as usize;
            wanted &= wanted - 1;
            // As many as the narrowest vectors need; the compiler keeps those that are used.
            let mut distances = [zero; 16];
            let mut least = simd.splat(T::INFINITY);
            for (v, kept) in distances[..LEAF / S::LANES].iter_mut().enumerate() {
                // SAFETY: rows below `dims`, places below `LEAF`.
                let part = |axis: usize| unsafe {
                    let of = simd.splat(*self.queries.numbers.get_unchecked(axis * LEAF + lane));
                    let place = axis * LEAF + v * S::LANES;
                    M::parts(simd, memory::load(simd, block.numbers, place), of)
                };
                *kept = simd.add(simd.add(part(0), part(1)), part(2));
                if !PLAIN {
                    for axis in 3..dims {
                        *kept = simd.add(*kept, part(axis));
                    }
                }
                least = simd.min(least, *kept);
            }
            // Distances are not negative, so that this turns none around but their order.
            let least = T::ZERO - simd.largest(simd.sub(zero, least));
            if least > self.best[lane] {
                continue;
            }
            let wanted = simd.splat(least);
            let mut equal = 0;
            for (v, kept) in distances[..LEAF / S::LANES].iter().enumerate() {
                equal |= u64::from(simd.eq(*kept, wanted)) << (v * S::LANES);
            }
            // Points of a block ascend: the first is the lowest.
            let point = block.points[equal.trailing_zeros() as usize % LEAF];
            let (best, nearest) = (self.best[lane], self.nearest[lane]);
            // Chosen without a branch, which could not be predicted.
            let kept = if point < nearest { point } else { nearest };
            self.nearest[lane] = if least < best { point } else { kept };
            self.best[lane] = least;
        }
    }
}
