//! Gradients of coordinates from gradients of distances, summed in a fixed order. Threads work on
//! ranges of a cloud.

use crate::memory;
use crate::threads::for_each_chunk;
use crate::threads::{self, both, on_threads};
use crate::unwind::caught;
use crate::{Error, Gradients, Neighbors, Norm, Points, Scalar};
use std::borrow::Cow;
use std::ops::Range;

/// Distances from rows of a cloud (`senders`) to rows of another, and the gradient of each.
#[derive(Clone, Copy)]
pub(super) struct Distances<'a, T> {
    /// The row of the other cloud; [`Neighbors::NONE`] if there is no distance.
    pub(super) indices: &'a [u32],
    pub(super) gradients: &'a [T],
    pub(super) places: Places<'a>,
    pub(super) norm: Norm,
}

/// Ranges of the distances of each row.
#[derive(Clone, Copy)]
pub(super) enum Places<'a> {
    /// A fixed number per row.
    Each(usize),
    /// From the row's offset to the next.
    Offsets(&'a [usize]),
}

impl Places<'_> {
    fn of(self, row: usize) -> Range<usize> {
        match self {
            Self::Each(k) => row * k..(row + 1) * k,
            Self::Offsets(offsets) => offsets[row]..offsets[row + 1],
        }
    }
}

impl<T: Scalar> Distances<'_, T> {
    /// Checks that they are distances from `rows` rows to `others`.
    ///
    /// # Errors
    /// If numbers of indices or gradients do not match, or an index is outside the other cloud.
    pub(super) fn check(&self, rows: usize, others: usize) -> Result<(), Error> {
        let all = match self.places {
            Places::Each(k) => rows.checked_mul(k),
            Places::Offsets(offsets) => {
                let ascend = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
                let valid = offsets.len() == rows + 1 && offsets[0] == 0 && ascend;
                valid.then(|| offsets[rows])
            }
        };
        let (indices, gradients) = (self.indices.len(), self.gradients.len());
        if all != Some(indices) || indices != gradients {
            return Err(Error::Shape(format!(
                "{rows} points, but {indices} nearest points and {gradients} gradients"
            )));
        }
        let wrong = |index: &u32| *index as usize >= others && *index != Neighbors::<T>::NONE;
        match self.indices.iter().position(wrong) {
            None => Ok(()),
            Some(place) => {
                let row = match self.places {
                    Places::Each(k) => place / k,
                    Places::Offsets(offsets) => offsets.partition_point(|&end| end <= place) - 1,
                };
                let index = self.indices[place] as usize;
                Err(Error::NearestOutOfRange { row, index, points: others })
            }
        }
    }

    /// Computes the contributions to the senders from `first` on of their own distances, added to `from` by
    /// ascending place; 0 for senders without distances.
    pub(super) fn add_to_senders<A, B>(
        &self,
        senders: &A,
        others: &B,
        first: usize,
        rows: &mut [T],
        from: T,
    ) where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        let dim = senders.dim();
        for (sender, row) in (first..).zip(rows.chunks_exact_mut(dim)) {
            let places = self.places.of(sender);
            let mut present = places.filter(|&place| self.indices[place] != Neighbors::<T>::NONE);
            let Some(first_place) = present.next() else { continue };
            row.fill(from);
            for place in std::iter::once(first_place).chain(present) {
                let other = self.indices[place] as usize;
                for (axis, value) in row.iter_mut().enumerate() {
                    let (p, q) = (senders.coordinate(sender, axis), others.coordinate(other, axis));
                    *value = *value + part(self.norm, self.gradients[place], p, q);
                }
            }
        }
    }

    /// Computes the contributions of the distances to the points from `first` on, by ascending sender and place.
    pub(super) fn add_to_targets<A, B>(&self, points: &A, senders: &B, first: usize, rows: &mut [T])
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        let dim = points.dim();
        let count = rows.len() / dim;
        for sender in 0..senders.len() {
            for place in self.places.of(sender) {
                // Not in this stretch, or no distance.
                let at = (self.indices[place] as usize).wrapping_sub(first);
                if at >= count {
                    continue;
                }
                for (axis, value) in rows[at * dim..][..dim].iter_mut().enumerate() {
                    let p = senders.coordinate(sender, axis);
                    let q = points.coordinate(first + at, axis);
                    *value = *value - part(self.norm, self.gradients[place], p, q);
                }
            }
        }
    }
}

/// Fewer distances are handled by one thread.
const SMALL: usize = 1 << 14;

/// Computes the gradients of both clouds, from `distances` distances, on `threads` threads: each cloud's are
/// filled in by a function of the first row of a stretch and the stretch's numbers, which are 0.
pub(super) fn of_both<T: Scalar, A, B>(
    threads: Option<usize>,
    distances: usize,
    (a, b): (&A, &B),
    of_a: impl Fn(usize, &mut [T]) + Send + Sync,
    of_b: impl Fn(usize, &mut [T]) + Send + Sync,
) -> Result<Gradients<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    let large = distances >= SMALL;
    let available = threads::count_for(large, threads)?;
    let threads = if large { available } else { 1 };
    let parts = threads.div_ceil(2);
    let (a, b) = ([a.len(), a.dim()], [b.len(), b.dim()]);
    caught(|| {
        on_threads(threads, || {
            let of_a = || by_stretches(a, parts, of_a);
            let of_b = || by_stretches(b, parts, of_b);
            let (a, b) = both(threads, of_a, of_b);
            Ok(Gradients { a, b })
        })
    })
}

/// Checks that the points of two clouds have the same number of coordinates.
///
/// # Errors
/// If they differ.
pub(super) fn check_dims<T: Scalar, A, B>(a: &A, b: &B) -> Result<(), Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    match (a.dim(), b.dim()) {
        (a, b) if a == b => Ok(()),
        (a, b) => Err(Error::Shape(format!(
            "points of {a} coordinates cannot be compared with points of {b}"
        ))),
    }
}

/// Computes the gradients of a cloud: `fill` takes each stretch's first row, and its numbers, which are 0.
fn by_stretches<T: Scalar>(
    [points, dim]: [usize; 2],
    parts: usize,
    fill: impl Fn(usize, &mut [T]) + Send + Sync,
) -> Vec<T> {
    if dim == 0 {
        return Vec::new();
    }
    let mut gradients = memory::zeros(points.saturating_mul(dim));
    let stretch = points.div_ceil(parts).max(1);
    for_each_chunk(&mut gradients, stretch * dim, parts, |k, rows| fill(k * stretch, rows));
    gradients
}

/// Translates rows of a cloud to places among its points: other numbers if some of its rows were selected.
///
/// # Errors
/// If a row is not selected.
pub(super) fn placed<'i, T: Scalar, P: Points<T> + ?Sized>(
    indices: &'i [u32],
    points: &P,
) -> Result<Cow<'i, [u32]>, Error> {
    let Some(subset) = points.subset() else { return Ok(Cow::Borrowed(indices)) };
    let place = |&row: &u32| match subset.place(row as usize) {
        Some(place) => Ok(place as u32),
        None if row == Neighbors::<T>::NONE => Ok(row),
        None => Err(Error::NotSelected { what: "nearest", index: row as usize }),
    };
    memory::try_collected(indices.iter().map(place)).map(Cow::Owned)
}

/// Returns the gradient of the distance of `p` and `q` along an axis, times `g`.
#[inline(always)]
fn part<T: Scalar>(norm: Norm, g: T, p: T, q: T) -> T {
    match norm {
        Norm::Two => (g + g) * (p - q),
        Norm::One if p > q => g,
        Norm::One if p < q => T::ZERO - g,
        Norm::One => T::ZERO,
    }
}
