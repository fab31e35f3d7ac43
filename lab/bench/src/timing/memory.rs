//! Memory use of a piece of work: the system's allocator with a counter, which is on only during a
//! measurement.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Set while counting.
static COUNTING: AtomicBool = AtomicBool::new(false);
/// Bytes in use relative to the start of counting; negative if more was freed since.
static USED: AtomicIsize = AtomicIsize::new(0);
/// Maximum of [`USED`].
static MOST: AtomicIsize = AtomicIsize::new(0);

/// Lock by which one piece of work is counted at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs `work`; returns the peak number of bytes in use by the whole process, beyond those before.
pub(crate) fn peak<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    USED.store(0, Relaxed);
    MOST.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    let result = work();
    COUNTING.store(false, Relaxed);
    (result, MOST.load(Relaxed).unsigned_abs())
}

/// [`System`] with counters.
pub(crate) struct Counted;

fn count(bytes: isize) {
    if COUNTING.load(Relaxed) {
        let before = USED.fetch_add(bytes, Relaxed);
        MOST.fetch_max(before + bytes, Relaxed);
    }
}

// A layout is never larger than isize::MAX.
fn size(layout: Layout) -> isize {
    layout.size() as isize
}

// SAFETY: every call goes to `System` unchanged; counting touches no memory of it.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size(layout));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(size(layout));
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        count(-size(layout));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as isize - size(layout));
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(start, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_most_at_a_time_counts() {
        let (_, bytes) = super::peak(|| {
            drop(vec![0u8; 3_000_000]);
            vec![1u8; 5_000_000]
        });
        // Not 3 and not 8 million; other tests allocate and free a little meanwhile.
        assert!((4_500_000..7_500_000).contains(&bytes), "{bytes}");
    }
}
