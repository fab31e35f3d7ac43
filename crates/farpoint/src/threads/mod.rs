//! Execution on the calling thread, or, with the feature `rayon`, on a pool of threads.

mod contention;
#[cfg(feature = "rayon")]
mod forked;
#[cfg(feature = "rayon")]
mod grants;
#[cfg(feature = "rayon")]
mod options;
#[cfg(feature = "rayon")]
mod pool;
#[cfg(not(feature = "rayon"))]
mod serial;
mod steps;
mod team;
mod wait;

#[cfg(feature = "rayon")]
pub use grants::{granted, granted_here, granted_of};
#[cfg(feature = "rayon")]
pub use options::{Scheduling, ThreadOptions};
#[cfg(feature = "rayon")]
pub use pool::start;
#[cfg(feature = "rayon")]
pub(crate) use pool::{count, join, on_threads, sort};
#[cfg(feature = "rayon")]
use pool::{helpers, side_by_side};

#[cfg(not(feature = "rayon"))]
pub(crate) use serial::{count, join, on_threads, sort};
#[cfg(not(feature = "rayon"))]
use serial::{helpers, side_by_side};

pub(crate) use team::Team;
pub(crate) use wait::Waits;

use crate::Error;
use crate::memory::{self, Shared};
use crate::unwind::caught;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Like [`count`], for work that several threads share only if it is `large`: one thread for small
/// work, for which no pool is started, unless another number is set.
pub(crate) fn count_for(large: bool, requested: Option<usize>) -> Result<usize, Error> {
    if large || requested.is_some() { count(requested) } else { Ok(1) }
}

/// Runs two pieces of work, side by side if there are threads for it.
pub(crate) fn both<A: Send, B: Send>(
    threads: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads == 1 { (a(), b()) } else { join(a, b) }
}

/// Runs `work` for each of `items` items, on `threads` threads.
pub(crate) fn for_each(items: usize, threads: usize, work: &(dyn Fn(usize) + Sync)) {
    match threads {
        1 => (0..items).for_each(work),
        _ => side_by_side(items, work),
    }
}

/// Returns the result of `work` for each of `items` items, in their order.
pub(crate) fn each<R: Send>(
    items: usize,
    threads: usize,
    work: impl Fn(usize) -> R + Sync,
) -> Vec<R> {
    let mut found: Vec<Option<R>> = memory::collected((0..items).map(|_| None));
    let places = Shared::new(&mut found);
    for_each(items, threads, &|item| {
        let result = work(item);
        // SAFETY: the place is the item's alone, and below the number of items.
        unsafe { places.part(item..item + 1)[0] = Some(result) };
    });
    memory::collected(found.into_iter().flatten())
}

/// Runs `work` for each chunk of a slice with its number; the last one may be shorter.
pub(crate) fn for_each_chunk<R: Send>(
    slice: &mut [R],
    size: usize,
    threads: usize,
    work: impl Fn(usize, &mut [R]) + Sync,
) {
    let len = slice.len();
    let all = Shared::new(slice);
    for_each(len.div_ceil(size), threads, &|chunk| {
        // SAFETY: chunks are disjoint, and within the slice.
        work(chunk, unsafe { all.part(chunk * size..(chunk * size + size).min(len)) });
    });
}

/// Returns the result of `work` for each item of a batch, in their order: large ones one after another, each
/// on all threads, then the others side by side. `work` takes the number of threads for it. Fewer large
/// items at a time need less memory.
pub(crate) fn each_in_batch<R: Send>(
    items: usize,
    threads: usize,
    large: impl Fn(usize) -> bool + Send + Sync,
    work: impl Fn(usize, usize) -> R + Send + Sync,
) -> Vec<R> {
    let mut found: Vec<Option<R>> =
        memory::collected((0..items).map(|item| large(item).then(|| work(item, threads))));
    let rest = memory::collected((0..items).filter(|&item| found[item].is_none()));
    let mut result = Team::new(threads).map(rest.len(), |k| work(rest[k], 1));
    for (item, result) in rest.into_iter().zip(result.drain(..)) {
        found[item] = Some(result);
    }
    memory::collected(found.into_iter().flatten())
}

/// Returns the result of `one` for each of several clouds or pairs with these numbers of points, like
/// `each_in_batch`; `one` takes its number and the threads for it. The error names the first one at
/// fault, not the fastest. For a batch of fewer than `small` points one thread does the work unless
/// a number is set. Bindings call it too.
///
/// # Errors
/// The first error of `one`, in an [`Error::InBatch`].
pub fn spread<R: Send>(
    points: &[usize],
    small: usize,
    threads: Option<usize>,
    one: impl Fn(usize, usize) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    let all = points.iter().fold(0usize, |sum, &points| sum.saturating_add(points));
    let threads = count_for(all >= small, threads)?;
    let one = |cloud: usize, threads: usize| {
        one(cloud, threads).map_err(|source| Error::InBatch { cloud, source: Box::new(source) })
    };
    let large = |cloud: usize| points.len() == 1 || (threads > 1 && points[cloud] >= LARGE);
    let all = caught(|| Ok(each_in_batch(points.len(), threads, large, one)))?;
    // Reuses the allocation.
    all.into_iter().collect()
}

/// Runs `work` on a thread of its own. If the system refuses the thread, `work` is returned.
///
/// # Errors
/// The work that was not begun.
#[allow(
    clippy::missing_panics_doc,
    reason = "the work is taken once: where it runs, or where it was not begun"
)]
pub fn spawned<'scope, R: Send + 'scope, W: FnOnce() -> R + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: W,
) -> Result<ScopedJoinHandle<'scope, R>, W> {
    let slot = Arc::new(Mutex::new(Some(work)));
    let take = |slot: &Mutex<Option<W>>| slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    let shared_slot = Arc::clone(&slot);
    let run = move || take(&shared_slot).expect("nobody else has taken it")();
    Builder::new()
        .spawn_scoped(scope, run)
        .map_err(|_| take(&slot).expect("the thread was not begun"))
}

/// Number of points from which a cloud or pair is worth all threads by itself, even if there are others.
const LARGE: usize = 200_000;

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "rayon")]
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn small_work_starts_no_pool() {
        assert_eq!(count_for(false, None), Ok(1));
        let seven = if cfg!(feature = "rayon") { 7 } else { 1 };
        assert_eq!(count_for(false, Some(7)), Ok(seven));
        assert_eq!(count_for(true, Some(7)), Ok(seven));
        assert!(count_for(false, Some(0)).is_err());
        assert!(count(Some(0)).is_err());
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn a_cloud_alone_has_all_threads() {
        let threads_used = |points: &[usize]| spread(points, 10, Some(3), |_, threads| Ok(threads));
        assert_eq!(threads_used(&[500]), Ok(vec![3]));
        assert_eq!(threads_used(&[500, LARGE, 500]), Ok(vec![1, 3, 1]));
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn large_items_of_a_batch_run_one_after_another() {
        let (running, max_running) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |item: usize, threads: usize| {
            if threads > 1 {
                max_running.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(2));
                running.fetch_sub(1, Ordering::SeqCst);
            }
            (item, threads)
        };
        let batch = || Ok(each_in_batch(40, 4, |item| item % 4 == 1, work));
        let found = on_threads(4, batch).unwrap();
        let expected = (0..40).map(|item| (item, if item % 4 == 1 { 4 } else { 1 }));
        assert_eq!(found, expected.collect::<Vec<_>>());
        assert_eq!(max_running.into_inner(), 1);
    }
}
