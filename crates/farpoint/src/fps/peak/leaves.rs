//! Applies a list of samples to leaves: the innermost part of [`super::update`].

use super::list::{List, lanes_below};
use super::walk::{Counts, Walk};
use crate::Scalar;
use crate::distance::{square, squared};
use crate::simd::{Kernel, Simd};
use crate::spatial::{FANOUT, LEAF, box_bound, place};

/// Applies a list to the leaves below a node of level 1, or to the only leaf of a tree.
pub(super) struct Leaves<'a, 'b, 'c, T: Scalar> {
    pub(super) walk: &'a Walk<'b, 'c, T>,
    pub(super) node: usize,
    pub(super) list: &'a List<T>,
    /// True if the tree has one leaf.
    pub(super) single: bool,
}

impl<T: Scalar> Kernel<T> for Leaves<'_, '_, '_, T> {
    type Output = Counts;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> Counts {
        match (self.walk.slots.dims, self.walk.count) {
            (3, false) => self.node::<S, 3, false>(simd),
            (3, true) => self.node::<S, 3, true>(simd),
            (_, false) => self.node::<S, 0, false>(simd),
            (_, true) => self.node::<S, 0, true>(simd),
        }
    }
}

impl<T: Scalar> Leaves<'_, '_, '_, T> {
    #[inline(always)]
    fn node<S: Simd<T>, const DIMS: usize, const COUNT: bool>(self, simd: S) -> Counts {
        let mut counts = Counts::default();
        let first = if self.single { 0 } else { self.node * FANOUT };
        let level = &self.walk.levels[0];
        let end = (first + FANOUT).min(level.len);
        let boxes = level.boxes.siblings(first / FANOUT);
        let zero = simd.splat(T::ZERO);
        for leaf in first..end {
            if self.walk.large {
                self.prefetch_leaf(simd, leaf + 1);
            }
            let side = |row: usize| simd.splat(boxes[row * FANOUT + leaf % FANOUT]);
            let (low, high) = ([side(0), side(1), side(2)], [side(3), side(4), side(5)]);
            // SAFETY: the leaf is one of the tree's, and this thread alone visits its node.
            let largest = unsafe { simd.splat(level.largest.read(leaf)) };
            let mut lane_max = None;
            for k in (0..self.list.len).step_by(S::LANES) {
                // SAFETY: `k` is below the list's length.
                let at = unsafe { self.list.load(simd, k) };
                let bound = box_bound(simd, at, low, high, zero);
                let hit = simd.lt(bound, largest) & lanes_below(self.list.len - k);
                if hit == 0 {
                    continue;
                }
                // SAFETY: this thread alone visits the leaf; bits name samples of the list.
                let (largest, effective) =
                    unsafe { self.leaf::<S, DIMS, COUNT>(simd, leaf, k, hit) };
                lane_max = Some(largest);
                counts.effective += u64::from(effective);
                counts.distances += u64::from(hit.count_ones()) * LEAF as u64;
            }
            if let Some(lane_max) = lane_max {
                // SAFETY: the leaf is one of the tree's, and this thread alone visits its node.
                unsafe { level.largest.write(leaf, simd.largest(lane_max)) };
            }
        }
        counts.tested = ((end - first) * self.list.len) as u64;
        counts.pruned = counts.tested - counts.distances / LEAF as u64;
        if !self.single {
            // SAFETY: this thread alone visits the node and its leaves.
            unsafe { self.walk.correct(1, self.node) };
        }
        counts
    }

    /// Prefetches the numbers of a leaf, which need not be one of the tree's.
    #[inline(always)]
    fn prefetch_leaf<S: Simd<T>>(&self, simd: S, leaf: usize) {
        let stride = (self.walk.slots.dims + 1) * LEAF;
        for number in (0..stride).step_by(64 / size_of::<T>()) {
            self.walk.slots.leaves.prefetch(simd, leaf * stride + number);
        }
    }

    /// Applies the samples `first + lane` for the lanes in `hit` to a leaf, a part of it at a
    /// time, so that it stays in registers. Returns a vector that has the largest value in some
    /// lane, and the number of values that fell, if counted.
    ///
    /// # Safety
    /// The leaf must be one of the tree's and this thread's; bits of `hit` must name samples of
    /// the list.
    #[inline(always)]
    unsafe fn leaf<S: Simd<T>, const DIMS: usize, const COUNT: bool>(
        &self,
        simd: S,
        leaf: usize,
        first: usize,
        hit: u32,
    ) -> (S::V, u32) {
        let dims = if DIMS > 0 { DIMS } else { self.walk.slots.dims };
        let (leaves, stride) = (self.walk.slots.leaves, (dims + 1) * LEAF);
        let mut effective = 0;
        let mut lane_max = simd.splat(T::from_f64(-1.0));
        // SAFETY: the leaf has `dims + 1` rows of `LEAF` numbers, whole vectors of every set, and
        // is this thread's, as the caller ensures; coordinates of others are only read.
        unsafe {
            let first_number = leaf * stride;
            let load =
                |row: usize, lane: usize| leaves.load(simd, first_number + row * LEAF + lane);
            for lane in (0..LEAF).step_by(2 * S::LANES) {
                let other = lane + S::LANES;
                let a = [load(0, lane), load(1, lane), load(2, lane)];
                let b = [load(0, other), load(1, other), load(2, other)];
                let mut old = [load(dims, lane), load(dims, other)];
                let mut remaining = hit;
                while remaining != 0 {
                    let k = first + remaining.trailing_zeros() as usize;
                    remaining &= remaining - 1;
                    let [x, y, z] = &self.list.at;
                    let s = [
                        simd.splat(*x.get_unchecked(k)),
                        simd.splat(*y.get_unchecked(k)),
                        simd.splat(*z.get_unchecked(k)),
                    ];
                    let mut new = [squared(simd, a, s), squared(simd, b, s)];
                    for axis in 3..dims {
                        let of = place(self.list.slot[k], stride) + axis * LEAF;
                        let s = simd.splat(leaves.read(of));
                        for (new, lane) in new.iter_mut().zip([lane, other]) {
                            *new = simd.add(*new, square(simd, load(axis, lane), s));
                        }
                    }
                    for (old, new) in old.iter_mut().zip(new) {
                        if COUNT {
                            effective += simd.lt(new, *old).count_ones();
                        }
                        *old = simd.min(new, *old);
                    }
                }
                leaves.store(simd, first_number + dims * LEAF + lane, old[0]);
                leaves.store(simd, first_number + dims * LEAF + other, old[1]);
                lane_max = simd.max(lane_max, simd.max(old[0], old[1]));
            }
        }
        (lane_max, effective)
    }
}
