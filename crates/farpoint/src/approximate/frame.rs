//! Position and extent of a cloud, in double precision, without overflow.

use crate::Scalar;
use crate::cloud::WorkingCopy;
use crate::scalar::extremes;

/// The box around a cloud, over all axes. Coordinates are relative to its low corner.
pub(super) struct Frame<'a, T> {
    pub(super) cloud: &'a WorkingCopy<T>,
    low: Vec<f64>,
    /// Lengths of the box's sides, times `unit`.
    sides: Vec<f64>,
    /// 1, or less where differences of coordinates would overflow.
    pub(super) unit: f64,
}

impl<'a, T: Scalar> Frame<'a, T> {
    pub(super) fn new(cloud: &'a WorkingCopy<T>) -> Self {
        let ends = |axis: usize| {
            let ends = extremes(&cloud.axes[axis][..cloud.len]).unwrap_or_default();
            (ends.0.to_f64(), ends.1.to_f64())
        };
        let ends: Vec<_> = (0..cloud.dims()).map(ends).collect();
        let fits = ends.iter().all(|(low, high)| (high - low).is_finite());
        let unit = if fits { 1.0 } else { 0.25 };
        Self {
            cloud,
            low: ends.iter().map(|(low, _)| low * unit).collect(),
            sides: ends.iter().map(|(low, high)| high * unit - low * unit).collect(),
            unit,
        }
    }

    /// Returns the number of axes, at least three.
    pub(super) fn dims(&self) -> usize {
        self.low.len()
    }

    /// Returns a coordinate of a point: 0 up to the length of the side.
    #[inline(always)]
    pub(super) fn at(&self, point: usize, axis: usize) -> f64 {
        self.cloud.axes[axis][point].to_f64() * self.unit - self.low[axis]
    }

    /// Returns the longest side.
    pub(super) fn longest(&self) -> f64 {
        self.sides.iter().fold(0.0, |a: f64, b| a.max(*b))
    }
}
