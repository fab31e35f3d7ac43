//! Without rayon: all work is done by the calling thread, in order.

use crate::Error;

/// Runs `work` here, whatever the number of threads.
pub(crate) fn on_threads<R: Send>(
    _threads: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    work()
}

/// Returns one; zero threads are an error.
pub(crate) fn count(requested: Option<usize>) -> Result<usize, Error> {
    match requested {
        Some(0) => Err(Error::BadThreads(0, "use at least one".into())),
        _ => Ok(1),
    }
}

/// Runs one piece of work after the other.
pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// Stub: there are no threads that could help a team.
pub(super) mod helpers {
    pub(crate) const THREADS: bool = false;

    #[derive(Default)]
    pub(crate) struct OwnPool;

    pub(crate) fn call(_count: usize, _help: impl Fn()) -> OwnPool {
        OwnPool
    }
}

/// Runs `work` for each of `items` items, in order.
pub(crate) fn side_by_side(items: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..items).for_each(work);
}

/// Sorts a slice.
pub(crate) fn sort<T: Ord>(slice: &mut [T]) {
    slice.sort_unstable();
}
