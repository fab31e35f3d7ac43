//! Where work runs: here, on the current pool, or on one of its own.

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
    if threads == rayon::current_num_threads() {
        // On one of the pool's threads: from outside, each parallel step would hand its work in
        // and sleep until it is done.
        return rayon::join(work, || ()).0;
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .build()
        .map_err(|error| Error::BadThreads(threads, error.to_string()))?
        .install(work)
}

/// The number asked for, or that of the current pool.
pub(crate) fn count(wanted: Option<usize>) -> Result<usize, Error> {
    match wanted {
        Some(0) => Err(Error::BadThreads(0, "ask for at least one".into())),
        Some(threads) => Ok(threads),
        None => Ok(rayon::current_num_threads()),
    }
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
