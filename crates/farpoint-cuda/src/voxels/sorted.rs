//! Order of voxels by cell: a stable sort by each axis, from the last to the first, and by cloud.

use super::parameter::{Answers, Keys};
use super::{Cut, blocks};
use crate::launch::Launch;
use crate::values::inverted::Sort;
use crate::values::rows::THREADS;
use crate::{CudaScalar, Error, Gpu, Stream};
use std::ops::RangeInclusive;

/// Bytes of memory for the order of this many voxels.
pub(super) fn scratch_bytes(room: usize) -> usize {
    4 * crate::team::aligned(4 * room) + Sort::count_bytes(room)
}

/// Queues the numbers of voxels in the order of their cells, written to `renumbered`, by those in the order of their
/// first rows. `ranges` are those of the cells on each axis; the whole range of 32 bits if there are none.
///
/// # Safety
/// `answers.chosen` must hold the first rows when the kernels run; `scratch` must have [`scratch_bytes`], and
/// `answers.renumbered` room for as many numbers as there is room for voxels.
pub(super) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    answers: &Answers<T>,
    ranges: &[RangeInclusive<i32>],
    scratch: u64,
) -> Result<(), Error> {
    let (room, dims, clouds) = (answers.room as usize, answers.grid.dims, answers.grid.clouds);
    let mut cut = Cut { next: scratch };
    let [keys, places] = [(); 2].map(|()| [(); 2].map(|()| cut.take(4 * room)));
    let sort = Sort::new(room, keys, places, cut.next);
    let (mut at, mut order) = (0, 0);
    for axis in (0..dims).rev().chain([dims]) {
        let (low, highest) = match ranges.get(axis as usize) {
            Some(cells) => (*cells.start(), cells.end().abs_diff(*cells.start()) as usize),
            None if axis == dims => (0, clouds as usize),
            None => (i32::MIN, u32::MAX as usize),
        };
        let args = Keys { order, keys: keys[at], low, axis, answers: *answers };
        let function = gpu.function::<T>("voxels", "voxels_keys")?;
        // SAFETY: `Keys` mirrors the kernel's parameter; arrays lie one after another in the scratch memory, which has
        // room for all by this function's contract. The sort reads what the kernel has written.
        unsafe {
            Launch::new(blocks(room), THREADS).start(stream, function, &args)?;
            at = sort.enqueue(gpu, stream, highest, at, order)?;
        }
        order = places[at];
    }
    let args = Keys { order, keys: 0, low: 0, axis: dims, answers: *answers };
    let function = gpu.function::<f32>("voxels", "voxels_renumber")?;
    // SAFETY: as above; the kernel reads no coordinates, so that either precision fits.
    unsafe { Launch::new(blocks(room), THREADS).start(stream, function, &args) }
}
