//! What a search takes of memory beside its result. A process of its own, whose allocator counts.

use farpoint::{Cpu, Method, Order, Searcher};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// Bytes in use, and the most of them at a time.
static USED: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

/// [`System`], counted.
struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

// SAFETY: every call goes to `System` unchanged; counting touches no memory of it.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let before = USED.fetch_add(layout.size() as isize, Relaxed);
        MOST.fetch_max(before + layout.size() as isize, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` gave out what `System` did.
        unsafe { System.dealloc(block, layout) }
    }
}

/// 64 queries search together; each has all points in its ball.
#[test]
fn large_balls_take_no_more_than_the_result_and_one_of_them() {
    const QUERIES: usize = 64;
    const POINTS: usize = 50_000;
    let x: Vec<[f32; 1]> = (0..QUERIES).map(|i| [i as f32]).collect();
    let y: Vec<[f32; 1]> = (0..POINTS).map(|i| [(i * 7919 % POINTS) as f32]).collect();
    for (method, order) in [(Method::Tree, Order::Nearest), (Method::Brute, Order::Index)] {
        let searcher = Searcher::ball(1e6, 1).order(order).method(method);
        let before = USED.load(Relaxed);
        MOST.store(before, Relaxed);
        let all = searcher.on(&Cpu::new().threads(1)).within(&x, &y).unwrap();
        let most = MOST.load(Relaxed) - before;
        assert_eq!(all.indices.len(), QUERIES * POINTS);
        let result = (all.indices.len() * 8) as isize;
        // The clouds, what is built of them, and the keys of one ball.
        let more = (POINTS * 100) as isize;
        assert!(most < result + more, "{most} bytes for a result of {result}");
    }
}
