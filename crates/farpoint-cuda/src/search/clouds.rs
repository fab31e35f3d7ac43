//! Clouds in device memory, as passed by callers.

use crate::{CudaScalar, Error, input};

/// The clouds of one side of a batch in device memory; see [`DeviceSearch`](super::DeviceSearch).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceClouds {
    /// Coordinates.
    pub points: u64,
    /// Strides from a row to the next, and from an axis to the next, in numbers.
    pub strides: [i64; 2],
    /// Rows of each cloud of a padded batch; of a ragged one, at least those of its largest cloud.
    pub rows: usize,
    /// First row of each cloud and the end, `clouds + 1` numbers: a ragged batch.
    pub offsets: Option<u64>,
    /// Number of valid rows of each cloud.
    pub lengths: Option<u64>,
    /// Address and size of an index over these clouds, built by [`Gpu::enqueue_index`](crate::Gpu::enqueue_index) on
    /// the same GPU; [`farpoint::Method::Tree`] builds its own if `None`.
    pub index: Option<(u64, usize)>,
}

impl DeviceClouds {
    /// A dense array `(clouds, rows, dims)`.
    pub fn padded(points: u64, rows: usize, dims: usize) -> Self {
        let strides = [dims as i64, 1];
        Self { points, strides, rows, offsets: None, lengths: None, index: None }
    }

    /// A dense array `(rows, dims)`, of which cloud `b` is rows `offsets[b]..offsets[b + 1]`, none having
    /// more than `longest`.
    pub fn ragged(points: u64, offsets: u64, longest: usize, dims: usize) -> Self {
        Self { offsets: Some(offsets), ..Self::padded(points, longest, dims) }
    }

    /// Returns whether these are the same clouds, so that one index is for both.
    pub(super) fn is(&self, other: &Self) -> bool {
        *self == Self { index: self.index, ..*other }
    }

    pub(super) fn check<T: CudaScalar>(&self, clouds: usize) -> Result<(), Error> {
        input::check_points::<T>(self.points, clouds, self.rows)?;
        let filled = clouds > 0 && self.rows > 0;
        for (address, name) in [(self.offsets, "offsets"), (self.lengths, "lengths")] {
            if filled && address == Some(0) {
                return Err(null(name));
            }
            input::check_aligned::<i64>(address.unwrap_or(0), name)?;
        }
        Ok(())
    }
}

/// Error of a null pointer.
pub(super) fn null(name: &str) -> Error {
    farpoint::Error::Shape(format!("the address of the {name} is null")).into()
}
