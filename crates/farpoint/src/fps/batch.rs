//! Many clouds at once, spread over the cores. A cloud's result does not depend on its batch.

use super::{Sample, Sampler};
use crate::threads::on_threads;
use crate::{Error, Points, Scalar};
use rayon::prelude::*;

/// A cloud this large is worth all cores by itself.
const LARGE: usize = 200_000;

pub(super) fn sample<T: Scalar, P: Points<T>>(
    sampler: &Sampler,
    clouds: &[P],
) -> Result<Vec<Sample<T>>, Error> {
    let threads = sampler.threads.unwrap_or_else(rayon::current_num_threads);
    let small = sampler.clone().threads(1);
    let one = |(cloud, points): (usize, &P)| {
        // Large clouds one after another on all cores, small ones side by side.
        let sampler = if points.len() >= LARGE { sampler } else { &small };
        sampler.sample(points).map_err(|source| Error::InBatch { cloud, source: Box::new(source) })
    };
    on_threads(threads, || {
        // Collected one by one, so that the first cloud at fault is named, not the fastest.
        let samples: Vec<_> = match threads {
            1 => clouds.iter().enumerate().map(one).collect(),
            _ => clouds.par_iter().enumerate().map(one).collect(),
        };
        samples.into_iter().collect()
    })
}
