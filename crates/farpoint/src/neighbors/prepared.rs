//! Two clouds that were checked and copied: what a search starts from, in this crate or in a
//! backend outside it. `farpoint-cuda` starts from here, so that it refuses what the CPU refuses,
//! in the same words, and what it finds is turned into rows of the input in one place.

use crate::cloud::Cloud;
use crate::threads::{self, both, on_threads};
use crate::{Error, Matcher, Nearest, Norm, Points, Scalar};

/// With fewer points in both clouds, waking other threads would take longer than the work.
const SMALL: usize = 1 << 13;

/// Two clouds without their bad rows, neither of them empty.
pub struct Prepared<T> {
    pub(super) clouds: [Cloud<T>; 2],
    /// Rows of the caller's clouds, bad ones among them.
    rows: [usize; 2],
    dims: usize,
    pub(super) norm: Norm,
}

impl<T: Scalar> Prepared<T> {
    /// Checks and copies both clouds, as [`Matcher::chamfer`] does.
    ///
    /// # Errors
    /// As [`Matcher::chamfer`].
    pub fn new<A, B>(matcher: &Matcher, a: &A, b: &B) -> Result<Self, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        with(None, matcher, a, b, |pair, _| pair)
    }

    /// The same for each pair of a batch; the error names the first pair at fault.
    ///
    /// # Errors
    /// As [`Matcher::chamfer_batch`].
    pub fn batch<A: Points<T>, B: Points<T>>(
        matcher: &Matcher,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Self>, Error> {
        each(None, a, b, |threads, a, b| with(Some(threads), matcher, a, b, |pair, _| pair))
    }

    /// Points of a cloud that are left.
    pub fn points(&self, side: usize) -> usize {
        self.clouds[side].len
    }

    /// Coordinates of a point; one that is 0 if points have none.
    pub fn dims(&self) -> usize {
        self.dims.max(1)
    }

    /// The coordinates of all points of a cloud on one axis.
    pub fn axis(&self, side: usize, axis: usize) -> &[T] {
        &self.clouds[side].axes[axis][..self.clouds[side].len]
    }

    /// What was found for the points of a cloud, as it is for the rows of the input. `None` if an
    /// index is outside the other cloud, or there are too few.
    pub fn nearest(&self, side: usize, distances: &[T], indices: &[i64]) -> Option<Nearest<T>> {
        let (own, other) = (&self.clouds[side], &self.clouds[1 - side]);
        if distances.len() != own.len || indices.len() != own.len {
            return None;
        }
        let mut found = self.empty(side);
        for (point, (&distance, &index)) in (0u32..).zip(distances.iter().zip(indices)) {
            let nearest =
                u32::try_from(index).ok().filter(|&index| (index as usize) < other.len)?;
            let row = own.row(point);
            found.raw_distances[row] = distance;
            found.indices[row] = other.row(nearest) as u32;
        }
        Some(found)
    }

    /// A result for one of the clouds, to be filled in.
    pub(super) fn empty(&self, side: usize) -> Nearest<T> {
        let (rows, kept) = (self.rows[side], self.clouds[side].len);
        let (distance, index) = match rows == kept {
            true => (T::ZERO, 0),
            false => (T::from_f64(f64::NAN), Nearest::<T>::NONE),
        };
        Nearest {
            raw_distances: vec![distance; rows],
            indices: vec![index; rows],
            norm: self.norm,
            dropped: rows - kept,
        }
    }
}

/// Checks and copies both clouds, then works on them on so many threads; `work` is given their
/// number.
pub(super) fn with<T: Scalar, A, B, R: Send>(
    threads: Option<usize>,
    matcher: &Matcher,
    a: &A,
    b: &B,
    work: impl FnOnce(Prepared<T>, usize) -> R + Send,
) -> Result<R, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    let large = a.len().saturating_add(b.len()) >= SMALL;
    let wanted = threads::count_for(large, threads)?;
    if a.dim() != b.dim() {
        return Err(Error::Shape(format!(
            "points of {} coordinates cannot be compared with points of {}",
            a.dim(),
            b.dim()
        )));
    }
    let threads = if large { wanted } else { 1 };
    on_threads(threads, || {
        let share = share(threads, a.len(), b.len());
        let (first, second) = both(
            threads,
            || copy(matcher, a, share, "first"),
            || copy(matcher, b, share, "second"),
        );
        let clouds = [first?, second?];
        let (rows, dims) = ([a.len(), b.len()], a.dim());
        Ok(work(Prepared { clouds, rows, dims, norm: matcher.norm }, threads))
    })
}

/// The threads for each of two pieces of work side by side: half of them if the clouds are of
/// about one size, or else all, for most of the time only one of the clouds is worked on.
pub(super) fn share(threads: usize, a: usize, b: usize) -> usize {
    if a.max(b) / 2 < a.min(b) { threads.div_ceil(2) } else { threads }
}

/// What `one` gives for each pair, on the threads that it is given: large pairs one after another on
/// all of them, small ones side by side.
pub(super) fn each<T: Scalar, A: Points<T>, B: Points<T>, R: Send>(
    threads: Option<usize>,
    a: &[A],
    b: &[B],
    one: impl Fn(usize, &A, &B) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    if a.len() != b.len() {
        return Err(Error::Shape(format!(
            "a batch of {} clouds cannot be compared with one of {}",
            a.len(),
            b.len()
        )));
    }
    let sizes: Vec<_> = a.iter().zip(b).map(|(a, b)| a.len().saturating_add(b.len())).collect();
    threads::spread(&sizes, SMALL, threads, |pair, threads| one(threads, &a[pair], &b[pair]))
}

/// The working copy of a cloud.
fn copy<T: Scalar, P: Points<T> + ?Sized>(
    matcher: &Matcher,
    points: &P,
    threads: usize,
    which: &'static str,
) -> Result<Cloud<T>, Error> {
    let copied = Cloud::new(points, matcher.bad_rows, threads);
    let filled = copied.and_then(|cloud| match cloud.len {
        0 => Err(Error::EmptyCloud),
        _ => Ok(cloud),
    });
    filled.map_err(|source| Error::InPair { which, source: Box::new(source) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BadRows;

    /// What a backend finds for points is translated to rows.
    #[test]
    fn rows_left_out_have_no_nearest_and_are_no_points_nearest() {
        let matcher = Matcher::new().bad_rows(BadRows::Skip);
        let a = [[f32::NAN], [1.0], [5.0]];
        let b = [[2.0f32], [f32::INFINITY], [4.0]];
        let pair = Prepared::new(&matcher, &a[..], &b[..]).unwrap();
        assert_eq!((pair.points(0), pair.points(1), pair.dims()), (2, 2, 1));
        assert_eq!(pair.axis(1, 0), [2.0, 4.0]);
        let found = pair.nearest(0, &[1.0, 1.0], &[0, 1]).unwrap();
        let truth = matcher.nearest(&a[..], &b[..]).unwrap();
        assert_eq!((&found.indices, found.dropped), (&truth.indices, truth.dropped));
        assert_eq!(found.raw_distances[1..], truth.raw_distances[1..]);
        assert!(found.raw_distances[0].is_nan());
        for wrong in [[0, 2], [-1, 0]] {
            assert!(pair.nearest(0, &[1.0, 1.0], &wrong).is_none());
        }
        assert!(pair.nearest(0, &[1.0], &[0]).is_none());
    }
}
