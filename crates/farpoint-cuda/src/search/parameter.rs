//! Parameter of every method's kernels: `struct Search` of `kernels/search/search.cuh`, field by field, and the work
//! of a launch.

use super::clouds::DeviceClouds;
use crate::{CudaScalar, Error};
use farpoint::Norm;

/// Work of one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Finds the best `k` of each row.
    Best,
    /// Counts the neighbors in each ball.
    Count,
    /// Writes all neighbors in each ball, at the offsets at this address.
    Fill(u64),
}

/// The clouds of one side; addresses are of device memory, 0 for null.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Clouds {
    pub(crate) points: u64,
    pub(crate) row_stride: i64,
    pub(crate) axis_stride: i64,
    pub(crate) offsets: u64,
    pub(crate) lengths: u64,
    pub(crate) rows: i64,
}

impl Clouds {
    pub(crate) fn of(clouds: &DeviceClouds) -> Self {
        Self {
            points: clouds.points,
            row_stride: clouds.strides[0],
            axis_stride: clouds.strides[1],
            offsets: clouds.offsets.unwrap_or(0),
            lengths: clouds.lengths.unwrap_or(0),
            rows: clouds.rows as i64,
        }
    }
}

/// A search of a batch.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Parameter<T> {
    pub(crate) sides: [Clouds; 2],
    pub(crate) distances: u64,
    pub(crate) indices: u64,
    pub(crate) counts: u64,
    /// Most, least, near: a distance counts if `d <= most && (d >= least || d <= near)`.
    pub(crate) limits: [T; 3],
    pub(crate) dims: u32,
    pub(crate) clouds: u32,
    pub(crate) k: u32,
    pub(crate) norm: u32,
    pub(crate) by_index: u32,
    pub(crate) exclude_self: u32,
    pub(crate) narrow: u32,
    pub(crate) whole: u32,
}

/// Returns the kernels' number of a norm.
pub(crate) fn number(norm: Norm) -> u32 {
    if norm == Norm::One { 1 } else { 2 }
}

/// Size of a search: lengths in device memory are not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) clouds: usize,
    /// Rows of the largest cloud of `x` and of `y`.
    pub(crate) rows: [usize; 2],
    pub(crate) dims: usize,
    pub(crate) k: usize,
}

/// Threads per block of all searches; each row of `x` has a warp.
pub(crate) const THREADS: u32 = 256;
const WARPS: usize = THREADS as usize / 32;

impl Shape {
    /// Returns whether there is nothing to find.
    pub(crate) fn is_empty(&self) -> bool {
        self.clouds == 0 || self.rows[0] == 0
    }

    /// Refuses more places than kernels can count.
    pub(crate) fn check_k(&self) -> Result<(), Error> {
        let total = self.clouds.saturating_mul(self.rows[0]).saturating_mul(self.k);
        if self.k > i32::MAX as usize || total > isize::MAX as usize / 16 {
            return Err(farpoint::Error::TooManyNeighbors(total).into());
        }
        Ok(())
    }

    /// Number of blocks for the rows of the largest cloud of `x`, a warp each.
    pub(crate) fn chunks(&self) -> u32 {
        self.rows[0].div_ceil(WARPS) as u32
    }

    /// Number of groups of 32 rows in the largest cloud of `x`.
    pub(crate) fn groups(&self) -> u32 {
        self.rows[0].div_ceil(32) as u32
    }

    /// Number of blocks of an ordinary launch with a warp for each such group.
    pub(crate) fn blocks_of_groups(&self) -> Result<u32, Error> {
        self.in_range((self.clouds as u64 * u64::from(self.groups())).div_ceil(WARPS as u64))
    }

    /// Number of blocks of an ordinary launch of `per_cloud` blocks per cloud.
    pub(crate) fn blocks_of(&self, per_cloud: u32) -> Result<u32, Error> {
        self.in_range(self.clouds as u64 * u64::from(per_cloud))
    }

    fn in_range(&self, blocks: u64) -> Result<u32, Error> {
        i32::try_from(blocks).map(|blocks| blocks as u32).map_err(|_| self.too_many())
    }

    /// Error of a launch with too many blocks.
    pub(super) fn too_many(&self) -> Error {
        Error::Unsupported(format!(
            "{} clouds of {} rows exceed the limit of one launch of a search; use fewer clouds per \
             call",
            self.clouds, self.rows[0]
        ))
    }
}

impl<T: CudaScalar> Parameter<T> {
    /// Returns whether no result is requested.
    pub(crate) fn is_idle(&self) -> bool {
        [self.distances, self.indices, self.counts] == [0; 3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    const SOURCE: &str = include_str!("../../kernels/search/search.cuh");

    #[test]
    fn laid_out_as_in_search_cuh() {
        let clouds = "points row_stride axis_stride offsets lengths rows";
        assert_eq!(fields(SOURCE, "Clouds"), clouds);
        let search = "sides distances indices counts limits dims clouds k norm by_index \
                      exclude_self narrow whole";
        assert_eq!(fields(SOURCE, "Search"), search);
        assert_eq!((size_of::<Clouds>(), size_of::<Parameter<f32>>()), (48, 168));
        assert_eq!((offset_of!(Parameter<f64>, dims), size_of::<Parameter<f64>>()), (144, 176));
        assert_eq!(offset_of!(Parameter<f32>, dims), 132);
    }

    #[test]
    fn a_warp_has_a_row() {
        let shape = Shape { clouds: 3, rows: [65, 9], dims: 3, k: 4 };
        assert_eq!((shape.chunks(), shape.groups(), shape.blocks_of_groups()), (9, 3, Ok(2)));
        assert_eq!(shape.blocks_of(9), Ok(27));
        let many = Shape { clouds: 1 << 24, rows: [1 << 20, 1], ..shape };
        assert!(many.blocks_of(many.chunks()).is_err() && many.blocks_of_groups().is_err());
        assert!(Shape { k: 1 << 40, ..shape }.check_k().is_err() && shape.check_k().is_ok());
        assert!(SOURCE.contains(&format!("THREADS = {THREADS};")));
    }
}
