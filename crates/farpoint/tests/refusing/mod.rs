//! An allocator that counts and refuses, for tests that are a process of their own: allocations of at least
//! `LARGE` bytes, which the test defines, from a number on.

use super::LARGE;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// Bytes in use, and their maximum.
pub(crate) static USED: AtomicIsize = AtomicIsize::new(0);
pub(crate) static PEAK: AtomicIsize = AtomicIsize::new(0);

/// Number of large allocations granted before all are refused.
static GRANTED: AtomicIsize = AtomicIsize::new(isize::MAX);

/// [`System`], counted.
struct Refusing;

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

// SAFETY: every call that is not refused goes to `System` unchanged; counting touches no memory of it.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= LARGE && GRANTED.fetch_sub(1, Relaxed) <= 0 {
            return std::ptr::null_mut();
        }
        let before = USED.fetch_add(layout.size() as isize, Relaxed);
        PEAK.fetch_max(before + layout.size() as isize, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` gave out what `System` did.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Runs `work` and refuses its large allocations from this number on. Returns its result and their number.
pub(crate) fn refused<R>(number: isize, work: impl FnOnce() -> R) -> (R, isize) {
    GRANTED.store(number, Relaxed);
    let result = work();
    (result, number - GRANTED.swap(isize::MAX, Relaxed))
}
