//! Rayon's pools: the current one, one of a run's own, or, in a forked process, one made after the
//! fork.

use super::forked;
use crate::Error;

pub(crate) use rayon::{join, prelude};

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
