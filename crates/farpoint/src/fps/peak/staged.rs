//! Points of the next band, as found in the tree.

use super::slots::Slots;
use super::walk::Walk;
use crate::Scalar;
use crate::memory::{Buffer, Padded};
use crate::simd::{Kernel, Simd};
use crate::spatial::{FANOUT, LEAF};
use std::ops::Range;

/// Points in the order of discovery.
#[derive(Default)]
pub(super) struct Staged<T: Scalar> {
    /// Coordinates and values, in rows that are longer than there are points.
    rows: [Padded<T>; 4],
    /// Slots in the tree: a row as long.
    slot: Buffer<u32>,
    len: usize,
}

/// A run of points that were staged together.
pub(super) struct Segment<'a, T: Scalar> {
    pub(super) staged: &'a Staged<T>,
    pub(super) places: Range<usize>,
}

impl<'a, T: Scalar> Segment<'a, T> {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the coordinates by axis.
    pub(super) fn at(&self) -> [&'a [T]; 3] {
        [0, 1, 2].map(|a| &self.staged.rows[a][self.places.clone()])
    }

    pub(super) fn values(&self) -> &'a [T] {
        &self.staged.rows[3][self.places.clone()]
    }

    pub(super) fn slots(&self) -> &'a [u32] {
        &self.staged.slot[self.places.clone()]
    }
}

impl<T: Scalar> Staged<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Removes all points. The rows keep their length: they are overwritten.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Makes room for `count` points.
    #[inline(always)]
    fn reserve(&mut self, count: usize) {
        if self.slot.len() < count {
            self.grow(count);
        }
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let room = 2 * count + 64 * LEAF;
        self.rows.iter_mut().for_each(|row| row.resize(room));
        self.slot.resize(room, 0);
    }

    /// Adds the points of a leaf whose value is above `beta`.
    ///
    /// # Safety
    /// The leaf must be one of the tree's, and no other thread may write its values.
    #[inline(always)]
    pub(super) unsafe fn leaf<S: Simd<T>>(
        &mut self,
        simd: S,
        slots: Slots<'_, T>,
        leaf: usize,
        beta: S::V,
    ) {
        let mut count = self.len;
        self.reserve(count + LEAF);
        let start = leaf * (slots.dims + 1) * LEAF;
        // SAFETY: leaves have `dims + 1` rows of `LEAF` numbers, `dims` at least 3; the rows
        // have room for a whole leaf more.
        unsafe {
            for lane in (0..LEAF).step_by(S::LANES) {
                let load = |row: usize| slots.leaves.load(simd, start + row * LEAF + lane);
                let value = load(slots.dims);
                let mut over = simd.lt(beta, value);
                if over == 0 {
                    continue;
                }
                for a in 0..3 {
                    self.rows[a].compress(simd, over, load(a), count);
                }
                self.rows[3].compress(simd, over, value, count);
                while over != 0 {
                    let slot = leaf * LEAF + lane + over.trailing_zeros() as usize;
                    self.slot[count] = slot as u32;
                    count += 1;
                    over &= over - 1;
                }
            }
        }
        self.len = count;
    }
}

/// Adds the points below a node of level 1, or those of the only leaf of a tree, whose value is above the
/// floor. The node is this thread's; its leaves have just been visited and are in the cache.
pub(super) struct Collect<'a, 'b, 'c, T: Scalar> {
    pub(super) walk: &'a Walk<'b, 'c, T>,
    pub(super) node: usize,
    pub(super) staged: &'a mut Staged<T>,
}

impl<T: Scalar> Kernel<T> for Collect<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { walk, node, staged } = self;
        let beta = simd.splat(walk.beta);
        for first in (node * FANOUT..(node + 1) * FANOUT).step_by(S::LANES) {
            // SAFETY: levels are padded to whole groups of siblings, with values below the floor; the node and
            // its leaves are this thread's.
            unsafe {
                let largest = walk.levels[0].largest.load(simd, first);
                let mut over = simd.lt(beta, largest);
                while over != 0 {
                    let leaf = first + over.trailing_zeros() as usize;
                    staged.leaf(simd, walk.slots, leaf, beta);
                    over &= over - 1;
                }
            }
        }
    }
}
