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
pub(crate) fn count(wanted: Option<usize>) -> Result<usize, Error> {
    match wanted {
        Some(0) => Err(Error::BadThreads(0, "ask for at least one".into())),
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
    pub(crate) struct Own;

    pub(crate) fn call(_count: usize, _help: impl Fn()) -> Own {
        Own
    }
}

/// Runs `work` for each of `things` things, in order.
pub(crate) fn side_by_side(things: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..things).for_each(work);
}

/// Sorts a slice.
pub(crate) fn sort<T: Ord>(slice: &mut [T]) {
    slice.sort_unstable();
}
