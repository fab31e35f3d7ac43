//! Gradients of coordinates from gradients of distances.

use super::gradients::{self, Distances, Places, check_dims, of_both};
use crate::unwind::caught;
use crate::{Chamfer, Error, Gradients, Nearest, Points, Scalar, memory};
use std::borrow::Cow;

/// Returns the gradients of both clouds, from the gradients `grad_a` of `chamfer.a_to_b.raw_distances` and
/// `grad_b` of `chamfer.b_to_a.raw_distances` (one number per point).
///
/// The distance of a point `p` to its nearest `q` with gradient `g` contributes `(2 * g) * (p - q)`
/// to `p` and the negative of it to `q` ([`crate::Norm::One`]: `g` times the sign of the difference). A
/// point adds its contributions in a fixed order: its own part, then those of the points whose
/// nearest it is, by ascending index. So the bits are the same on every run, whatever the
/// number of threads. Rows that were left out contribute nothing and get 0.
///
/// ```
/// use farpoint::neighbors::backward;
/// let (a, b) = ([[0.0f32], [5.0]], [[1.0f32]]);
/// let chamfer = farpoint::chamfer(&a, &b)?;
/// // Of the sum of the two means, `chamfer.sum()`.
/// let gradients = backward(&chamfer, &a, &b, &[0.5, 0.5], &[1.0])?;
/// assert_eq!(gradients.a, [-1.0 - 2.0, 4.0]);
/// assert_eq!(gradients.b, [2.0 + 1.0 - 4.0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// [`crate::Matcher::on`] runs it on a given number of threads, or on a GPU.
///
/// # Errors
/// If clouds, result and gradients do not fit each other.
pub fn backward<T: Scalar, A, B>(
    chamfer: &Chamfer<T>,
    a: &A,
    b: &B,
    grad_a: &[T],
    grad_b: &[T],
) -> Result<Gradients<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    run(None, chamfer, a, b, [grad_a, grad_b])
}

/// Computes the gradients on `threads` threads.
pub(crate) fn run<T: Scalar, A, B>(
    threads: Option<usize>,
    chamfer: &Chamfer<T>,
    a: &A,
    b: &B,
    [grad_a, grad_b]: [&[T]; 2],
) -> Result<Gradients<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    let chamfer = &*caught(|| placed(chamfer, a, b))?;
    check(chamfer, a, b, grad_a, grad_b)?;
    let (a_to_b, b_to_a) = (side(&chamfer.a_to_b, grad_a), side(&chamfer.b_to_a, grad_b));
    // A single part is left as it is, the sign of a zero too.
    let from = T::from_f64(-0.0);
    let of_a = |first, rows: &mut [T]| {
        a_to_b.add_to_senders(a, b, first, rows, from);
        b_to_a.add_to_targets(a, b, first, rows);
    };
    let of_b = |first, rows: &mut [T]| {
        b_to_a.add_to_senders(b, a, first, rows, from);
        a_to_b.add_to_targets(b, a, first, rows);
    };
    of_both(threads, a.len().saturating_add(b.len()), (a, b), of_a, of_b)
}

fn side<'a, T: Scalar>(nearest: &'a Nearest<T>, gradients: &'a [T]) -> Distances<'a, T> {
    let (indices, norm) = (&nearest.indices, nearest.norm);
    Distances { indices, gradients, places: Places::Each(1), norm }
}

/// Translates the rows of a result of selected points to places among the points; backends
/// outside this crate call it too.
///
/// # Errors
/// If a row is not selected.
pub fn placed<'c, T: Scalar, A, B>(
    chamfer: &'c Chamfer<T>,
    a: &A,
    b: &B,
) -> Result<Cow<'c, Chamfer<T>>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    if a.subset().is_none() && b.subset().is_none() {
        return Ok(Cow::Borrowed(chamfer));
    }
    let in_pair = |which, source| Error::InPair { which, source: Box::new(source) };
    let translate = |nearest: &Nearest<T>, indices: Result<Cow<'_, [u32]>, Error>, which| {
        let indices = indices.map_err(|error| in_pair(which, error))?;
        let raw_distances = memory::collected(nearest.raw_distances.iter().copied());
        let indices = memory::collected(indices.iter().copied());
        Ok(Nearest { raw_distances, indices, norm: nearest.norm, dropped: nearest.dropped })
    };
    let a_to_b =
        translate(&chamfer.a_to_b, gradients::placed(&chamfer.a_to_b.indices, b), "second")?;
    let b_to_a =
        translate(&chamfer.b_to_a, gradients::placed(&chamfer.b_to_a.indices, a), "first")?;
    Ok(Cow::Owned(Chamfer { a_to_b, b_to_a }))
}

/// Checks that clouds, result and gradients fit each other; backends outside this crate call it too.
///
/// # Errors
/// If they do not.
pub fn check<T: Scalar, A, B>(
    chamfer: &Chamfer<T>,
    a: &A,
    b: &B,
    grad_a: &[T],
    grad_b: &[T],
) -> Result<(), Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    check_dims(a, b)?;
    let in_pair = |which, checked: Result<(), Error>| {
        checked.map_err(|source| Error::InPair { which, source: Box::new(source) })
    };
    in_pair("first", side(&chamfer.a_to_b, grad_a).check(a.len(), b.len()))?;
    in_pair("second", side(&chamfer.b_to_a, grad_b).check(b.len(), a.len()))
}
