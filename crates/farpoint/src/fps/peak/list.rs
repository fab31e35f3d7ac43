//! The samples of a band by axis, as the update's vectors want them.

use crate::Scalar;
use crate::arch::Simd;

/// Samples by axis, and where their coordinates lie in the tree's leaves.
#[derive(Default)]
pub(super) struct List<T> {
    pub(super) at: [Vec<T>; 3],
    pub(super) start: Vec<u32>,
    pub(super) len: usize,
}

/// Room behind a list for a vector that is only partly used.
const ROOM: usize = 16;

impl<T: Scalar> List<T> {
    /// Adds a sample at `at`, whose coordinates lie at `start` in the tree's leaves.
    pub(super) fn push(&mut self, at: [T; 3], start: usize) {
        if self.start.len() < self.len + ROOM {
            self.reserve(self.len + 1);
        }
        for (row, x) in self.at.iter_mut().zip(at) {
            row[self.len] = x;
        }
        self.start[self.len] = start as u32;
        self.len += 1;
    }

    /// Adds all samples of another list.
    pub(super) fn append(&mut self, other: &Self) {
        let end = self.len + other.len;
        self.reserve(end);
        for (row, more) in self.at.iter_mut().zip(&other.at) {
            row[self.len..end].copy_from_slice(&more[..other.len]);
        }
        self.start[self.len..end].copy_from_slice(&other.start[..other.len]);
        self.len = end;
    }

    /// Number of samples.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Forgets all samples.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Makes room for this many samples and a vector beyond.
    pub(super) fn reserve(&mut self, len: usize) {
        if self.start.len() < len + ROOM {
            let room = (len + ROOM).next_power_of_two();
            self.at.iter_mut().for_each(|row| row.resize(room, T::ZERO));
            self.start.resize(room, 0);
        }
    }

    /// Coordinates of the samples from `k` on.
    ///
    /// # Safety
    /// `k` must be below the length.
    #[inline(always)]
    pub(super) unsafe fn load<S: Simd<T>>(&self, simd: S, k: usize) -> [S::V; 3] {
        let [x, y, z] = &self.at;
        // SAFETY: lists have room for a vector beyond their length.
        unsafe {
            [
                simd.load(x.as_ptr().add(k)),
                simd.load(y.as_ptr().add(k)),
                simd.load(z.as_ptr().add(k)),
            ]
        }
    }
}
