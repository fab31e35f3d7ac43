//! Gradients: from those of the distances to those of the coordinates.

use crate::threads::prelude::*;
use crate::threads::{self, both, on_threads};
use crate::{Chamfer, Error, Gradients, Nearest, Norm, Points, Scalar};

/// The gradients of both clouds, from the gradients `grad_a` of `chamfer.a_to_b.raw_distances` and
/// `grad_b` of `chamfer.b_to_a.raw_distances` (one number per point).
///
/// The distance of a point `p` to its nearest `q` with gradient `g` sends `(2 * g) * (p - q)`
/// to `p` and the negative of it to `q` ([`Norm::One`]: `g` times the sign of the difference). A
/// point adds up what it is sent in a fixed order: its own part, then those of the points whose
/// nearest it is, by ascending index. So the same bits come out on every run, whatever the
/// number of threads. Rows that were left out send nothing and get 0.
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

/// The gradients, on so many threads.
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
    check(chamfer, a, b, grad_a, grad_b)?;
    let large = a.len().saturating_add(b.len()) >= SMALL;
    let wanted = threads::count_for(large, threads)?;
    let threads = if large { wanted } else { 1 };
    let of_a = Side { own: &chamfer.a_to_b, grad: grad_a, from: &chamfer.b_to_a, sent: grad_b };
    let of_b = Side { own: &chamfer.b_to_a, grad: grad_b, from: &chamfer.a_to_b, sent: grad_a };
    let parts = threads.div_ceil(2);
    on_threads(threads, || {
        let (a, b) = both(threads, || of_a.gradients(a, b, parts), || of_b.gradients(b, a, parts));
        Ok(Gradients { a, b })
    })
}

/// Fewer points are handled by one thread.
const SMALL: usize = 1 << 14;

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
    if a.dim() != b.dim() {
        let (a, b) = (a.dim(), b.dim());
        return Err(Error::Shape(format!("points of {a} coordinates against points of {b}")));
    }
    check_side(&chamfer.a_to_b, a.len(), b.len(), grad_a, "first")?;
    check_side(&chamfer.b_to_a, b.len(), a.len(), grad_b, "second")
}

fn check_side<T: Scalar>(
    nearest: &Nearest<T>,
    points: usize,
    others: usize,
    grad: &[T],
    which: &'static str,
) -> Result<(), Error> {
    let in_cloud = |source| Error::InPair { which, source: Box::new(source) };
    if nearest.indices.len() != points || grad.len() != points {
        return Err(in_cloud(Error::Shape(format!(
            "{points} points, but {} nearest points and {} gradients",
            nearest.indices.len(),
            grad.len()
        ))));
    }
    let wrong = |index: &u32| *index as usize >= others && *index != Nearest::<T>::NONE;
    match nearest.indices.iter().position(wrong) {
        None => Ok(()),
        Some(row) => {
            let index = nearest.indices[row] as usize;
            Err(in_cloud(Error::NearestOutOfRange { row, index, points: others }))
        }
    }
}

/// What the gradients of one cloud are made of.
struct Side<'a, T> {
    /// The nearest points of this cloud's points, and the gradients of their distances.
    own: &'a Nearest<T>,
    grad: &'a [T],
    /// The other cloud's points, those that have one of ours as nearest send theirs.
    from: &'a Nearest<T>,
    sent: &'a [T],
}

impl<T: Scalar> Side<'_, T> {
    /// The gradients of `points`, by stretches of the cloud for several threads.
    fn gradients<A, B>(&self, points: &A, others: &B, parts: usize) -> Vec<T>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        let dim = points.dim();
        if dim == 0 {
            return Vec::new();
        }
        let mut gradients = vec![T::ZERO; points.len() * dim];
        let stretch = points.len().div_ceil(parts).max(1);
        let fill = |(k, rows): (usize, &mut [T])| {
            self.own_parts(points, others, k * stretch, rows);
            self.parts_sent(points, others, k * stretch, rows);
        };
        match parts {
            1 => gradients.chunks_mut(stretch * dim).enumerate().for_each(fill),
            _ => gradients.par_chunks_mut(stretch * dim).enumerate().for_each(fill),
        }
        gradients
    }

    /// What the points from `first` on get by their own distances.
    fn own_parts<A, B>(&self, points: &A, others: &B, first: usize, rows: &mut [T])
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        let dim = points.dim();
        for (point, row) in (first..).zip(rows.chunks_exact_mut(dim)) {
            let nearest = self.own.indices[point];
            if nearest == Nearest::<T>::NONE {
                continue;
            }
            for (axis, value) in row.iter_mut().enumerate() {
                let p = points.coordinate(point, axis);
                let q = others.coordinate(nearest as usize, axis);
                *value = part(self.own.norm, self.grad[point], p, q);
            }
        }
    }

    /// What the points from `first` on are sent by those whose nearest they are.
    fn parts_sent<A, B>(&self, points: &A, others: &B, first: usize, rows: &mut [T])
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        let dim = points.dim();
        let count = rows.len() / dim;
        for (other, &nearest) in self.from.indices.iter().enumerate() {
            // Not in this stretch, or none.
            let place = (nearest as usize).wrapping_sub(first);
            if place >= count {
                continue;
            }
            let row = &mut rows[place * dim..][..dim];
            for (axis, value) in row.iter_mut().enumerate() {
                let p = others.coordinate(other, axis);
                let q = points.coordinate(nearest as usize, axis);
                *value = *value - part(self.from.norm, self.sent[other], p, q);
            }
        }
    }
}

/// The gradient of the distance of `p` and `q` along an axis, times `g`.
#[inline(always)]
fn part<T: Scalar>(norm: Norm, g: T, p: T, q: T) -> T {
    match norm {
        Norm::Two => (g + g) * (p - q),
        Norm::One if p > q => g,
        Norm::One if p < q => T::ZERO - g,
        Norm::One => T::ZERO,
    }
}
