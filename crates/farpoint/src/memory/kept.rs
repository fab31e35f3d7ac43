//! Working memory that the process keeps for later runs: asking the system for fresh pages takes a tenth of the time
//! of sampling a LiDAR turn.
//!
//! Nothing waits for it: if another thread is at it, memory is allocated and freed as usual. So a forked process whose
//! parent was at it at that moment just keeps nothing.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size of a huge page. Memory that is aligned to it is on huge pages where the system has them.
pub(super) const HUGE: usize = 2 << 20;

/// A multiple of the size of a page, whatever that is.
#[cfg(target_os = "linux")]
const MAX_PAGE: usize = 64 << 10;

/// Maximum number of blocks: they are searched one by one.
const MAX_BLOCKS: usize = 1024;

static KEPT: Mutex<Kept> = Mutex::new(Kept { blocks: VecDeque::new(), bytes: 0 });
static LIMIT: AtomicUsize = AtomicUsize::new(64 << 20);

/// Blocks of memory, each with the layout that it was allocated with, the latest last.
struct Kept {
    blocks: VecDeque<(NonNull<u8>, Layout)>,
    bytes: usize,
}

// SAFETY: the blocks are memory that nothing else refers to.
unsafe impl Send for Kept {}

impl Kept {
    fn take(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let at = self.blocks.iter().rposition(|block| block.1 == layout)?;
        self.bytes -= layout.size();
        self.blocks.remove(at).map(|block| block.0)
    }

    /// Keeps a block; returns whether there is room for it.
    fn give(&mut self, start: NonNull<u8>, layout: Layout) -> bool {
        let limit = LIMIT.load(Ordering::Relaxed);
        if layout.size() > limit || self.blocks.try_reserve(1).is_err() {
            return false;
        }
        self.shrink(limit - layout.size(), MAX_BLOCKS - 1);
        self.bytes += layout.size();
        self.blocks.push_back((start, layout));
        true
    }

    /// Frees the oldest blocks, until there are no more than so many bytes and blocks.
    fn shrink(&mut self, bytes: usize, blocks: usize) {
        while self.bytes > bytes || self.blocks.len() > blocks {
            let Some((start, layout)) = self.blocks.pop_front() else { return };
            self.bytes -= layout.size();
            // SAFETY: blocks are kept with the layout that they were allocated with, each once.
            unsafe { free(start, layout) }
        }
    }
}

/// Rounds a number of values up, by an eighth at most: later runs, on other clouds of about the size, then find
/// memory of the very layout that they need.
pub(super) fn rounded(count: usize) -> usize {
    count
        .checked_next_power_of_two()
        .map_or(count, |power| count.next_multiple_of((power / 16).max(1)))
}

/// Returns memory of a layout, which must have a size: kept, or allocated; `None` if there is none.
pub(super) fn take(layout: Layout) -> Option<NonNull<u8>> {
    if let Some(start) = KEPT.try_lock().ok().and_then(|mut kept| kept.take(layout)) {
        return Some(start);
    }
    // SAFETY: the layout has a size.
    let fresh = || NonNull::new(unsafe { alloc(layout) });
    let start = fresh().or_else(|| {
        trim_memory();
        fresh()
    })?;
    #[cfg(target_os = "linux")]
    if layout.align() == HUGE {
        // SAFETY: the range is our own allocation; this is advice, its failure no harm.
        unsafe { libc::madvise(start.as_ptr().cast(), layout.size(), libc::MADV_HUGEPAGE) };
    }
    Some(start)
}

/// Keeps memory for later runs, or frees it.
///
/// # Safety
/// The global allocator must have returned it for this layout, and nothing may use it any more.
pub(super) unsafe fn give(start: NonNull<u8>, layout: Layout) {
    if !KEPT.try_lock().is_ok_and(|mut kept| kept.give(start, layout)) {
        // SAFETY: as the caller ensures.
        unsafe { free(start, layout) }
    }
}

/// Frees memory. The system gets large blocks back even if the allocator keeps their addresses for the thread.
///
/// # Safety
/// As for [`give`].
unsafe fn free(start: NonNull<u8>, layout: Layout) {
    #[cfg(target_os = "linux")]
    if layout.size() >= 4 * MAX_PAGE {
        let before = start.as_ptr().align_offset(MAX_PAGE);
        let len = (layout.size() - before) / MAX_PAGE * MAX_PAGE;
        // SAFETY: whole pages of our own allocation, whose values nothing reads any more.
        unsafe { libc::madvise(start.as_ptr().add(before).cast(), len, libc::MADV_DONTNEED) };
    }
    // SAFETY: as the caller ensures.
    unsafe { dealloc(start.as_ptr(), layout) }
}

/// Frees all memory that is kept for later runs, and returns its number of bytes. The next run allocates anew.
///
/// ```
/// let line: Vec<[f32; 1]> = (0..20_000).map(|i| [i as f32]).collect();
/// farpoint::Sampler::ratio(0.5).sample(&line)?;
/// assert!(farpoint::trim_memory() > 0);
/// # Ok::<(), farpoint::Error>(())
/// ```
pub fn trim_memory() -> usize {
    shrink(0)
}

/// Sets how many bytes the process keeps for later runs, at most: 64 MiB by default, none with 0. Frees what is
/// kept beyond.
pub fn set_kept_memory(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
    shrink(bytes);
}

/// Frees the oldest memory beyond a number of bytes; returns the number of bytes freed.
fn shrink(bytes: usize) -> usize {
    // Other threads hold it for a moment; after a fork, one that is not there may hold it forever.
    for _ in 0..1000 {
        if let Ok(mut kept) = KEPT.try_lock() {
            let before = kept.bytes;
            kept.shrink(bytes, MAX_BLOCKS);
            if bytes == 0 {
                kept.blocks = VecDeque::new();
            }
            return before - kept.bytes;
        }
        std::thread::yield_now();
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_by_an_eighth_at_most() {
        for count in (0..5000).chain([usize::MAX / 2 + 2, usize::MAX - 1, usize::MAX]) {
            let rounded = rounded(count);
            assert!(rounded >= count && rounded - count <= count / 8, "{count}: {rounded}");
        }
        assert_eq!([17, 33, 1000].map(rounded), [18, 36, 1024]);
    }

    #[test]
    fn the_oldest_blocks_go_first() {
        let layout = |size| Layout::from_size_align(size, 64).unwrap();
        // SAFETY: the layouts have sizes.
        let block = |size| NonNull::new(unsafe { alloc(layout(size)) }).unwrap();
        let mut kept = Kept { blocks: VecDeque::new(), bytes: 0 };
        for size in [64, 128, 192, 128] {
            assert!(kept.give(block(size), layout(size)));
        }
        assert_eq!((kept.bytes, kept.blocks.len()), (512, 4));
        kept.shrink(460, 3);
        assert!(kept.take(layout(64)).is_none());
        let latest = kept.blocks[2].0;
        assert_eq!(kept.take(layout(128)), Some(latest));
        assert_eq!(kept.bytes, 320);
        assert!(kept.give(latest, layout(128)));
        kept.shrink(0, 0);
        assert_eq!((kept.bytes, kept.blocks.len()), (0, 0));
    }
}
