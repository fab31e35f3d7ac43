//! The centroids of cells.

use super::cells::Cells;
use super::search;
use crate::approximate::frame::Frame;
use crate::approximate::work::Run;
use crate::cloud::WorkingCopy;
use crate::memory;
use crate::{Error, Points, Scalar};

/// Centroids of cells, which are not points of the cloud, and the number of points in each. Can be used
/// as [`Points`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Centroids<T> {
    /// Coordinates, `dims` for each centroid, in the order of the cells' first points.
    pub coordinates: Vec<T>,
    /// Number of coordinates of a centroid.
    pub dims: usize,
    /// Number of points in each cell.
    pub counts: Vec<u32>,
    /// The cell size; 0 if every distinct position had to be kept.
    pub cell: f64,
    /// Number of rows left out because they hold NaN or infinity.
    pub dropped: usize,
}

impl<T: Scalar> Points<T> for Centroids<T> {
    fn len(&self) -> usize {
        self.counts.len()
    }
    fn dim(&self) -> usize {
        self.dims
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self.coordinates[index * self.dims + axis]
    }
}

/// Computes the centroids of cells of a size. `dropped` is for the caller to set.
pub(in crate::approximate) fn centroids_by_cell<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    dims: usize,
    cell: f64,
) -> Result<Centroids<T>, Error> {
    let frame = Frame::new(run.cloud);
    let cells = Cells::new(run, &frame, cell * frame.unit)?;
    Ok(centroids(run.cloud, &cells, dims, cell))
}

/// Computes at most `count` centroids.
pub(in crate::approximate) fn centroids_by_count<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    dims: usize,
    count: usize,
) -> Result<Centroids<T>, Error> {
    if count == 0 {
        let (coordinates, counts) = (Vec::new(), Vec::new());
        return Ok(Centroids { coordinates, dims, counts, cell: 0.0, dropped: 0 });
    }
    let frame = Frame::new(run.cloud);
    let size = search::find(run, &frame, count)?.below;
    let cells = Cells::new(run, &frame, size)?;
    Ok(centroids(run.cloud, &cells, dims, size / frame.unit))
}

fn centroids<T: Scalar>(
    cloud: &WorkingCopy<T>,
    cells: &Cells,
    dims: usize,
    cell: f64,
) -> Centroids<T> {
    let counts = cells.counts();
    let mut first = memory::filled(cells.count, u32::MAX);
    for (point, &cell) in cells.of.iter().enumerate().rev() {
        first[cell as usize] = point as u32;
    }
    let mut coordinates = memory::zeros(cells.count * dims);
    for axis in 0..dims {
        let values = &cloud.axes[axis];
        // Shares of differences from the cell's first point: small numbers, and no overflow.
        let mut off = memory::zeros::<f64>(cells.count);
        for (&value, &cell) in values.iter().zip(&cells.of) {
            let cell = cell as usize;
            let (n, base) = (f64::from(counts[cell]), values[first[cell] as usize].to_f64());
            let difference = value.to_f64() - base;
            off[cell] +=
                if difference.is_finite() { difference / n } else { value.to_f64() / n - base / n };
        }
        for (cell, off) in off.into_iter().enumerate() {
            let base = values[first[cell] as usize].to_f64();
            coordinates[cell * dims + axis] = T::from_f64(base + off);
        }
    }
    Centroids { coordinates, dims, counts, cell, dropped: 0 }
}
