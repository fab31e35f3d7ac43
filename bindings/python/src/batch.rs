//! Clouds of a batch side by side: small ones one per thread, large ones one after another on all threads.

use crate::threads;
use crate::watch::Stop;
use farpoint::Error;
use farpoint::backend::spread;

/// Points below which a batch runs on one thread: waking others would take longer.
const SMALL: usize = 1 << 14;

/// Runs `one` for every cloud of a batch, of these sizes, on this many threads, until `stop` is set. `one`
/// gets the cloud's number and the threads for it. The error is that of the first cloud at fault; that of a cloud
/// alone does not mention a batch.
pub(crate) fn side_by_side<R: Send>(
    threads: Option<usize>,
    sizes: &[usize],
    stop: &Stop,
    one: impl Fn(usize, usize) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    let results = spread(sizes, SMALL, threads::of(threads), |cloud, threads| {
        stop.check()?;
        one(cloud, threads)
    });
    results.map_err(|error| match error {
        Error::InBatch { source, .. } if sizes.len() == 1 => *source,
        error => error,
    })
}
