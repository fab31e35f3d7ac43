//! An array of numbers that starts on a cache line, so that no vector load crosses two; large
//! ones on huge pages where the system has them, which saves most of the page table walks of
//! random access.

use super::fallible::out_of_memory;
use super::kept::{self, HUGE, rounded};
use super::vectors::{MAX_LANES, check};
use crate::simd::Simd;
use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A fixed-length array of plain values, followed by [`MAX_LANES`] more, of zero bytes, so that a
/// vector can be read from every place up to the end.
pub(crate) struct Aligned<T> {
    start: NonNull<T>,
    len: usize,
    /// Layout of the allocation.
    layout: Layout,
}

/// Minimum size for huge pages; smaller arrays are better off with the allocator's memory.
const HUGE_FROM: usize = 2 << 20;

impl<T: Copy> Aligned<T> {
    pub(crate) fn new(len: usize, value: T) -> Self {
        let fill = |values: &mut [MaybeUninit<T>]| {
            values.fill(MaybeUninit::new(value));
        };
        // SAFETY: every value is written.
        unsafe { Self::write_with(len, fill) }
    }

    /// Creates an array that `write` fills.
    ///
    /// # Safety
    /// `write` must write all values.
    pub(crate) unsafe fn write_with(len: usize, write: impl FnOnce(&mut [MaybeUninit<T>])) -> Self {
        const { assert!(size_of::<T>() > 0, "an allocation has a size") };
        let block = Self::layout(len).and_then(|layout| Some((kept::take(layout)?, layout)));
        let Some((start, layout)) = block else { out_of_memory::<T>(len) };
        // From here on dropped, whatever `write` does.
        let array = Self { start: start.cast(), len, layout };
        // SAFETY: `layout` has room for `len + MAX_LANES` values, and nothing else uses it.
        unsafe {
            array.start.add(len).write_bytes(0, MAX_LANES);
            write(std::slice::from_raw_parts_mut(array.start.cast().as_ptr(), len));
        }
        array
    }

    /// Creates an array whose values are still to be written, by several threads or several arrays at a time.
    pub(crate) fn unwritten(len: usize) -> Aligned<MaybeUninit<T>> {
        // SAFETY: values that need not be written are none that must be.
        unsafe { Aligned::write_with(len, |_| ()) }
    }

    /// Loads the vector from `at` on; it may reach beyond the end, where there are zeros.
    ///
    /// # Safety
    /// `at` must not be above the length.
    #[inline(always)]
    pub(crate) unsafe fn load<S: Simd<T>>(&self, simd: S, at: usize) -> S::V {
        check(at, S::LANES, self.len + MAX_LANES);
        // SAFETY: no vector has more than `MAX_LANES` numbers, and as many follow every place up
        // to the length.
        unsafe { simd.load(self.start.as_ptr().add(at)) }
    }
}

impl<T: Copy> Aligned<MaybeUninit<T>> {
    /// Returns the array, once written.
    ///
    /// # Safety
    /// All values must have been written.
    pub(crate) unsafe fn written(self) -> Aligned<T> {
        let this = std::mem::ManuallyDrop::new(self);
        Aligned { start: this.start.cast(), len: this.len, layout: this.layout }
    }
}

impl<T> Aligned<T> {
    /// Returns the layout for `len` values; `None` if they exceed the address space.
    fn layout(len: usize) -> Option<Layout> {
        let layout = Layout::array::<T>(rounded(len.checked_add(MAX_LANES)?)).ok()?;
        layout.align_to(if layout.size() >= HUGE_FROM { HUGE } else { 64 }).ok()
    }
}

impl<T> Drop for Aligned<T> {
    fn drop(&mut self) {
        // Plain values need no drop.
        // SAFETY: `kept::take` returned it for this layout, and nothing uses it from here on.
        unsafe { kept::give(self.start.cast(), self.layout) }
    }
}

// SAFETY: the array owns its values, which may go to another thread.
unsafe impl<T: Send> Send for Aligned<T> {}
// SAFETY: a shared array gives out shared references only.
unsafe impl<T: Sync> Sync for Aligned<T> {}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` values were written from `start` on.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `len` values were written from `start` on, and this borrow is the only one.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}
