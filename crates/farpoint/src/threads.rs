//! Where work runs: here, on the current pool, on one of its own, or, in a forked process, on a
//! pool made after the fork.

mod forked;

use crate::Error;
use rayon::prelude::*;

/// Runs `work` where rayon has this many threads: here if it has, else in a pool of its own.
pub(crate) fn on_threads<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    // One thread never asks rayon for anything.
    if threads == 1 {
        return work();
    }
    match forked::pool() {
        // On one of the pool's threads: from outside, each parallel step would hand its work in
        // and sleep until it is done.
        None if threads == rayon::current_num_threads() => rayon::join(work, || ()).0,
        Some(pool) if threads == pool.current_num_threads() => pool.install(work),
        _ => rayon::ThreadPoolBuilder::new()
            .num_threads(threads.max(1))
            .build()
            .map_err(|error| Error::BadThreads(threads, error.to_string()))?
            .install(work),
    }
}

/// The number asked for, or that of the current pool, which is started if it was not.
pub(crate) fn count(wanted: Option<usize>) -> Result<usize, Error> {
    match wanted {
        Some(0) => Err(Error::BadThreads(0, "ask for at least one".into())),
        Some(threads) => Ok(threads),
        None => Ok(match forked::pool() {
            Some(pool) => pool.current_num_threads(),
            None => rayon::current_num_threads(),
        }),
    }
}

/// As [`count`] for work that several threads share only if it is `large`: one thread for small
/// work, for which no pool is started, unless another number is asked for.
pub(crate) fn count_for(large: bool, wanted: Option<usize>) -> Result<usize, Error> {
    if large || wanted.is_some() { count(wanted) } else { Ok(1) }
}

/// Two pieces of work, side by side if there are threads for it.
pub(crate) fn both<A: Send, B: Send>(
    threads: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads == 1 { (a(), b()) } else { rayon::join(a, b) }
}

/// What `work` gives for each of so many things, in their order, on so many threads.
pub(crate) fn each<R: Send>(
    things: usize,
    threads: usize,
    work: impl Fn(usize) -> R + Send + Sync,
) -> Vec<R> {
    match threads {
        1 => (0..things).map(work).collect(),
        _ => (0..things).into_par_iter().map(work).collect(),
    }
}

/// What `work` gives for each thing of a batch, in their order: large ones one after another, each
/// on all threads, then the others side by side. `work` is told the threads for it. Fewer large
/// things at a time need less memory.
pub(crate) fn each_of_batch<R: Send>(
    things: usize,
    threads: usize,
    large: impl Fn(usize) -> bool + Send + Sync,
    work: impl Fn(usize, usize) -> R + Send + Sync,
) -> Vec<R> {
    if threads == 1 {
        return (0..things).map(|thing| work(thing, 1)).collect();
    }
    let mut found: Vec<Option<R>> =
        (0..things).map(|thing| large(thing).then(|| work(thing, threads))).collect();
    let rest = found.par_iter_mut().enumerate().filter(|(_, found)| found.is_none());
    rest.for_each(|(thing, found)| *found = Some(work(thing, 1)));
    found.into_iter().flatten().collect()
}

/// What `one` gives for each of several clouds or pairs, of so many points each, as
/// `each_of_batch`; `one` is told which, and the threads for it. The error names the first one at
/// fault, not the fastest. For a batch of fewer than `small` points one thread does the work unless
/// told. Bindings whose clouds have a sampler each call it too.
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
    on_threads(threads, || {
        let large = |cloud: usize| points[cloud] >= LARGE;
        each_of_batch(points.len(), threads, large, one).into_iter().collect()
    })
}

/// A cloud or pair of so many points is worth all threads by itself.
const LARGE: usize = 200_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn small_work_asks_for_no_pool() {
        assert_eq!(count_for(false, None), Ok(1));
        assert_eq!(count_for(false, Some(7)), Ok(7));
        assert_eq!(count_for(true, Some(7)), Ok(7));
        assert!(count_for(false, Some(0)).is_err());
        assert!(count(Some(0)).is_err());
    }

    #[test]
    fn work_runs_on_as_many_threads_as_asked_for() {
        for threads in [2, 3, 5] {
            let seen = on_threads(threads, || Ok(rayon::current_num_threads())).unwrap();
            assert_eq!(seen, threads);
        }
    }

    #[test]
    fn large_things_of_a_batch_run_one_after_another() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |thing: usize, threads: usize| {
            if threads > 1 {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(2));
                running.fetch_sub(1, Ordering::SeqCst);
            }
            (thing, threads)
        };
        let batch = || Ok(each_of_batch(40, 4, |thing| thing % 4 == 1, work));
        let found = on_threads(4, batch).unwrap();
        let expected = (0..40).map(|thing| (thing, if thing % 4 == 1 { 4 } else { 1 }));
        assert_eq!(found, expected.collect::<Vec<_>>());
        assert_eq!(most.into_inner(), 1);
    }
}
