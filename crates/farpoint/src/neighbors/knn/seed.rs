//! Limits of queries before anything is collected: the distance of the k-th nearest of some blocks.

use crate::Scalar;
use crate::memory;
use crate::neighbors::block::Block;
use crate::neighbors::metric::Metric;
use crate::simd::Simd;
use crate::spatial::LEAF;

/// Maximum number of neighbors for which limits are seeded, including the query itself; with more, that takes
/// longer than it saves.
const MAX_LEN: usize = 33;

/// Nearest distances of each query in the blocks that seed it.
#[repr(align(64))]
pub(super) struct Seed<T> {
    nearest: [[T; LEAF]; MAX_LEN],
    /// Number of distances kept: the last of them is a limit.
    len: usize,
}

impl<T: Scalar> Seed<T> {
    pub(super) fn new() -> Self {
        Self { nearest: [[T::INFINITY; LEAF]; MAX_LEN], len: 0 }
    }

    /// Starts with other queries, of `len` neighbors; returns whether there is something to seed.
    pub(super) fn begin(&mut self, len: usize) -> bool {
        self.len = len;
        let useful = (1..=MAX_LEN).contains(&len);
        if useful {
            // Up to twice as many are kept.
            self.nearest[..MAX_LEN.min(2 * len + 1)].fill([T::INFINITY; LEAF]);
        }
        useful
    }

    /// Lowers every query's limit to the distance of its k-th nearest point in this block and those
    /// before.
    #[inline(always)]
    pub(super) fn lower<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        limits: &mut [T; LEAF],
        queries: Block<'_, T>,
        block: Block<'_, T>,
        dims: usize,
    ) {
        // Few distances fit in registers if their number is known.
        match self.len {
            1..=3 => self.sort::<S, M, 3>(simd, limits, queries, block, dims),
            4 => self.sort::<S, M, 4>(simd, limits, queries, block, dims),
            5..=8 => self.sort::<S, M, 8>(simd, limits, queries, block, dims),
            9..=17 => self.sort::<S, M, 17>(simd, limits, queries, block, dims),
            _ => self.sort::<S, M, MAX_LEN>(simd, limits, queries, block, dims),
        }
    }

    /// The queries are lanes here and the best distances are sorted by minima and maxima, so that no branch
    /// has to be predicted.
    #[inline(always)]
    fn sort<S: Simd<T>, M: Metric, const MANY: usize>(
        &mut self,
        simd: S,
        limits: &mut [T; LEAF],
        queries: Block<'_, T>,
        block: Block<'_, T>,
        dims: usize,
    ) {
        assert!(block.has(dims) && queries.has(dims));
        // SAFETY: the assertion.
        unsafe {
            match dims {
                3 => self.insert::<S, M, MANY, true>(simd, limits, queries, block, 3),
                _ => self.insert::<S, M, MANY, false>(simd, limits, queries, block, dims),
            }
        }
    }

    /// # Safety
    /// The queries and the block must have `dims` rows of coordinates, three if `PLAIN`.
    #[inline(always)]
    unsafe fn insert<S: Simd<T>, M: Metric, const MANY: usize, const PLAIN: bool>(
        &mut self,
        simd: S,
        limits: &mut [T; LEAF],
        queries: Block<'_, T>,
        block: Block<'_, T>,
        dims: usize,
    ) {
        let nearest: &mut [[T; LEAF]; MANY] = self.nearest.first_chunk_mut().expect("fewer");
        let many = if MANY == MAX_LEN { self.len } else { MANY };
        let last = self.len - 1;
        for at in (0..LEAF).step_by(S::LANES) {
            let mut best = [simd.splat(T::INFINITY); MANY];
            for (best, nearest) in best[..many].iter_mut().zip(&*nearest) {
                // SAFETY: whole vectors of a row of `LEAF` numbers.
                *best = unsafe { memory::load(simd, nearest, at) };
            }
            for place in 0..block.len() {
                // SAFETY: as the caller ensures; places below `LEAF`, of which vectors are parts.
                let mut distance =
                    unsafe { queries.distances::<S, M, PLAIN>(simd, at, block, place, dims) };
                for kept in &mut best[..many] {
                    let less = simd.min(distance, *kept);
                    distance = simd.max(distance, *kept);
                    *kept = less;
                }
            }
            for (best, nearest) in best[..many].iter().zip(&mut *nearest) {
                // SAFETY: whole vectors of a row of `LEAF` numbers.
                unsafe { memory::store(simd, nearest, at, *best) };
            }
            // SAFETY: whole vectors of `limits` and a row, of `LEAF` numbers each.
            unsafe {
                let seeded = memory::load(simd, &nearest[last], at);
                let limit = memory::load(simd, limits, at);
                memory::store(simd, limits, at, simd.min(limit, seeded));
            }
        }
    }
}
