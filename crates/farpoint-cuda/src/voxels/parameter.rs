//! The kernels' structures.

use crate::CudaScalar;

/// `MOST_DIMS` of `kernels/voxels/voxels.cuh`: maximum number of axes.
pub(super) const MAX_DIMS: usize = 16;

/// `TILE` of `kernels/voxels/voxels.cuh`: rows that a block of `mark` looks at together.
pub(super) const TILE: usize = 1_024;

/// `struct Grid` of `kernels/voxels/voxels.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Grid<T> {
    pub(super) points: u64,
    pub(super) row_stride: i64,
    pub(super) axis_stride: i64,
    pub(super) offsets: u64,
    pub(super) lengths: u64,
    pub(super) origins: u64,
    pub(super) table: u64,
    pub(super) firsts: u64,
    pub(super) tally: u64,
    pub(super) marks: u64,
    pub(super) before: u64,
    pub(super) parts: u64,
    pub(super) summary: u64,
    pub(super) mask: u32,
    pub(super) count: u32,
    pub(super) rows: u32,
    pub(super) clouds: u32,
    pub(super) dims: u32,
    pub(super) share: u32,
    pub(super) least: u32,
    pub(super) origin: [T; MAX_DIMS],
    pub(super) size: [T; MAX_DIMS],
}

/// `struct Answers` of `kernels/voxels/voxels.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Answers<T> {
    pub(super) renumbered: u64,
    pub(super) numbers: u64,
    pub(super) chosen: u64,
    pub(super) nearest: u64,
    pub(super) begins: u64,
    pub(super) places: u64,
    pub(super) inverse: u64,
    pub(super) counts: u64,
    pub(super) picked: u64,
    pub(super) coordinates: u64,
    pub(super) cells: u64,
    pub(super) starts: u64,
    pub(super) seed: u64,
    pub(super) room: u32,
    pub(super) narrow: u32,
    pub(super) whole: u32,
    pub(super) means: u32,
    pub(super) lanes: u32,
    pub(super) grid: Grid<T>,
}

/// `struct Keys` of `kernels/voxels/voxels.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Keys<T> {
    pub(super) order: u64,
    pub(super) keys: u64,
    pub(super) low: i32,
    pub(super) axis: u32,
    pub(super) answers: Answers<T>,
}

/// Returns numbers for the axes that there are, and ones.
pub(super) fn on_axes<T: CudaScalar>(numbers: &[T]) -> [T; MAX_DIMS] {
    let mut all = [T::from_f64(1.0); MAX_DIMS];
    all[..numbers.len()].copy_from_slice(numbers);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use crate::values::rows::THREADS;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_voxels_cuh() {
        let source = include_str!("../../kernels/voxels/voxels.cuh");
        assert_eq!(
            fields(source, "Grid"),
            "points row_stride axis_stride offsets lengths origins table firsts tally marks before parts summary \
             mask count rows clouds dims share least origin size"
        );
        assert_eq!(
            fields(source, "Answers"),
            "renumbered numbers chosen nearest begins places inverse counts picked coordinates cells starts seed \
             room narrow whole means lanes grid"
        );
        assert_eq!(fields(source, "Keys"), "order keys low axis answers");
        assert!(source.contains(&format!("MOST_DIMS = {MAX_DIMS};")));
        assert!(source.contains("ITEMS = 4;") && source.contains("TILE = ITEMS * THREADS;"));
        assert_eq!(TILE, 4 * THREADS as usize);
        assert_eq!((size_of::<Grid<f32>>(), size_of::<Grid<f64>>()), (264, 392));
        assert_eq!((size_of::<Answers<f32>>(), size_of::<Answers<f64>>()), (392, 520));
        assert_eq!((size_of::<Keys<f32>>(), size_of::<Keys<f64>>()), (416, 544));
    }

    #[test]
    fn coordinates_are_last() {
        // Kernels compiled for f32 only read all that comes before them.
        assert_eq!(offset_of!(Grid<f32>, origin), 132);
        assert_eq!(offset_of!(Grid<f64>, origin), 136);
        assert_eq!(offset_of!(Grid<f32>, least), offset_of!(Grid<f64>, least));
        assert_eq!(offset_of!(Answers<f32>, grid), offset_of!(Answers<f64>, grid));
        assert_eq!(offset_of!(Keys<f32>, answers), offset_of!(Keys<f64>, answers));
    }
}
