//! Memory that is refused on the way through the disk is an error, and nothing is left. A process of its own, whose
//! allocator refuses.

use farpoint::Amount;
use farpoint_io::{Cloud, Coordinates, ReadOptions, WriteOptions, write};
use farpoint_pipeline::disk::{Error, Job, Outputs, open, sample, write_rows};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// Bytes of an allocation that is refused when its turn has come: those that grow with a tile or the sample. What
/// is read and written at a time takes less.
const LARGE: usize = 4 << 20;

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

/// Runs `work` and refuses its large allocations from this number on. Returns its result and how many it made.
fn refused(number: isize, work: &dyn Fn() -> Result<(), Error>) -> (Result<(), Error>, isize) {
    GRANTED.store(number, Relaxed);
    let result = work();
    (result, number - GRANTED.swap(isize::MAX, Relaxed))
}

#[test]
fn memory_that_is_refused_is_an_error() {
    const POINTS: usize = 800_000;
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("a.ply"), folder.path().join("o.ply"));
    let cloud = Cloud::new(Coordinates::F32(farpoint_generate::room(POINTS, 3)));
    let rows: Vec<usize> = (0..POINTS).collect();
    write(&input, &cloud, &rows, &WriteOptions::default()).unwrap();
    let rows: Vec<u64> = (0..POINTS as u64).rev().collect();
    let (reading, writing) = (ReadOptions::default(), WriteOptions::default());
    let job = Job::new(Amount::Ratio(0.02), 128 << 20);
    let scan = open(&input, &reading, job.memory).unwrap();
    let points = Some((output.as_path(), &writing));
    let sampled =
        || sample(&scan, &job, &Outputs { points, indices: None }, &mut |_| true).map(drop);
    let written = || write_rows(&scan, &rows, job.memory, (&output, &writing), &|| true).map(drop);
    for work in [&sampled as &dyn Fn() -> _, &written] {
        let (result, wanted) = refused(isize::MAX / 2, work);
        result.unwrap();
        std::fs::remove_file(&output).unwrap();
        assert!(wanted > 1, "{wanted}");
        for number in 0..wanted {
            match refused(number, work).0 {
                Err(Error::Job(farpoint::Error::OutOfMemory { bytes })) if bytes >= LARGE => {}
                other => panic!("allocation {number} of {wanted}: {other:?}"),
            }
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "allocation {number}");
        }
    }
}
