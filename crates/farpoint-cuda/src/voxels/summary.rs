//! Summary of the voxels of a batch.

use std::ops::RangeInclusive;

/// Numbers by which [`Gpu::enqueue_voxels`](crate::Gpu::enqueue_voxels) sums up a batch, once they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VoxelSummary {
    /// Number of voxels of all clouds.
    pub voxels: usize,
    /// Number of rows with NaN or infinity, and the first of them in the batch. They are in no voxel.
    pub non_finite: Option<(usize, usize)>,
    /// Lowest axis on which the cell of a row does not fit in 32 bits, and the first such row in the batch. These rows
    /// are in no voxel; on the CPU they are an error.
    pub outside: Option<(usize, usize)>,
    /// Lowest and highest cell on each axis, if the job sorts voxels and there are any.
    pub ranges: Vec<RangeInclusive<i32>>,
}

/// `OUTSIDE` of `kernels/voxels/voxels.cuh`: numbers before those of each axis.
const OUTSIDE: usize = 3;

/// `NO_CELL` of `kernels/voxels/voxels.cuh`.
const NO_CELL: i64 = 1 << 40;

impl VoxelSummary {
    /// Returns the number of `i64` that a summary of clouds of `dims` axes takes.
    pub fn len(dims: usize) -> usize {
        OUTSIDE + 3 * dims
    }

    /// Reads a summary.
    ///
    /// # Panics
    /// If there are not [`VoxelSummary::len`] numbers.
    pub fn new(dims: usize, numbers: &[i64]) -> Self {
        let (counts, axes) = numbers.split_at(OUTSIDE);
        let (outside, ends) = axes.split_at(dims);
        let row = |number: i64| usize::try_from(number).ok();
        let first = outside.iter().enumerate().find_map(|(axis, &at)| Some((axis, row(at)?)));
        let ranges = ends.chunks_exact(2).filter(|ends| ends[0] < NO_CELL);
        Self {
            voxels: row(counts[0]).unwrap_or(0),
            non_finite: row(counts[2]).zip(row(counts[1])).map(|(first, count)| (count, first)),
            outside: first,
            ranges: ranges.map(|ends| ends[0] as i32..=-ends[1] as i32).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_read() {
        let source = include_str!("../../kernels/voxels/voxels.cuh");
        assert!(source.contains(&format!("OUTSIDE = {OUTSIDE} }}")));
        assert!(source.contains("NO_CELL = 1ll << 40;"));
        assert_eq!(VoxelSummary::len(2), 9);
        let none = VoxelSummary::new(2, &[7, 0, -1, -1, -1, NO_CELL, NO_CELL, NO_CELL, NO_CELL]);
        let VoxelSummary { voxels, non_finite, outside, ranges } = none;
        assert_eq!((voxels, non_finite, outside, ranges), (7, None, None, vec![]));
        let low = i64::from(i32::MIN);
        let some = VoxelSummary::new(2, &[1, 3, 40, -1, 9, low, -low - 1, 5, -6]);
        assert_eq!((some.non_finite, some.outside), (Some((3, 40)), Some((1, 9))));
        assert_eq!(some.ranges, [i32::MIN..=i32::MIN + 1, 5..=6]);
        assert_eq!(VoxelSummary::new(1, &[0, 0, -1, 0, 0, 0]).outside, Some((0, 0)));
    }
}
