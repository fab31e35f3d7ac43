//! Occupied voxels of a cloud.

use crate::{Points, Scalar};

/// Occupied voxels of a cloud, and the voxel of each of its rows. Can be used as [`Points`], one for each voxel.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Voxels<T> {
    /// Voxel of each row; [`Voxels::NONE`] for rows that are in none: those with NaN or infinity, and those in voxels
    /// of too few points.
    pub inverse: Vec<u32>,
    /// Number of points of each voxel.
    pub counts: Vec<u32>,
    /// Row that stands for each voxel; the first one if coordinates are means.
    pub rows: Vec<u32>,
    /// Coordinates of the point that stands for each voxel, `dims` each: means, or those of `rows`.
    pub coordinates: Vec<T>,
    /// Cell of each voxel, `dims` numbers each: `floor((p - origin) / size)`.
    pub cells: Vec<i32>,
    /// Number of coordinates of a point.
    pub dims: usize,
    /// Origin of the grid.
    pub origin: Vec<T>,
    /// Number of rows left out because they hold NaN or infinity.
    pub dropped: usize,
}

impl<T> Voxels<T> {
    /// Voxel of rows that are in none.
    pub const NONE: u32 = u32::MAX;

    /// Returns the number of voxels.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns whether there are no voxels.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl<T: Scalar> Points<T> for Voxels<T> {
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
