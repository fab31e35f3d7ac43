//! An array of numbers that starts on a cache line, so that no vector load crosses two; large
//! ones on huge pages where the system has them, which saves most of the page table walks of
//! random access.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A fixed-length array of plain values.
pub(crate) struct Aligned<T> {
    start: NonNull<T>,
    len: usize,
}

/// The size of a huge page.
const HUGE: usize = 2 << 20;

/// Smaller arrays are better off with what the allocator has at hand.
const HUGE_FROM: usize = 8 << 20;

impl<T: Copy> Aligned<T> {
    pub(crate) fn new(len: usize, value: T) -> Self {
        // SAFETY: every place is written.
        unsafe { Self::write_with(len, |start| (0..len).for_each(|k| start.add(k).write(value))) }
    }

    /// An array that `write` fills in.
    ///
    /// # Safety
    /// `write` must write all `len` values from the pointer that it is given on.
    pub(crate) unsafe fn write_with(len: usize, write: impl FnOnce(*mut T)) -> Self {
        let layout = Self::layout(len);
        if layout.size() == 0 {
            return Self { start: NonNull::dangling(), len: 0 };
        }
        // SAFETY: the layout has a size.
        let start: *mut T = unsafe { alloc(layout) }.cast();
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        #[cfg(target_os = "linux")]
        if layout.align() == HUGE {
            // SAFETY: the range is our own allocation; this is advice, its failure no harm.
            unsafe { libc::madvise(start.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE) };
        }
        write(start.as_ptr());
        Self { start, len }
    }
}

impl<T> Aligned<T> {
    fn layout(len: usize) -> Layout {
        let layout = Layout::array::<T>(len).and_then(|layout| layout.align_to(64));
        let layout = layout.expect("arrays are smaller than the address space");
        match layout.size() {
            size if size >= HUGE_FROM => layout.align_to(HUGE).expect("the size fits"),
            _ => layout,
        }
    }
}

impl<T> Drop for Aligned<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.len);
        if layout.size() > 0 {
            // SAFETY: allocated with this layout; plain values need no drop.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) }
        }
    }
}

// SAFETY: the array owns its values.
unsafe impl<T: Send> Send for Aligned<T> {}
// SAFETY: as above.
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
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}
