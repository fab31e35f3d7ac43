//! Up to 64 queries, and the nearest point of each so far.

use super::block::{Block, Reaching, all, largest, latest};
use super::metric::Metric;
use super::work;
use crate::Scalar;
use crate::memory;
use crate::simd::Simd;
use crate::spatial::{LEAF, NONE};

/// Queries that are searched together, and the nearest point of each so far.
#[repr(align(64))]
pub(super) struct Queries<'a, T> {
    /// Distance to the nearest point; -1 in places without a query, which no bound is below.
    best: [T; LEAF],
    /// Row of that point, the lowest among equals. [`NONE`] while unknown, 0 in places without a query.
    nearest: [u32; LEAF],
    block: Block<'a, T>,
    len: usize,
}

/// Maximum number of boxes compared before any is visited.
pub(super) const TOGETHER: usize = 16;

/// Number of points of a block that are sampled.
const SAMPLES: usize = 8;

/// Bounds of the distances of each query to several boxes.
#[repr(align(64))]
pub(super) struct Bounds<T> {
    of_box: [[T; LEAF]; TOGETHER],
    /// The smallest of a query's bounds.
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

impl<'a, T: Scalar> Queries<'a, T> {
    pub(super) fn new(block: Block<'a, T>) -> Self {
        let len = block.len();
        let mut best = [T::INFINITY; LEAF];
        best[len..].fill(T::from_f64(-1.0));
        let mut nearest = [NONE; LEAF];
        nearest[len..].fill(0);
        Self { best, nearest, block, len }
    }

    /// Starts with other queries, which have the result of the first.
    pub(super) fn reuse(&mut self, block: Block<'a, T>) {
        let (best, nearest) = (self.best[0], self.nearest[0]);
        *self = Self::new(block);
        self.best[..self.len].fill(best);
        self.nearest[..self.len].fill(nearest);
    }

    /// Returns each query's point, the nearest point, and its distance.
    pub(super) fn found(&self) -> impl Iterator<Item = (u32, u32, T)> {
        let found = self.block.points.iter().zip(&self.nearest).zip(&self.best);
        found.take(self.len).map(|((&query, &nearest), &best)| (query, nearest, best))
    }

    /// Returns the number of queries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the mask of all queries.
    pub(super) fn all(&self) -> u64 {
        all(self.len)
    }

    /// Returns the largest of the best distances: nothing farther away can matter.
    #[inline(always)]
    pub(super) fn worst<S: Simd<T>>(&self, simd: S) -> T {
        largest(simd, &self.best)
    }

    /// Returns the largest of the nearest points: no point after it wins a tie.
    #[inline(always)]
    pub(super) fn latest(&self) -> u32 {
        latest(&self.nearest)
    }

    /// Returns the queries for which a box may hold a point nearer than the best, or as near and lower; `lowest` is
    /// the lowest point of the box.
    #[inline(always)]
    pub(super) fn reached<S: Simd<T>, M: Metric>(
        &self,
        simd: S,
        corners: [[S::V; 3]; 2],
        lowest: u32,
    ) -> u64 {
        self.block.reaching::<S, M>(simd, &self.best, corners).at_most(&self.nearest, lowest)
    }

    /// Lowers the best distances to those of some points of a block. The points are not kept:
    /// their blocks will be visited, for they are not beyond the best.
    #[inline(always)]
    pub(super) fn sample<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        dims: usize,
    ) {
        assert!(block.has(dims) && self.block.has(dims));
        for at in (0..LEAF).step_by(S::LANES) {
            // SAFETY: whole vectors of an array of `LEAF` numbers.
            let mut best = unsafe { memory::load(simd, &self.best, at) };
            for place in (0..LEAF).step_by(LEAF / SAMPLES) {
                // SAFETY: the assertion; places below `LEAF`, of which vectors are parts.
                let distance =
                    unsafe { self.block.distances::<S, M, false>(simd, at, block, place, dims) };
                best = simd.min(best, distance);
            }
            // SAFETY: whole vectors of an array of `LEAF` numbers.
            unsafe { memory::store(simd, &mut self.best, at, best) };
        }
    }

    /// Adds the bounds of all queries for a box, which becomes number `k`.
    #[inline(always)]
    pub(super) fn add_bounds<S: Simd<T>, M: Metric>(
        &self,
        simd: S,
        corners: [[S::V; 3]; 2],
        bounds: &mut Bounds<T>,
        k: usize,
    ) {
        let (row, least) = (&mut bounds.of_box[k], &mut bounds.least);
        let mut less = 0;
        for at in (0..LEAF).step_by(S::LANES) {
            let bound = self.block.bounds::<S, M>(simd, at, corners);
            // SAFETY: `least` and the box's row have `LEAF` numbers each, which vectors divide.
            unsafe {
                let before = memory::load(simd, least, at);
                less |= u64::from(simd.lt(bound, before)) << at;
                memory::store(simd, least, at, simd.min(bound, before));
                memory::store(simd, row, at, bound);
            }
        }
        bounds.nearest[..k].iter_mut().for_each(|nearest| *nearest &= !less);
        bounds.nearest[k] = less;
    }

    /// Returns [`Self::reached`] for box `k`.
    #[inline(always)]
    pub(super) fn within<S: Simd<T>>(
        &self,
        simd: S,
        bounds: &Bounds<T>,
        k: usize,
        lowest: u32,
    ) -> u64 {
        let row = &bounds.of_box[k];
        let mut reaching = Reaching::default();
        for at in (0..LEAF).step_by(S::LANES) {
            // SAFETY: whole vectors of the box's row and of `best`, both of `LEAF` numbers.
            let (bound, best) =
                unsafe { (memory::load(simd, row, at), memory::load(simd, &self.best, at)) };
            reaching.add(simd, at, bound, best);
        }
        reaching.at_most(&self.nearest, lowest)
    }

    /// Visits a block for the queries of `query_mask`.
    #[inline(always)]
    pub(super) fn visit_block<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        query_mask: u64,
        dims: usize,
    ) {
        work::add(query_mask.count_ones());
        assert!(block.has(dims) && self.block.has(dims));
        // SAFETY: the assertion.
        unsafe {
            match dims {
                3 => self.pairs::<S, M, true>(simd, block, query_mask, 3),
                _ => self.pairs::<S, M, false>(simd, block, query_mask, dims),
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
        mut query_mask: u64,
        dims: usize,
    ) {
        let zero = simd.splat(T::ZERO);
        while query_mask != 0 {
            let lane = query_mask.trailing_zeros() as usize;
            query_mask &= query_mask - 1;
            // As many as vectors of two numbers need; the compiler keeps those that are used.
            let mut distances = [zero; LEAF / 2];
            let mut least = simd.splat(T::INFINITY);
            for (v, kept) in distances[..LEAF / S::LANES].iter_mut().enumerate() {
                let at = v * S::LANES;
                // SAFETY: as the caller ensures; lane and places are below `LEAF`.
                *kept = unsafe { block.distances::<S, M, PLAIN>(simd, at, self.block, lane, dims) };
                least = simd.min(least, *kept);
            }
            // Distances are not negative, so that this reverses only their order.
            let least = T::ZERO - simd.largest(simd.sub(zero, least));
            if least > self.best[lane] {
                continue;
            }
            let least_lanes = simd.splat(least);
            let mut equal = 0;
            for (v, kept) in distances[..LEAF / S::LANES].iter().enumerate() {
                equal |= u64::from(simd.eq(*kept, least_lanes)) << (v * S::LANES);
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
