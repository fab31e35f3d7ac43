//! Rayon's pools: the current one, one of a run's own, or, in a forked process, one made after the
//! fork.

use super::forked;
use crate::Error;

pub(crate) use rayon::join;
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

/// The number that is set, or that of the current pool, which is started if it was not.
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

/// Runs `work` for each of so many things, on the threads of the current pool. All parallel loops go
/// through here, so that rayon's are compiled once.
pub(crate) fn side_by_side(things: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..things).into_par_iter().for_each(work);
}

/// Sorts a slice, on the threads of the current pool.
pub(crate) fn sort<T: Ord + Send>(slice: &mut [T]) {
    slice.par_sort_unstable();
}

/// Threads that help a team.
pub(super) mod helpers {
    use super::forked;
    use rayon::{ThreadPool, ThreadPoolBuilder};

    /// Whether there can be any.
    pub(crate) const THREADS: bool = true;

    /// A pool that the team has for itself.
    #[derive(Default)]
    pub(crate) struct Own {
        _pool: Option<ThreadPool>,
    }

    /// Has up to so many other threads run `help`, each as soon as it can: those of the pool, or of one
    /// of the team's own where the pool has too few.
    pub(crate) fn call(count: usize, help: impl Fn() + Clone + Send + 'static) -> Own {
        let forked = forked::pool();
        let there = forked.map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads);
        if there < count
            && let Ok(pool) = ThreadPoolBuilder::new().num_threads(count).build()
        {
            (0..count).for_each(|_| pool.spawn(help.clone()));
            return Own { _pool: Some(pool) };
        }
        for _ in 0..count.min(there) {
            match forked {
                Some(pool) => pool.spawn(help.clone()),
                None => rayon::spawn(help.clone()),
            }
        }
        Own::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_as_many_threads_as_asked_for() {
        for threads in [2, 3, 5] {
            let seen = on_threads(threads, || Ok(rayon::current_num_threads())).unwrap();
            assert_eq!(seen, threads);
        }
    }
}
