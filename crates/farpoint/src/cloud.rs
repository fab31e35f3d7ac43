//! The working copy of a cloud: one aligned array per axis, non-finite rows found or left out, bounding box known.

use crate::memory::{Aligned, Buffer, Shared};
use crate::scalar::extremes;
use crate::threads::Team;
use crate::{Error, NonFinite, Points, Scalar, Subset};
use std::mem::MaybeUninit;

/// A cloud as structure of arrays, as algorithms read it. There are at least three axes: missing ones are zero,
/// which leaves every computed distance as it is (`x + 0.0 == x` for squares).
pub(crate) struct WorkingCopy<T> {
    /// Number of points.
    pub(crate) len: usize,
    /// One array per axis, at least three, each padded with zeros to whole vectors.
    pub(crate) axes: Buffer<Aligned<T>>,
    /// Smallest corner over the first three axes.
    pub(crate) low: [T; 3],
    /// Largest corner.
    pub(crate) high: [T; 3],
    /// Input place of each point, if non-finite rows were left out.
    places: Option<Buffer<u32>>,
    /// Rows of the whole cloud that the input points are, if they are a selection.
    subset: Option<Subset>,
}

/// Writes the coordinates of one axis, beginning at a point.
type ReadAxis<'a, T> = dyn Fn(usize, usize, &mut [MaybeUninit<T>]) + Sync + 'a;

/// Rows per task of a thread.
const BLOCK: usize = 4096;

/// Rows copied at a time: records of 64 bytes fit in the innermost cache.
const ROWS_PER_COPY: usize = 256;

/// Arrays are padded to a multiple of this, so that kernels may read whole vectors.
pub(crate) const PADDING: usize = 64;

impl<T: Scalar> WorkingCopy<T> {
    /// Like [`Self::with_team`], on `threads` threads.
    pub(crate) fn new(
        points: &dyn Points<T>,
        non_finite: NonFinite,
        threads: usize,
    ) -> Result<Self, Error> {
        let large = points.len() > 16 * BLOCK;
        Self::with_team(
            &if large { Team::new(threads) } else { Team::single() },
            points,
            non_finite,
        )
    }

    /// Copies the points, treating rows that hold NaN or infinity as `non_finite` says.
    pub(crate) fn with_team(
        team: &Team,
        points: &dyn Points<T>,
        non_finite: NonFinite,
    ) -> Result<Self, Error> {
        let (n, dim) = (points.len(), points.dim());
        if n >= u32::MAX as usize {
            return Err(Error::TooManyPoints(n));
        }
        let subset = points.subset().cloned();
        if let Some(rows) = subset.as_ref().map(|subset| subset.rows().len()).filter(|&r| r != n) {
            return Err(Error::Shape(format!("{n} points, but {rows} selected rows")));
        }
        let (mut copy, finite) = match (points.raw(), points.places()) {
            (Some(raw), None) if (raw.len(), raw.dim()) == (n, dim) => {
                Self::gather(team, n, dim, &|axis, first, to| raw.copy(axis, first, to))
            }
            (Some(raw), Some(places)) if (places.len(), raw.dim()) == (n, dim) => {
                Self::gather(team, n, dim, &|axis, first, to| raw.pick(axis, &places[first..], to))
            }
            _ => Self::gather(team, n, dim, &|axis, first, to| points.copy_axis(axis, first, to)),
        };
        copy.subset = subset;
        if finite {
            return Ok(copy);
        }
        // From here on only the copy is read, to which no other thread writes.
        let is_valid =
            |place: &u32| copy.axes.iter().all(|values| values[*place as usize].is_finite());
        let places = Buffer::collected((0..n as u32).filter(is_valid));
        if non_finite == NonFinite::Error {
            let first = (0u32..).zip(&places).find(|(place, kept)| place != *kept);
            let first = copy.row(first.map_or(places.len() as u32, |(place, _)| place));
            return Err(Error::NonFinite { first, count: n - places.len(), points: n });
        }
        let (mut kept, _) = Self::gather(team, places.len(), dim, &|axis, first, to| {
            for (value, &place) in to.iter_mut().zip(&places[first..]) {
                value.write(copy.axes[axis][place as usize]);
            }
        });
        (kept.places, kept.subset) = (Some(places), copy.subset);
        Ok(kept)
    }

    /// Copies `n` points and returns whether all their coordinates are finite. `read` takes an axis, the first
    /// point and the values to write.
    fn gather(team: &Team, n: usize, dim: usize, read: &ReadAxis<'_, T>) -> (Self, bool) {
        let padded = n.div_ceil(PADDING) * PADDING;
        let mut axes = Buffer::collected((0..dim.max(3)).map(|_| Aligned::unwritten(padded)));
        let targets = Buffer::collected(axes.iter_mut().map(|axis| Shared::new(axis)));
        // All axes of a few rows, while these are in the cache, then the next.
        let copy_rows = |first: usize, end: usize, summary: &mut Summary<T>| {
            for (axis, target) in targets.iter().enumerate() {
                // SAFETY: the rows are the block's alone, and below the array's length.
                let values = unsafe { target.part(first..end) };
                values.fill(MaybeUninit::new(T::ZERO));
                if axis >= dim {
                    continue;
                }
                let count = end.min(n).saturating_sub(first);
                read(axis, first, &mut values[..count]);
                // SAFETY: all have been written, with zeros at least.
                summary.add(axis, unsafe {
                    std::slice::from_raw_parts(values.as_ptr().cast(), count)
                });
            }
        };
        let copy = |block: usize| {
            let (mut first, end) = (block * BLOCK, (block * BLOCK + BLOCK).min(padded));
            let mut summary = Summary::default();
            while first < end {
                copy_rows(first, (first + ROWS_PER_COPY).min(end), &mut summary);
                first += ROWS_PER_COPY;
            }
            summary
        };
        let mut summary = team.map(padded.div_ceil(BLOCK), copy);
        drop(targets);
        // SAFETY: the blocks are all rows, and all of each has been written.
        let axes = Buffer::collected(axes.drain(..).map(|axis| unsafe { axis.written() }));
        let summary = summary.drain(..).fold(Summary::default(), Summary::merge);
        let ends = summary.ends.map(Option::unwrap_or_default);
        let (low, high) = (ends.map(|e| e.0), ends.map(|e| e.1));
        (Self { len: n, axes, low, high, places: None, subset: None }, !summary.has_non_finite)
    }

    /// Returns the number of axes, at least three.
    pub(crate) fn dims(&self) -> usize {
        self.axes.len()
    }

    /// Returns the point's place in the input, which indexes results per point.
    #[inline]
    pub(crate) fn place(&self, point: u32) -> usize {
        self.places.as_ref().map_or(point as usize, |places| places[point as usize] as usize)
    }

    /// Returns the point's row in the caller's cloud, the whole one if points of it were selected.
    #[inline]
    pub(crate) fn row(&self, point: u32) -> usize {
        let place = self.place(point);
        self.subset.as_ref().map_or(place, |subset| subset.row(place))
    }

    /// Returns the point of a row of the caller's cloud; `None` if the row was left out or not selected.
    pub(crate) fn point(&self, row: usize) -> Option<u32> {
        self.point_at(self.subset.as_ref().map_or(Some(row), |subset| subset.place(row))?)
    }

    /// Returns the point at a place of the input; `None` if it was left out.
    pub(crate) fn point_at(&self, place: usize) -> Option<u32> {
        match &self.places {
            None => Some(place as u32),
            Some(places) => places.binary_search(&(place as u32)).ok().map(|point| point as u32),
        }
    }

    /// Returns the selection of rows of a whole cloud, if there is one.
    pub(crate) fn subset(&self) -> Option<&Subset> {
        self.subset.as_ref()
    }

    /// Returns whether the other cloud has the same points in the same rows.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        let same = |(a, b): (&Aligned<T>, &Aligned<T>)| a[..self.len] == b[..other.len];
        std::ptr::eq(self, other)
            || self.dims() == other.dims()
                && (&self.places, &self.subset) == (&other.places, &other.subset)
                && self.axes.iter().zip(&other.axes).all(same)
    }

    /// Returns the squared distance of two points, in the documented order of operations.
    #[inline]
    pub(crate) fn squared_distance(&self, a: u32, b: u32) -> T {
        let square = |values: &Aligned<T>| {
            let difference = values[a as usize] - values[b as usize];
            difference * difference
        };
        let (first, rest) = self.axes.split_first().expect("three axes");
        rest.iter().fold(square(first), |sum, values| sum + square(values))
    }
}

/// Summary of some rows: whether a number is bad, and the extent of the first three axes.
#[derive(Default)]
struct Summary<T> {
    has_non_finite: bool,
    ends: [Option<(T, T)>; 3],
}

impl<T: Scalar> Summary<T> {
    fn add(&mut self, axis: usize, values: &[T]) {
        self.has_non_finite |=
            values.iter().fold(false, |has_non_finite, x| has_non_finite | !x.is_finite());
        if axis < 3 {
            self.ends[axis] = both_ends(self.ends[axis], extremes(values));
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.has_non_finite |= other.has_non_finite;
        for (ends, others) in self.ends.iter_mut().zip(other.ends) {
            *ends = both_ends(*ends, others);
        }
        self
    }
}

fn both_ends<T: Scalar>(ends: Option<(T, T)>, others: Option<(T, T)>) -> Option<(T, T)> {
    match (ends, others) {
        (Some((low, high)), Some((l, h))) => {
            Some((if l < low { l } else { low }, if h > high { h } else { high }))
        }
        (ends, others) => ends.or(others),
    }
}
