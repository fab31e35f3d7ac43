//! Gradients of the distances of several neighbors.

use crate::neighbors::gradients::{Distances, Places, check_dims, of_both, placed};
use crate::unwind::caught;
use crate::{Error, Gradients, Neighbors, Points, Scalar, WithinBall};

/// Returns the gradients of both clouds, from those of `found.all_distances`, one number per place. Numbers in
/// places without a neighbor do not count.
///
/// The distance of a point `p` of `x` to its neighbor `q` with gradient `g` contributes `(2 * g) * (p - q)` to
/// `p` and the negative of it to `q` ([`crate::Norm::One`]: `g` times the sign of the difference, 0 at
/// 0). A point of `x` adds its parts by ascending place, a point of `y` its contributions by ascending
/// row of `x` and place, both from 0. So the bits are the same on every run, whatever the number of
/// threads.
///
/// ```
/// use farpoint::{Searcher, neighbors::search_backward};
///
/// let (x, y) = ([[0.0f32]], [[1.0f32], [-3.0]]);
/// let found = Searcher::nearest(2).search(&x, &y)?;
/// let gradients = search_backward(&found, &x, &y, &[1.0, 0.5])?;
/// assert_eq!((gradients.a, gradients.b), (vec![-2.0 + 3.0], vec![2.0, -3.0]));
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// [`crate::Searcher::on`] runs it on a given number of threads.
///
/// # Errors
/// If clouds, result and gradients do not fit each other.
pub fn search_backward<T: Scalar, X, Y>(
    found: &Neighbors<T>,
    x: &X,
    y: &Y,
    gradients: &[T],
) -> Result<Gradients<T>, Error>
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    best(None, found, x, y, gradients)
}

/// Like [`search_backward`], for all neighbors in balls: from the gradients of `found.raw_distances`.
///
/// # Errors
/// If clouds, result and gradients do not fit each other.
pub fn within_backward<T: Scalar, X, Y>(
    found: &WithinBall<T>,
    x: &X,
    y: &Y,
    gradients: &[T],
) -> Result<Gradients<T>, Error>
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    all(None, found, x, y, gradients)
}

/// Computes the gradients through the best neighbors, on `threads` threads.
pub(crate) fn best<T: Scalar, X, Y>(
    threads: Option<usize>,
    found: &Neighbors<T>,
    x: &X,
    y: &Y,
    gradients: &[T],
) -> Result<Gradients<T>, Error>
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    let (indices, places) = (&*caught(|| placed(&found.all_indices, y))?, Places::Each(found.k));
    run(threads, Distances { indices, gradients, places, norm: found.norm }, x, y)
}

/// Computes the gradients through all neighbors, on `threads` threads.
pub(crate) fn all<T: Scalar, X, Y>(
    threads: Option<usize>,
    found: &WithinBall<T>,
    x: &X,
    y: &Y,
    gradients: &[T],
) -> Result<Gradients<T>, Error>
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    let (indices, places) =
        (&*caught(|| placed(&found.indices, y))?, Places::Offsets(&found.offsets));
    run(threads, Distances { indices, gradients, places, norm: found.norm }, x, y)
}

fn run<T: Scalar, X, Y>(
    threads: Option<usize>,
    distances: Distances<'_, T>,
    x: &X,
    y: &Y,
) -> Result<Gradients<T>, Error>
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    check_dims(x, y)?;
    distances.check(x.len(), y.len())?;
    let of_x = |first, rows: &mut [T]| distances.add_to_senders(x, y, first, rows, T::ZERO);
    let of_y = |first, rows: &mut [T]| distances.add_to_targets(y, x, first, rows);
    of_both(threads, distances.indices.len(), (x, y), of_x, of_y)
}
