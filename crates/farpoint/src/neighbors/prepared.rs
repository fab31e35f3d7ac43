//! Two checked and copied clouds: the start of a search, in this crate or in a backend outside it.
//! `farpoint-cuda` starts from here, so that its errors are those of the CPU, in the same words,
//! and its results are translated to rows of the input in one place.

use crate::cloud::WorkingCopy;
use crate::memory;
use crate::points::erased;
use crate::scalar::compiled_once;
use crate::threads::{self, both, on_threads};
use crate::unwind::caught;
use crate::{
    Error, Matcher, Nearest, Neighbors, NonFinite, Norm, Points, Scalar, Searcher, WithinBall,
};

/// With fewer points in both clouds, waking other threads would take longer than the work.
const SMALL: usize = 1 << 13;

/// Two clouds without their non-finite rows. Only the first may be empty, and the second with it: a search of nothing.
pub struct Prepared<T> {
    clouds: [WorkingCopy<T>; 2],
    /// Rows of the caller's clouds, including bad ones.
    rows: [usize; 2],
    dims: usize,
    norm: Norm,
}

compiled_once! {
    fn prepare<'a, T: Scalar>(
        matcher: &'a Matcher,
        both: bool,
        a: &'a dyn Points<T>,
        b: &'a dyn Points<T>,
    ) -> Result<Prepared<T>, Error> {
        caught(|| Prepared::with_threads(None, matcher, both, a, b))
    }
}

compiled_once! {
    fn prepare_each<'a, T: Scalar>(
        matcher: &'a Matcher,
        both: bool,
        a: &'a [&'a dyn Points<T>],
        b: &'a [&'a dyn Points<T>],
    ) -> Result<Vec<Prepared<T>>, Error> {
        caught(|| each(None, a, b, |threads, a, b| Prepared::with_threads(Some(threads), matcher, both, a, b)))
    }
}

impl<T: Scalar> Prepared<T> {
    /// Checks and copies both clouds, like [`Matcher::chamfer`] if both directions are searched, else like
    /// [`Matcher::nearest`].
    ///
    /// # Errors
    /// Same as these.
    pub fn new<A, B>(matcher: &Matcher, both: bool, a: &A, b: &B) -> Result<Self, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        prepare(matcher, both, &a, &b)
    }

    fn with_threads(
        threads: Option<usize>,
        matcher: &Matcher,
        both_ways: bool,
        a: &dyn Points<T>,
        b: &dyn Points<T>,
    ) -> Result<Self, Error> {
        let threads = threads_for(threads, a, b)?;
        on_threads(threads, || {
            let share = share(threads, a.len(), b.len());
            let (first, second) = both(
                threads,
                || copy(matcher.non_finite, a, share, "first"),
                || copy(matcher.non_finite, b, share, "second"),
            );
            let (clouds, rows, dims) = ([first?, second?], [a.len(), b.len()], a.dim());
            check_filled(both_ways, clouds.each_ref())?;
            Ok(Self { clouds, rows, dims, norm: matcher.norm })
        })
    }

    /// Checks and copies each pair of a batch like [`Self::new`]; the error names the first pair at fault.
    ///
    /// # Errors
    /// Same as [`Matcher::chamfer_batch`].
    pub fn batch<A: Points<T>, B: Points<T>>(
        matcher: &Matcher,
        both: bool,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Self>, Error> {
        prepare_each(matcher, both, &erased(a), &erased(b))
    }

    /// Returns the number of remaining points of a cloud.
    pub fn points(&self, side: usize) -> usize {
        self.clouds[side].len
    }

    /// Returns the number of coordinates of a point; 1 (all 0) if points have none.
    pub fn dims(&self) -> usize {
        self.dims.max(1)
    }

    /// Returns the coordinates of all points of a cloud on one axis.
    pub fn axis(&self, side: usize, axis: usize) -> &[T] {
        &self.clouds[side].axes[axis][..self.clouds[side].len]
    }

    /// Translates a result for the points of a cloud to the rows of the input. `None` if an
    /// index is outside the other cloud, or there are too few.
    pub fn nearest(&self, side: usize, distances: &[T], indices: &[i64]) -> Option<Nearest<T>> {
        let (queries, targets) = (&self.clouds[side], &self.clouds[1 - side]);
        if distances.len() != queries.len || indices.len() != queries.len {
            return None;
        }
        let mut found = empty(self.rows[side], queries.len, self.norm);
        for (point, (&distance, &index)) in (0u32..).zip(distances.iter().zip(indices)) {
            let row = queries.place(point);
            found.raw_distances[row] = distance;
            found.indices[row] = row_of(targets, index)?;
        }
        Some(found)
    }

    /// Returns, for each point of the first cloud, the point of the second that is the same row, or -1: a
    /// search with `exclude_self` leaves it out.
    pub fn own(&self) -> Vec<i64> {
        let [x, y] = &self.clouds;
        memory::collected(
            (0..x.len as u32).map(|query| y.point(x.row(query)).map_or(-1, i64::from)),
        )
    }

    /// Translates a result for the points of the first cloud, `k` places each, to the rows of the
    /// input. Places from a point's count on are ignored. `None` if a number does not fit.
    pub fn neighbors(
        &self,
        searcher: &Searcher,
        distances: &[T],
        indices: &[i64],
        counts: &[i64],
    ) -> Option<Neighbors<T>> {
        let (k, [x, y], rows) = (searcher.k, &self.clouds, self.rows[0]);
        let fits = |len: usize| Some(len) == x.len.checked_mul(k);
        if counts.len() != x.len || !fits(distances.len()) || !fits(indices.len()) {
            return None;
        }
        let mut found = Neighbors {
            all_distances: memory::filled(rows.saturating_mul(k), T::INFINITY),
            all_indices: memory::filled(rows.saturating_mul(k), Neighbors::<T>::NONE),
            counts: memory::zeros(rows),
            k,
            norm: self.norm,
            dropped: rows - x.len,
        };
        for (query, &count) in counts.iter().enumerate() {
            let row = x.place(query as u32);
            let count = usize::try_from(count).ok().filter(|&count| count <= k)?;
            found.counts[row] = count as u32;
            for place in 0..count {
                let from = query * k + place;
                found.all_indices[row * k + place] = row_of(y, indices[from])?;
                found.all_distances[row * k + place] = distances[from];
            }
        }
        Some(found)
    }

    /// Translates all neighbors of the points of the first cloud, those of point `i` from `offsets[i]` on, to
    /// the rows of the input. `None` if a number does not fit.
    pub fn within(
        &self,
        offsets: &[usize],
        distances: Vec<T>,
        indices: &[i64],
    ) -> Option<WithinBall<T>> {
        let ([x, y], rows) = (&self.clouds, self.rows[0]);
        let ends = (offsets.first(), offsets.last());
        let all = indices.len();
        let ascend = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        if offsets.len() != x.len + 1 || !ascend || ends != (Some(&0), Some(&all)) {
            return None;
        }
        let row = |&index: &i64| row_of(y, index).ok_or(());
        let indices = memory::try_collected(indices.iter().map(row)).ok()?;
        // Rows left out have no neighbors, so that only the offsets are spread.
        let mut of_rows = memory::zeros(rows + 1);
        for query in 0..x.len {
            of_rows[x.place(query as u32) + 1] = offsets[query + 1] - offsets[query];
        }
        (1..=rows).for_each(|row| of_rows[row] += of_rows[row - 1]);
        let complete = distances.len() == all;
        complete.then_some(WithinBall {
            indices,
            raw_distances: distances,
            offsets: of_rows,
            norm: self.norm,
            dropped: rows - x.len,
        })
    }
}

/// Returns a result for a cloud of `rows` rows and `points` points, to be filled in.
pub(super) fn empty<T: Scalar>(rows: usize, points: usize, norm: Norm) -> Nearest<T> {
    let (raw_distances, indices) = match rows == points {
        true => (memory::zeros(rows), memory::zeros(rows)),
        false => {
            let nan = T::from_f64(f64::NAN);
            (memory::filled(rows, nan), memory::filled(rows, Nearest::<T>::NONE))
        }
    };
    Nearest { raw_distances, indices, norm, dropped: rows - points }
}

/// Returns the row of a point by its index; `None` if there is no such point.
fn row_of<T: Scalar>(cloud: &WorkingCopy<T>, index: i64) -> Option<u32> {
    let point = u32::try_from(index).ok().filter(|&point| (point as usize) < cloud.len)?;
    Some(cloud.row(point) as u32)
}

/// Returns the number of threads for a search, of those requested; an error if the points of both clouds have
/// different numbers of coordinates.
pub(super) fn threads_for<T: Scalar>(
    requested: Option<usize>,
    a: &dyn Points<T>,
    b: &dyn Points<T>,
) -> Result<usize, Error> {
    let threads = threads_for_points(requested, a.len().saturating_add(b.len()))?;
    if a.dim() != b.dim() {
        return Err(Error::Shape(format!(
            "points of {} coordinates cannot be compared with points of {}",
            a.dim(),
            b.dim()
        )));
    }
    Ok(threads)
}

/// Returns the number of threads for `points` points, of those requested.
pub(super) fn threads_for_points(requested: Option<usize>, points: usize) -> Result<usize, Error> {
    let large = points >= SMALL;
    let count = threads::count_for(large, requested)?;
    Ok(if large { count } else { 1 })
}

/// Returns the threads for each of two pieces of work side by side: half of them if the clouds are of
/// about one size, or else all, for most of the time only one of the clouds is worked on.
pub(super) fn share(threads: usize, a: usize, b: usize) -> usize {
    if a.max(b) / 2 < a.min(b) { threads.div_ceil(2) } else { threads }
}

/// Returns the result of `one` for each pair, on the threads passed to it: large pairs one after another on
/// all of them, small ones side by side.
pub(super) fn each<T: Scalar, R: Send>(
    threads: Option<usize>,
    a: &[&dyn Points<T>],
    b: &[&dyn Points<T>],
    one: impl Fn(usize, &dyn Points<T>, &dyn Points<T>) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    if a.len() != b.len() {
        return Err(Error::Shape(format!(
            "a batch of {} clouds cannot be compared with one of {}",
            a.len(),
            b.len()
        )));
    }
    let sizes = memory::collected(a.iter().zip(b).map(|(a, b)| a.len().saturating_add(b.len())));
    threads::spread(&sizes, SMALL, threads, |pair, threads| one(threads, a[pair], b[pair]))
}

/// Returns the working copy of a cloud.
pub(super) fn copy<T: Scalar>(
    non_finite: NonFinite,
    points: &dyn Points<T>,
    threads: usize,
    which: &'static str,
) -> Result<WorkingCopy<T>, Error> {
    let copied = WorkingCopy::new(points, non_finite, threads);
    copied.map_err(|source| Error::InPair { which, source: Box::new(source) })
}

/// Refuses points to be compared with an empty cloud: the second, and the first if both directions are searched.
/// Without queries there is nothing to compare.
pub(super) fn check_filled<T>(both_ways: bool, clouds: [&WorkingCopy<T>; 2]) -> Result<(), Error> {
    let which = match clouds.map(|cloud| cloud.len) {
        [0, _] if both_ways => "first",
        [queries, 0] if queries > 0 => "second",
        _ => return Ok(()),
    };
    Err(Error::InPair { which, source: Box::new(Error::EmptyCloud) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of a backend for points are translated to rows.
    #[test]
    fn skipped_rows_have_no_nearest_and_are_never_nearest() {
        let matcher = Matcher::new().non_finite(NonFinite::Skip);
        let a = [[f32::NAN], [1.0], [5.0]];
        let b = [[2.0f32], [f32::INFINITY], [4.0]];
        let pair = Prepared::new(&matcher, false, &a[..], &b[..]).unwrap();
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

    #[test]
    fn neighbors_of_points_become_neighbors_of_rows() {
        let searcher = Searcher::ball(2.5, 2).non_finite(NonFinite::Skip);
        let matcher = Matcher::new().non_finite(NonFinite::Skip);
        let x = [[1.0f32], [f32::NAN], [5.0]];
        let y = [[f32::INFINITY], [2.0f32], [4.0]];
        let pair = Prepared::new(&matcher, false, &x[..], &y[..]).unwrap();
        assert_eq!(pair.own(), [-1, 1]);
        let found = pair.neighbors(&searcher, &[1.0, 9.0, 1.0, 9.0], &[0, 7, 1, -1], &[1, 1]);
        assert_eq!(found, Some(searcher.search(&x, &y).unwrap()));
        assert!(pair.neighbors(&searcher, &[1.0; 4], &[0, 2, 0, 0], &[2, 0]).is_none());
        assert!(pair.neighbors(&searcher, &[1.0; 4], &[0; 4], &[3, 0]).is_none());
        assert!(pair.neighbors(&searcher, &[1.0; 3], &[0; 4], &[1, 0]).is_none());
        let found = pair.within(&[0, 1, 2], vec![1.0, 1.0], &[0, 1]);
        assert_eq!(found, Some(searcher.within(&x, &y).unwrap()));
        assert!(pair.within(&[0, 1, 2], vec![1.0], &[0, 1]).is_none());
        assert!(pair.within(&[0, 2, 1], vec![1.0; 2], &[0, 1]).is_none());
        assert!(pair.within(&[0, 1, 2], vec![1.0; 2], &[0, 2]).is_none());
    }
}
