//! Samples of a band by axis, in the layout of the update's vectors.

use crate::Scalar;
use crate::memory::{Buffer, Padded};
use crate::simd::Simd;

/// Minimum room: most lists never need more.
const FEW: usize = 128;

/// Samples by axis, and their slots in the tree. The rows may be longer than the list.
#[derive(Default)]
pub(super) struct List<T: Scalar> {
    pub(super) at: [Padded<T>; 3],
    pub(super) slot: Buffer<u32>,
    pub(super) len: usize,
}

impl<T: Scalar> List<T> {
    /// Adds the sample in a slot of the tree, with coordinates `at`.
    pub(super) fn push(&mut self, at: [T; 3], slot: u32) {
        self.reserve(self.len + 1);
        for (row, x) in self.at.iter_mut().zip(at) {
            row[self.len] = x;
        }
        self.slot[self.len] = slot;
        self.len += 1;
    }

    /// Returns the number of samples.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Removes all samples.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Makes room for `len` samples.
    pub(super) fn reserve(&mut self, len: usize) {
        if self.slot.len() < len {
            let room = len.next_power_of_two().max(FEW);
            self.at.iter_mut().for_each(|row| row.resize(room));
            self.slot.resize(room, 0);
        }
    }

    /// Loads the coordinates of the samples from `k` on.
    ///
    /// # Safety
    /// `k` must be below the length.
    #[inline(always)]
    pub(super) unsafe fn load<S: Simd<T>>(&self, simd: S, k: usize) -> [S::V; 3] {
        let [x, y, z] = &self.at;
        // SAFETY: the caller ensures that `k` is below the length, and rows are at least as long.
        unsafe { [x.load(simd, k), y.load(simd, k), z.load(simd, k)] }
    }
}

/// Returns the mask of the lanes before the end of a run, `remaining` places from the start of the vector.
#[inline(always)]
pub(super) fn lanes_below(remaining: usize) -> u32 {
    if remaining >= 32 { u32::MAX } else { (1 << remaining) - 1 }
}
