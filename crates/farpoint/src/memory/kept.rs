//! Working memory that the process keeps for later runs: asking the system for fresh pages takes a tenth of the time
//! of sampling a LiDAR turn.
//!
//! Nothing waits for it: if another thread is at it, memory is allocated and freed as usual. So a forked process whose
//! parent was at it at that moment just keeps nothing. Small blocks, which the threads of a team take and give during
//! its steps, are kept in several stores, so that threads rarely meet at one.

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

/// Maximum number of blocks of a store: they are searched one by one.
const MAX_BLOCKS: usize = 1024;

/// Maximum size of a small block.
const SMALL: usize = 4 << 10;

/// Number of stores of small blocks.
const SMALL_STORES: usize = 16;

/// The store of large blocks, and those of small ones.
static STORES: [Mutex<Kept>; 1 + SMALL_STORES] =
    [const { Mutex::new(Kept::new()) }; 1 + SMALL_STORES];

/// Maximum number of bytes in all stores, of which small blocks have a quarter.
static LIMIT: AtomicUsize = AtomicUsize::new(64 << 20);

/// Returns the number of the store that this thread uses for blocks of a size.
fn store_of(size: usize) -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static STORE: usize = 1 + THREADS.fetch_add(1, Ordering::Relaxed) % SMALL_STORES);
    // A thread that ends has lost its number.
    if size > SMALL { 0 } else { STORE.try_with(|&store| store).unwrap_or(1) }
}

/// Returns the share of a number of bytes that a store may keep.
fn share(store: usize, bytes: usize) -> usize {
    let small = bytes / 4 / SMALL_STORES;
    if store > 0 { small } else { bytes - SMALL_STORES * small }
}

/// Blocks of memory, each with the layout that it was allocated with, the latest last. On cache lines of its own.
#[repr(align(128))]
struct Kept {
    blocks: VecDeque<(NonNull<u8>, Layout)>,
    bytes: usize,
}

// SAFETY: the blocks are memory that nothing else refers to.
unsafe impl Send for Kept {}

impl Kept {
    const fn new() -> Self {
        Self { blocks: VecDeque::new(), bytes: 0 }
    }

    fn take(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let at = self.blocks.iter().rposition(|block| block.1 == layout)?;
        self.bytes -= layout.size();
        self.blocks.remove(at).map(|block| block.0)
    }

    /// Keeps a block, up to a number of bytes in all; returns whether there is room for it.
    fn give(&mut self, start: NonNull<u8>, layout: Layout, limit: usize) -> bool {
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
    let store = &STORES[store_of(layout.size())];
    if let Some(start) = store.try_lock().ok().and_then(|mut kept| kept.take(layout)) {
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
    let store = store_of(layout.size());
    let limit = share(store, LIMIT.load(Ordering::Relaxed));
    if !STORES[store].try_lock().is_ok_and(|mut kept| kept.give(start, layout, limit)) {
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
    let stores = STORES.iter().enumerate();
    stores.map(|(number, store)| shrink_store(store, share(number, bytes))).sum()
}

/// Frees the oldest memory of a store beyond a number of bytes; returns the number of bytes freed.
fn shrink_store(store: &Mutex<Kept>, bytes: usize) -> usize {
    // Other threads hold it for a moment; after a fork, one that is not there may hold it forever.
    for _ in 0..1000 {
        if let Ok(mut kept) = store.try_lock() {
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
        let mut kept = Kept::new();
        assert!(!kept.give(NonNull::dangling(), layout(64), 63));
        for size in [64, 128, 192, 128] {
            assert!(kept.give(block(size), layout(size), 512));
        }
        assert_eq!((kept.bytes, kept.blocks.len()), (512, 4));
        kept.shrink(460, 3);
        assert!(kept.take(layout(64)).is_none());
        let latest = kept.blocks[2].0;
        assert_eq!(kept.take(layout(128)), Some(latest));
        assert_eq!(kept.bytes, 320);
        assert!(kept.give(latest, layout(128), 512));
        kept.shrink(0, 0);
        assert_eq!((kept.bytes, kept.blocks.len()), (0, 0));
    }
}
