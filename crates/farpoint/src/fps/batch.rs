//! Many clouds at once, spread over the cores. A cloud's result does not depend on its batch.

use super::run::SMALL;
use super::{Sample, Sampler};
use crate::{Error, Points, Scalar, threads};

pub(super) fn sample<T: Scalar, P: Points<T>>(
    sampler: &Sampler,
    clouds: &[P],
) -> Result<Vec<Sample<T>>, Error> {
    spread(sampler, clouds, |sampler, points| sampler.sample(points))
}

/// What `one` gives for each cloud, with a sampler that is told its threads.
pub(super) fn spread<P: Points<T>, T: Scalar, R: Send>(
    sampler: &Sampler,
    clouds: &[P],
    one: impl Fn(&Sampler, &P) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    let sizes: Vec<_> = clouds.iter().map(Points::len).collect();
    threads::spread(&sizes, SMALL, sampler.threads, |cloud, threads| {
        one(&sampler.clone().threads(threads), &clouds[cloud])
    })
}
