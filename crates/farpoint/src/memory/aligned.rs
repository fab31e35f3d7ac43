//! An array of numbers that starts on a cache line, so that no vector load crosses two; large
//! ones on huge pages where the system has them, which saves most of the page table walks of
//! random access.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A fixed-length array of plain values.
pub(crate) struct Aligned<T> {
    start: NonNull<T>,
    len: usize,
    /// What was allocated; of size 0 if nothing was.
    layout: Layout,
}

/// The size of a huge page.
const HUGE: usize = 2 << 20;

/// Smaller arrays are better off with what the allocator has at hand.
const HUGE_FROM: usize = 2 << 20;

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
            return Self { start: NonNull::dangling(), len: 0, layout };
        }
        let (start, layout) = SPARE.with_borrow_mut(|spare| spare.take(layout));
        let start = start.cast();
        write(start.as_ptr());
        Self { start, len, layout }
    }
}

/// Memory that a thread keeps for its next run: asking the system for fresh pages takes a
/// tenth of the time of sampling a LiDAR turn.
#[derive(Default)]
struct Spare {
    blocks: Vec<(NonNull<u8>, Layout)>,
    bytes: usize,
}

/// A thread keeps at most this much.
const SPARE_BYTES: usize = 32 << 20;

thread_local! {
    static SPARE: RefCell<Spare> = const { RefCell::new(Spare { blocks: Vec::new(), bytes: 0 }) };
}

impl Spare {
    /// A kept block that fits without waste, or a fresh one.
    fn take(&mut self, wanted: Layout) -> (NonNull<u8>, Layout) {
        let fits = |(_, layout): &(NonNull<u8>, Layout)| {
            layout.align() == wanted.align()
                && (wanted.size()..=wanted.size() + wanted.size() / 4).contains(&layout.size())
        };
        if let Some(at) = self.blocks.iter().position(fits) {
            let block = self.blocks.swap_remove(at);
            self.bytes -= block.1.size();
            return block;
        }
        // SAFETY: the layout has a size.
        let Some(start) = NonNull::new(unsafe { alloc(wanted) }) else {
            handle_alloc_error(wanted)
        };
        #[cfg(target_os = "linux")]
        if wanted.align() == HUGE {
            // SAFETY: the range is our own allocation; this is advice, its failure no harm.
            unsafe { libc::madvise(start.as_ptr().cast(), wanted.size(), libc::MADV_HUGEPAGE) };
        }
        (start, wanted)
    }

    /// Keeps a block, or frees it if that would be too much.
    fn give(&mut self, start: NonNull<u8>, layout: Layout) {
        if self.bytes + layout.size() <= SPARE_BYTES {
            self.bytes += layout.size();
            self.blocks.push((start, layout));
        } else {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(start.as_ptr(), layout) }
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        for (start, layout) in self.blocks.drain(..) {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(start.as_ptr(), layout) }
        }
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
        if self.layout.size() == 0 {
            return;
        }
        let (start, layout) = (self.start.cast(), self.layout);
        // Plain values need no drop. When the thread is ending there is nothing to keep for.
        if SPARE.try_with(|spare| spare.borrow_mut().give(start, layout)).is_err() {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(start.as_ptr(), layout) }
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
