//! Rayon's pools: the current one, one of a run's own, or, in a forked process, one made after the
//! fork.

use super::forked;
use super::grants::{default_threads, granted, granted_here};
use crate::Error;

pub(crate) use rayon::join;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::error::Error as _;
use std::sync::OnceLock;

/// Starts rayon's pool, unless this thread is one of a pool. If the system refuses its threads, which ends
/// rayon's global pool for good, this thread becomes the first of a smaller one.
pub fn start() {
    static GLOBAL: OnceLock<bool> = OnceLock::new();
    // An error without a source: it was there before.
    let named = || ThreadPoolBuilder::new().thread_name(|k| format!("farpoint-{k}"));
    let global = || match named().build_global() {
        Ok(()) => true,
        Err(error) => error.source().is_none(),
    };
    if rayon::current_thread_index().is_none() && !*GLOBAL.get_or_init(global) {
        std::mem::forget(granted_here(default_threads(), ThreadPoolBuilder::new));
    }
}

/// Returns the pool of a forked process; `None` for rayon's current pool, which is started if necessary.
fn current() -> Option<&'static ThreadPool> {
    let forked = forked::pool();
    if forked.is_none() {
        start();
    }
    forked
}

/// Runs `work` in a rayon pool with this many threads: the current one if it has them, otherwise a new one.
/// There are fewer threads if the system cannot create them.
pub(crate) fn on_threads<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    // One thread never asks rayon for anything.
    if threads == 1 {
        return work();
    }
    match current() {
        // On one of the pool's threads: from outside, each parallel step would hand its work in
        // and sleep until it is done.
        None if threads == rayon::current_num_threads() => rayon::join(work, || ()).0,
        Some(pool) if threads == pool.current_num_threads() => pool.install(work),
        current_pool => match (granted(threads, ThreadPoolBuilder::new), current_pool) {
            (Some(pool), _) => pool.install(work),
            (None, Some(pool)) => pool.install(work),
            (None, None) => work(),
        },
    }
}

/// Returns the number that is set, or that of the current pool, which is started if necessary.
pub(crate) fn count(requested: Option<usize>) -> Result<usize, Error> {
    match requested {
        Some(0) => Err(Error::BadThreads(0, "use at least one".into())),
        Some(threads) => Ok(threads),
        None => {
            Ok(current().map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads))
        }
    }
}

/// Runs `work` for each of `items` items, on the threads of the current pool. All parallel loops go
/// through here, so that rayon's are compiled once.
pub(crate) fn side_by_side(items: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..items).into_par_iter().for_each(work);
}

/// Sorts a slice, on the threads of the current pool.
pub(crate) fn sort<T: Ord + Send>(slice: &mut [T]) {
    slice.par_sort_unstable();
}

/// Threads that help a team.
pub(super) mod helpers {
    use super::{current, granted};
    use rayon::{ThreadPool, ThreadPoolBuilder};

    /// True if there can be any.
    pub(crate) const THREADS: bool = true;

    /// A pool that the team has for itself.
    #[derive(Default)]
    pub(crate) struct OwnPool {
        _pool: Option<ThreadPool>,
    }

    /// Makes up to `count` other threads run `help`, each as soon as it can: those of the pool, or of one
    /// of the team's own if the pool has too few.
    pub(crate) fn call(count: usize, help: impl Fn() + Clone + Send + 'static) -> OwnPool {
        let current = current();
        let available =
            current.map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads);
        if available < count
            && let Some(pool) = granted(count, ThreadPoolBuilder::new)
        {
            (0..pool.current_num_threads()).for_each(|_| pool.spawn(help.clone()));
            return OwnPool { _pool: Some(pool) };
        }
        for _ in 0..count.min(available) {
            match current {
                Some(pool) => pool.spawn(help.clone()),
                None => rayon::spawn(help.clone()),
            }
        }
        OwnPool::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_the_requested_number_of_threads() {
        for threads in [2, 3, 5] {
            let seen = on_threads(threads, || Ok(rayon::current_num_threads())).unwrap();
            assert_eq!(seen, threads);
        }
    }
}
