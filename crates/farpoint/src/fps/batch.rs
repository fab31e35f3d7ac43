//! Many clouds at once, spread over the cores. A cloud's result does not depend on its batch.

use super::{Sample, Sampler, run};
use crate::{Error, Points, Scalar, Strided};
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
    run::on_threads(threads, || {
        // Collected one by one, so that the first cloud at fault is named, not the fastest.
        let samples: Vec<_> = match threads {
            1 => clouds.iter().enumerate().map(one).collect(),
            _ => clouds.par_iter().enumerate().map(one).collect(),
        };
        samples.into_iter().collect()
    })
}

/// The clouds of a padded batch.
pub fn padded<'a, T: Scalar>(
    data: &'a [T],
    [b, n, d]: [usize; 3],
    lengths: Option<&[usize]>,
) -> Result<Vec<Strided<'a, T>>, Error> {
    if b.checked_mul(n).and_then(|rows| rows.checked_mul(d)) != Some(data.len()) || d == 0 {
        return Err(Error::Shape(format!("{} numbers are no ({b}, {n}, {d}) array", data.len())));
    }
    if let Some(lengths) = lengths {
        if lengths.len() != b {
            return Err(Error::Shape(format!("{} lengths for a batch of {b}", lengths.len())));
        }
        if let Some((cloud, length)) = lengths.iter().enumerate().find(|(_, length)| **length > n) {
            return Err(Error::Shape(format!("length {length} of cloud {cloud} is over {n}")));
        }
    }
    (0..b)
        .map(|cloud| {
            let length = lengths.map_or(n, |lengths| lengths[cloud]);
            Strided::rows(&data[cloud * n * d..][..length * d], d)
        })
        .collect()
}

/// The clouds of a ragged batch.
pub fn ragged<'a, T: Scalar>(
    data: &'a [T],
    d: usize,
    offsets: &[usize],
) -> Result<Vec<Strided<'a, T>>, Error> {
    let rows = Strided::rows(data, d).map(|all| Points::len(&all))?;
    let ordered = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if !ordered || offsets.first() != Some(&0) || offsets.last() != Some(&rows) {
        return Err(Error::Shape(format!(
            "offsets must rise from 0 to the number of rows, {rows}, not {offsets:?}"
        )));
    }
    offsets.windows(2).map(|pair| Strided::rows(&data[pair[0] * d..pair[1] * d], d)).collect()
}
