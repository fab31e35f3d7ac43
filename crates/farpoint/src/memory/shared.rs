//! An array written by several threads, each in places of its own.

use super::vectors::check;
use crate::simd::Simd;
use std::marker::PhantomData;
use std::ops::Range;

/// An array borrowed whole and written in parts, by several threads at once.
///
/// Rust cannot see that the parts are disjoint. Each use ensures it, in an `unsafe`
/// block that says how.
pub(crate) struct Shared<'a, T> {
    start: *mut T,
    len: usize,
    array: PhantomData<&'a mut [T]>,
}

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<'_, T> {}

// SAFETY: every access is unsafe, and its caller ensures that no other thread has the place.
unsafe impl<T: Send> Send for Shared<'_, T> {}
// SAFETY: a copy may be sent to another thread, and every access through either is unsafe.
unsafe impl<T: Send> Sync for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    /// Shares an array.
    pub(crate) fn new(array: &'a mut [T]) -> Self {
        Self { start: array.as_mut_ptr(), len: array.len(), array: PhantomData }
    }

    /// Returns the length of the array.
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Returns the values of a range.
    ///
    /// # Safety
    /// The range must lie within the array, and no other thread may use its numbers meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn part(self, range: Range<usize>) -> &'a mut [T] {
        check(range.start, range.len(), self.len);
        // SAFETY: the caller ensures that the range is in the array, and no other thread's.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }

    /// Writes a number.
    ///
    /// # Safety
    /// `at` must be below the length, and no other thread may use that number meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn write(self, at: usize, value: T) {
        check(at, 1, self.len);
        // SAFETY: the caller ensures that the place is in the array, and no other thread's.
        unsafe { self.start.add(at).write(value) }
    }

    /// Reads a number.
    ///
    /// # Safety
    /// `at` must be below the length, and no thread may write that number meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn read(self, at: usize) -> T
    where
        T: Copy,
    {
        check(at, 1, self.len);
        // SAFETY: the caller ensures that the place is in the array, and that no thread writes it.
        unsafe { *self.start.add(at) }
    }

    /// Loads the vector from `at` on.
    ///
    /// # Safety
    /// `at + S::LANES` must not be above the length, and no thread may write those numbers meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn load<S: Simd<T>>(self, simd: S, at: usize) -> S::V {
        check(at, S::LANES, self.len);
        // SAFETY: the caller ensures that the vector is in the array, and that no thread writes it.
        unsafe { simd.load(self.start.add(at)) }
    }

    /// Prefetches the cache line at `at`, which may lie beyond the end.
    #[inline(always)]
    pub(crate) fn prefetch<S: Simd<T>>(self, simd: S, at: usize) {
        simd.prefetch(self.start.wrapping_add(at).cast());
    }

    /// Stores a vector from `at` on.
    ///
    /// # Safety
    /// `at + S::LANES` must not be above the length, and no other thread may use those numbers
    /// meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn store<S: Simd<T>>(self, simd: S, at: usize, value: S::V) {
        check(at, S::LANES, self.len);
        // SAFETY: the caller ensures that the vector is in the array, and no other thread's.
        unsafe { simd.store(self.start.add(at), value) }
    }
}
