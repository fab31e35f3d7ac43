//! Many pairs of clouds at once, spread over the cores. A pair's result does not depend on its
//! batch.

use super::Matcher;
use crate::threads::{self, on_threads};
use crate::{Error, Points, Scalar};
use rayon::prelude::*;

/// A pair with so many points is worth all cores by itself.
const LARGE: usize = 200_000;

pub(super) fn each<T: Scalar, A: Points<T>, B: Points<T>, R: Send>(
    matcher: &Matcher,
    a: &[A],
    b: &[B],
    one: impl Fn(&Matcher, &A, &B) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    if a.len() != b.len() {
        return Err(Error::Shape(format!(
            "a batch of {} clouds can't be compared with one of {}",
            a.len(),
            b.len()
        )));
    }
    let threads = threads::count(matcher.threads)?;
    let alone = matcher.clone().threads(1);
    let pair = |k: usize| {
        // Large pairs one after another on all cores, small ones side by side.
        let large = a[k].len().saturating_add(b[k].len()) >= LARGE;
        let found = one(if large { matcher } else { &alone }, &a[k], &b[k]);
        found.map_err(|source| Error::InBatch { cloud: k, source: Box::new(source) })
    };
    on_threads(threads, || {
        // Collected one by one, so that the first pair at fault is named, not the fastest.
        let found: Vec<_> = match threads {
            1 => (0..a.len()).map(pair).collect(),
            _ => (0..a.len()).into_par_iter().map(pair).collect(),
        };
        found.into_iter().collect()
    })
}

/// Puts what belongs to the clouds of a padded batch into one dense array of `n` values a
/// cloud: distances, indices, or gradients (then `n` counts numbers, not points). Padding gets
/// `fill`.
///
/// ```
/// use farpoint::chamfer::padded_rows;
/// let rows: [&[f32]; 2] = [&[1.0, 2.0], &[3.0]];
/// assert_eq!(padded_rows(&rows, 3, 0.0)?, [1.0, 2.0, 0.0, 3.0, 0.0, 0.0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// Errors on a cloud with more than `n` values.
pub fn padded_rows<V: Copy, R: AsRef<[V]>>(rows: &[R], n: usize, fill: V) -> Result<Vec<V>, Error> {
    let mut dense = Vec::with_capacity(rows.len() * n);
    for (cloud, values) in rows.iter().map(AsRef::as_ref).enumerate() {
        if values.len() > n {
            return Err(Error::Shape(format!(
                "{} values of cloud {cloud} do not fit in {n}",
                values.len()
            )));
        }
        dense.extend_from_slice(values);
        dense.resize((cloud + 1) * n, fill);
    }
    Ok(dense)
}
