//! Many clouds at once, spread over the cores. A cloud's result does not depend on its batch.

use super::run::SMALL;
use super::{Sample, Sampler};
use crate::threads::{self, on_threads};
use crate::{Error, Points, Scalar};

/// A cloud this large is worth all cores by itself.
const LARGE: usize = 200_000;

pub(super) fn sample<T: Scalar, P: Points<T>>(
    sampler: &Sampler,
    clouds: &[P],
) -> Result<Vec<Sample<T>>, Error> {
    spread(sampler, clouds, |sampler, points| sampler.sample(points))
}

/// What `one` gives for each cloud, with a sampler that is told its threads; the error names the
/// first cloud at fault, not the fastest.
pub(super) fn spread<P: Points<T>, T: Scalar, R: Send>(
    sampler: &Sampler,
    clouds: &[P],
    one: impl Fn(&Sampler, &P) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    let large = |cloud: usize| clouds[cloud].len() >= LARGE;
    let work = |cloud: usize, threads: usize| {
        one(&sampler.clone().threads(threads), &clouds[cloud])
            .map_err(|source| Error::InBatch { cloud, source: Box::new(source) })
    };
    let points = clouds.iter().fold(0usize, |sum, points| sum.saturating_add(points.len()));
    let threads = threads::count_for(points >= SMALL, sampler.threads)?;
    on_threads(threads, || {
        threads::each_of_batch(clouds.len(), threads, large, work).into_iter().collect()
    })
}
