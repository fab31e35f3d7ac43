//! Blocks of 64 points, and the one place where distances between them are computed, however the blocks
//! were found.

use super::metric::{Metric, bound};
use super::work;
use crate::Scalar;
use crate::memory;
use crate::simd::Simd;
use crate::spatial::{LEAF, NONE};

/// Points searched together: a leaf of a tree, or a stretch of a cloud.
#[derive(Clone, Copy)]
pub(super) struct Block<'a, T> {
    /// A row of [`LEAF`] coordinates an axis; places without a point repeat the first point.
    pub(super) numbers: &'a [T],
    /// The point in each place, ascending; [`NONE`] if empty.
    pub(super) points: &'a [u32; LEAF],
}

/// Returns the mask of the first `len` places of a block.
#[inline(always)]
pub(super) fn all(len: usize) -> u64 {
    if len == 0 { 0 } else { u64::MAX >> (LEAF - len) }
}

impl<T> Block<'static, T> {
    /// A block without a point.
    pub(super) const EMPTY: Self = Self { numbers: &[], points: &[NONE; LEAF] };
}

impl<T: Scalar> Block<'_, T> {
    /// Returns the number of points.
    pub(super) fn len(&self) -> usize {
        self.points.iter().position(|&point| point == NONE).unwrap_or(LEAF)
    }

    /// Returns whether all points of both blocks coincide.
    pub(super) fn coincides(self, other: Block<'_, T>, dims: usize) -> bool {
        (0..dims).all(|axis| {
            let [first, second] = [self, other].map(|block| &block.numbers[axis * LEAF..][..LEAF]);
            second.iter().chain(first).all(|&x| x == first[0])
        })
    }

    /// Returns whether there are coordinates on `dims` axes.
    #[inline(always)]
    pub(super) fn has(&self, dims: usize) -> bool {
        dims >= 3 && self.numbers.len() >= dims * LEAF
    }

    /// Computes distances of a vector of points from `at` on to one point of another block.
    ///
    /// # Safety
    /// Both blocks must have `dims` axes (`PLAIN`: three), and `at` and `place` must be places of blocks;
    /// the vector must end in the block.
    #[inline(always)]
    pub(super) unsafe fn distances<S: Simd<T>, M: Metric, const PLAIN: bool>(
        self,
        simd: S,
        at: usize,
        other: Block<'_, T>,
        place: usize,
        dims: usize,
    ) -> S::V {
        // SAFETY: rows below `dims` and places of blocks, as the caller ensures.
        let part = |axis: usize| unsafe {
            let of = simd.splat(*other.numbers.get_unchecked(axis * LEAF + place));
            M::parts(simd, memory::load(simd, self.numbers, axis * LEAF + at), of)
        };
        let mut sum = simd.add(simd.add(part(0), part(1)), part(2));
        if !PLAIN {
            for axis in 3..dims {
                sum = simd.add(sum, part(axis));
            }
        }
        sum
    }

    /// Returns bounds of the distances from a vector of points to a box.
    #[inline(always)]
    pub(super) fn bounds<S: Simd<T>, M: Metric>(
        self,
        simd: S,
        at: usize,
        corners: [[S::V; 3]; 2],
    ) -> S::V {
        let numbers = &self.numbers[..3 * LEAF];
        // SAFETY: `at` is below `LEAF`, of which vectors are parts, and there are three rows.
        let row = |axis: usize| unsafe { memory::load(simd, numbers, axis * LEAF + at) };
        bound::<T, S, M>(simd, [[row(0), row(1), row(2)]; 2], corners, simd.splat(T::ZERO))
    }

    /// Returns the points that are within their limits of a box.
    #[inline(always)]
    pub(super) fn reaching<S: Simd<T>, M: Metric>(
        self,
        simd: S,
        limits: &[T; LEAF],
        corners: [[S::V; 3]; 2],
    ) -> Reaching {
        work::add(1);
        let mut reaching = Reaching::default();
        for at in (0..LEAF).step_by(S::LANES) {
            // SAFETY: whole vectors of an array of `LEAF` numbers.
            let limit = unsafe { memory::load(simd, limits, at) };
            let bound = self.bounds::<S, M>(simd, at, corners);
            reaching.add(simd, at, bound, limit);
        }
        reaching
    }
}

/// Masks of the points of a block that are within their limits of a box.
#[derive(Clone, Copy, Default)]
pub(super) struct Reaching {
    /// Points that are at most at their limit.
    pub(super) within: u64,
    /// Points that are nearer than that.
    pub(super) nearer: u64,
}

impl Reaching {
    /// Compares a vector of points from `at` on.
    #[inline(always)]
    pub(super) fn add<T, S: Simd<T>>(&mut self, simd: S, at: usize, bound: S::V, limit: S::V) {
        self.within |= u64::from(simd.le(bound, limit)) << at;
        self.nearer |= u64::from(simd.lt(bound, limit)) << at;
    }

    /// Returns the points that may find something in the box: at their limit only a point not beyond the last
    /// that they hold there. `lowest` is the lowest point of the box.
    #[inline(always)]
    pub(super) fn at_most(self, last: &[u32; LEAF], lowest: u32) -> u64 {
        let Self { within, nearer } = self;
        let (mut reached, mut equal) = (nearer, within & !nearer);
        while equal != 0 {
            let lane = equal.trailing_zeros() as usize % LEAF;
            reached |= u64::from(lowest <= last[lane]) << lane;
            equal &= equal - 1;
        }
        reached
    }
}

/// Returns the largest of some points.
#[inline(always)]
pub(super) fn latest(points: &[u32; LEAF]) -> u32 {
    points.iter().fold(0, |latest, &point| if point > latest { point } else { latest })
}

/// Returns the largest of the limits of a block's points.
#[inline(always)]
pub(super) fn largest<T: Scalar, S: Simd<T>>(simd: S, limits: &[T; LEAF]) -> T {
    let mut largest = simd.splat(limits[0]);
    for at in (0..LEAF).step_by(S::LANES) {
        // SAFETY: whole vectors of an array of `LEAF` numbers.
        largest = simd.max(largest, unsafe { memory::load(simd, limits, at) });
    }
    simd.largest(largest)
}
