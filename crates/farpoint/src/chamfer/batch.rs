//! Many pairs of clouds at once, spread over the cores. A pair's result does not depend on its
//! batch.

use super::watch::Watch;
use super::{Chamfer, Matcher, Nearest, prepared, run};
use crate::threads::spread;
use crate::{Error, Points, Scalar};

/// The nearest points of each pair, told of by one watch.
pub(super) fn nearest<T: Scalar, A: Points<T>, B: Points<T>>(
    matcher: &Matcher,
    a: &[A],
    b: &[B],
    watch: &Watch<'_>,
) -> Result<Vec<Nearest<T>>, Error> {
    let found = each(matcher, a, b, |matcher, a, b| run::nearest(matcher, a, b, watch));
    // That nobody wanted to wait is no fault of a pair.
    watch.end().and(found)
}

/// Both directions of each pair, told of by one watch.
pub(super) fn chamfer<T: Scalar, A: Points<T>, B: Points<T>>(
    matcher: &Matcher,
    a: &[A],
    b: &[B],
    watch: &Watch<'_>,
) -> Result<Vec<Chamfer<T>>, Error> {
    let found = each(matcher, a, b, |matcher, a, b| run::chamfer(matcher, a, b, watch));
    watch.end().and(found)
}

/// Points of all clouds.
pub(super) fn points<T: Scalar, P: Points<T>>(clouds: &[P]) -> usize {
    clouds.iter().fold(0, |sum, cloud| sum.saturating_add(cloud.len()))
}

/// What `one` gives for each pair, with a matcher that is told its threads: large pairs one after
/// another on all of them, small ones side by side.
pub(super) fn each<T: Scalar, A: Points<T>, B: Points<T>, R: Send>(
    matcher: &Matcher,
    a: &[A],
    b: &[B],
    one: impl Fn(&Matcher, &A, &B) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    if a.len() != b.len() {
        return Err(Error::Shape(format!(
            "a batch of {} clouds can't be compared with one of {}",
            a.len(),
            b.len()
        )));
    }
    let sizes: Vec<_> = a.iter().zip(b).map(|(a, b)| a.len().saturating_add(b.len())).collect();
    spread(&sizes, prepared::SMALL, matcher.threads, |pair, threads| {
        one(&matcher.clone().threads(threads), &a[pair], &b[pair])
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
