//! The share of reading or writing that is done, for who shows it.
//!
//! A thread states who watches what it reads and writes; then each loop over bytes or points counts, whatever the
//! format: once for a block of thousands of points. Loops that one of these contains are a part of it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Rows that are counted at a time.
const BLOCK: usize = 1 << 12;

/// Share of a step of reading or writing.
#[derive(Debug, Default)]
pub struct Share {
    done: AtomicU64,
    total: AtomicU64,
    bytes: AtomicBool,
}

impl Share {
    /// Sets what is done, of a total.
    pub fn set(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Returns what is done, of a total; of 0 if that is unknown.
    pub fn get(&self) -> (u64, u64) {
        let total = self.total.load(Ordering::Relaxed);
        (self.done.load(Ordering::Relaxed).min(total), total)
    }

    /// Returns whether the step moves bytes from or to a file; else it converts points.
    pub fn is_of_bytes(&self) -> bool {
        self.bytes.load(Ordering::Relaxed)
    }
}

thread_local! {
    static OBSERVED: RefCell<Option<Arc<Share>>> = const { RefCell::new(None) };
}

/// Sets the share that shows what this thread reads and writes from here on.
pub fn observe(share: Option<Arc<Share>>) {
    OBSERVED.set(share);
}

/// A loop that counts, until it is dropped.
pub(crate) struct Counter(Option<Arc<Share>>);

impl Counter {
    /// Begins a loop over points, or what is made of them.
    pub(crate) fn new(total: usize) -> Counter {
        Counter::begin(total, false)
    }

    /// Begins a loop over bytes of a file.
    pub(crate) fn of_bytes(total: usize) -> Counter {
        Counter::begin(total, true)
    }

    fn begin(total: usize, bytes: bool) -> Counter {
        let share = OBSERVED.take();
        if let Some(share) = &share {
            share.bytes.store(bytes, Ordering::Relaxed);
            share.set(0, total as u64);
        }
        Counter(share)
    }

    /// Adds what is done; any thread may.
    pub(crate) fn add(&self, done: usize) {
        if let Some(share) = &self.0 {
            share.done.fetch_add(done as u64, Ordering::Relaxed);
        }
    }

    /// Adds the rows of a block at the first of them.
    pub(crate) fn add_row(&self, row: usize) {
        if row.is_multiple_of(BLOCK) {
            self.add(BLOCK);
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Some(share) = self.0.take() {
            OBSERVED.set(Some(share));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::parallel;
    use crate::{Cloud, Coordinates, ReadOptions, Reader, WriteOptions};

    /// Returns the share that work leaves.
    fn after<R>(work: impl FnOnce() -> R) -> (u64, u64) {
        let share = Arc::new(Share::default());
        observe(Some(Arc::clone(&share)));
        work();
        observe(None);
        share.get()
    }

    #[test]
    fn loops_count_once() {
        assert_eq!(after(|| parallel::each(0..300, |_| ())), (300, 300));
        assert_eq!(after(|| parallel::all(0..300, |k| k < 100)).1, 300);
        // The inner loops belong to the outer one, unless that is no loop.
        assert_eq!(after(|| parallel::each(0..7, |_| parallel::each(0..50, |_| ()))), (7, 7));
        assert_eq!(after(|| parallel::each(0..1, |_| parallel::each(0..50, |_| ()))), (50, 50));
        assert_eq!(after(|| std::panic::catch_unwind(|| parallel::each(0..9, |_| panic!()))).1, 9);
        assert_eq!(after(|| ()), (0, 0));
        let share = Arc::new(Share::default());
        observe(Some(Arc::clone(&share)));
        std::thread::scope(|scope| {
            scope.spawn(|| parallel::each(0..9, |_| ()));
        });
        observe(None);
        assert_eq!(share.get(), (0, 0), "another thread's");
    }

    /// Every format has a share when it is read, when it is written, and in parts.
    #[test]
    fn all_formats_count() {
        let folder = tempfile::tempdir().unwrap();
        let points: Vec<[f64; 3]> =
            (0..60_000).map(|k| [f64::from(k) / 7.0, f64::from(k % 251) / 3.0, 2.5]).collect();
        let (cloud, rows) = (Cloud::new(Coordinates::F64(points)), (0..60_000).collect::<Vec<_>>());
        for name in [
            "a.las", "a.laz", "a.ply", "a.pcd", "a.e57", "a.npy", "a.npz", "a.bin", "a.xyz",
            "a.csv",
        ] {
            let path = folder.path().join(name);
            let written =
                after(|| crate::write(&path, &cloud, &rows, &WriteOptions::default()).unwrap());
            let read = after(|| crate::read(&path, &ReadOptions::default()).unwrap());
            for (share, work) in [(written, "written"), (read, "read")] {
                assert!(share.1 > 0 && share.0 == share.1, "{name} {work}: {share:?}");
            }
        }
        let reader =
            Reader::open(&folder.path().join("a.laz"), &ReadOptions::default(), None).unwrap();
        let read = || reader.for_each_of(0..reader.parts(), 2, |_, _| Ok::<(), crate::Error>(()));
        assert_eq!(after(|| read().unwrap()), (reader.parts() as u64, reader.parts() as u64));
    }
}
