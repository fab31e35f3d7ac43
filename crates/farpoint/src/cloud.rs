//! The working copy of a cloud: one aligned array an axis, bad rows found or left out, box known.

use crate::spatial::Aligned;
use crate::{BadRows, Error, Points, Scalar};

/// Coordinates by axis. There are at least three axes: missing ones are zero, which leaves
/// every computed distance as it is (`x + 0.0 == x` for squares).
pub(crate) struct Cloud<T> {
    /// Points.
    pub(crate) len: usize,
    /// One array an axis, at least three, each padded with zeros to whole vectors.
    pub(crate) axes: Vec<Aligned<T>>,
    /// Smallest corner over the first three axes.
    pub(crate) low: [T; 3],
    /// Largest corner.
    pub(crate) high: [T; 3],
    /// Input row of each point, when bad rows were left out.
    rows: Option<Vec<u32>>,
}

/// Arrays are padded to a multiple of this, so that kernels may read whole vectors.
pub(crate) const PADDING: usize = 64;

impl<T: Scalar> Cloud<T> {
    /// Copies the points, dealing with rows that hold NaN or infinity as told.
    pub(crate) fn new<P: Points<T> + ?Sized>(
        points: &P,
        bad_rows: BadRows,
    ) -> Result<Self, Error> {
        let (n, dim) = (points.len(), points.dim());
        if n >= u32::MAX as usize {
            return Err(Error::TooManyPoints(n));
        }
        let copy = Self::gather(n, dim, |row, axis| points.coordinate(row, axis));
        if copy.is_finite() {
            return Ok(copy);
        }
        let good = |row: &u32| {
            (0..dim).all(|axis| points.coordinate(*row as usize, axis).is_finite())
        };
        let rows: Vec<u32> = (0..n as u32).filter(good).collect();
        if bad_rows == BadRows::Error {
            let first = (0..n as u32).find(|row| !good(row)).expect("some row is bad");
            return Err(Error::BadRows { first: first as usize, count: n - rows.len(), points: n });
        }
        let mut kept =
            Self::gather(rows.len(), dim, |k, axis| points.coordinate(rows[k] as usize, axis));
        kept.rows = Some(rows);
        Ok(kept)
    }

    fn gather(n: usize, dim: usize, coordinate: impl Fn(usize, usize) -> T) -> Self {
        let dims = dim.max(3);
        let padded = n.div_ceil(PADDING) * PADDING;
        let mut axes: Vec<_> = (0..dims).map(|_| Aligned::new(padded, T::ZERO)).collect();
        // In blocks, so that all axes of a row are read while it is in the cache.
        for block in (0..n).step_by(1024) {
            let end = (block + 1024).min(n);
            for (axis, values) in axes.iter_mut().enumerate().take(dim) {
                for (row, value) in (block..end).zip(&mut values[block..end]) {
                    *value = coordinate(row, axis);
                }
            }
        }
        let (low, high) = bounds(&axes, n);
        Self { len: n, axes, low, high, rows: None }
    }

    fn is_finite(&self) -> bool {
        // x - x is 0 for finite numbers and NaN for others.
        let bad = |values: &[T]| values.iter().fold(false, |bad, &x| bad | (x - x != T::ZERO));
        !self.axes.iter().any(|values| bad(values))
    }

    /// Number of axes, at least three.
    pub(crate) fn dims(&self) -> usize {
        self.axes.len()
    }

    /// The point's row in the caller's cloud.
    #[inline]
    pub(crate) fn row(&self, point: u32) -> usize {
        self.rows.as_ref().map_or(point as usize, |rows| rows[point as usize] as usize)
    }

    /// The point of a row of the caller's cloud; `None` if the row was left out.
    pub(crate) fn point(&self, row: usize) -> Option<u32> {
        match &self.rows {
            None => Some(row as u32),
            Some(rows) => rows.binary_search(&(row as u32)).ok().map(|point| point as u32),
        }
    }

    /// Squared distance of two points, in the operation order that the crate promises.
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

/// Corners of the box around the first `n` points, over the first three axes.
fn bounds<T: Scalar>(axes: &[Aligned<T>], n: usize) -> ([T; 3], [T; 3]) {
    let mut low = [T::ZERO; 3];
    let mut high = [T::ZERO; 3];
    for (axis, values) in axes.iter().enumerate().take(3) {
        (low[axis], high[axis]) = extremes(&values[..n]).unwrap_or_default();
    }
    (low, high)
}

/// The smallest and the largest of `values`.
fn extremes<T: Scalar>(values: &[T]) -> Option<(T, T)> {
    // Sixteen at a time, which compilers turn into vectors.
    let mut low = [*values.first()?; 16];
    let mut high = low;
    let blocks = values.chunks_exact(16);
    let rest = blocks.remainder();
    for block in blocks.chain((!rest.is_empty()).then_some(rest)) {
        for (k, &x) in block.iter().enumerate() {
            low[k] = if x < low[k] { x } else { low[k] };
            high[k] = if x > high[k] { x } else { high[k] };
        }
    }
    let low = low.into_iter().reduce(|a, b| if b < a { b } else { a })?;
    let high = high.into_iter().reduce(|a, b| if b > a { b } else { a })?;
    Some((low, high))
}
