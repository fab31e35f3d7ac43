//! Memory that a tile is refused is an error that says so. A process of its own, whose
//! allocator refuses.

use farpoint::{Amount, BadRows, Start};
use farpoint_tiles::{Error, Local, Plan, TileOptions, Tiled, TiledSample, sample};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// Bytes of an allocation that is refused when its turn has come: those that grow with a tile.
const LARGE: usize = 1 << 20;

/// Large allocations that are granted before all are refused.
static GRANTED: AtomicIsize = AtomicIsize::new(isize::MAX);

struct Refusing;

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

// SAFETY: every call that is not refused goes to `System` unchanged.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= LARGE && GRANTED.fetch_sub(1, Relaxed) <= 0 {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and `alloc` gave out what `System` did.
        unsafe { System.dealloc(block, layout) }
    }
}

#[test]
fn memory_that_a_tile_is_refused_is_an_error() {
    let cloud = farpoint_generate::room(300_000, 3);
    let refused = |number: isize| -> (Result<TiledSample<f32>, Error>, isize) {
        let tiled = Tiled::new(&cloud, BadRows::Error, 2, 256).unwrap();
        let plan = Plan::new(Amount::Count(60_000), tiled.starts(&Start::Index(0)).unwrap());
        let mut tiles = Local(tiled.workers(TileOptions::default()));
        GRANTED.store(number, Relaxed);
        let result = sample(plan, tiled.tiles(), &mut tiles);
        (result, number - GRANTED.swap(isize::MAX, Relaxed))
    };
    let wanted = refused(isize::MAX / 2).1;
    assert!(wanted > 4, "{wanted}");
    for number in 0..wanted {
        match refused(number).0 {
            Err(Error::Tile { text, .. }) if text.starts_with("there is no memory") => {}
            other => panic!("allocation {number} of {wanted}: {other:?}"),
        }
    }
}
