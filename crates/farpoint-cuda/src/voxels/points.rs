//! The second step: the voxel of each row, and what stands for each voxel.

use super::grid::DeviceVoxels;
use super::parameter::Answers;
use super::{Cut, blocks, sorted};
use crate::input::check_aligned;
use crate::launch::Launch;
use crate::memory::{self, Scratch};
use crate::values::inverted::{self, List};
use crate::values::rows::{Spread, THREADS};
use crate::{CudaScalar, DeviceRows, Error, Gpu, IndexKind, Stream, ValueKind};
use farpoint::values::ValueShape;
use farpoint::{Reduce, VoxelGrid};
use std::ops::RangeInclusive;

/// Outputs of [`Gpu::enqueue_voxel_points`], all of them optional: addresses of dense arrays.
///
/// Voxels of a batch are concatenated, one cloud after another. `inverse`, `counts` and `rows` are `i64`, or `i32` if
/// `narrow`. Where there is room for more voxels than there are, `rows` are -1 and all else is 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceVoxelPoints {
    /// Number of voxels that the outputs have room for: that of the [`crate::VoxelSummary`], or more. Of fewer, the
    /// last voxels are left out.
    pub room: usize,
    /// Voxel of each row of the batch, padding too; -1 for rows that are in none.
    pub inverse: Option<u64>,
    /// Number of points of each voxel.
    pub counts: Option<u64>,
    /// Row that stands for each voxel; the first one if coordinates are means.
    pub rows: Option<u64>,
    /// Coordinates of the point that stands for each voxel, `(room, dims)`.
    pub coordinates: Option<u64>,
    /// Cell of each voxel, `(room, dims)`, `i32`.
    pub cells: Option<u64>,
    /// First voxel of each cloud, and the end of the last, `clouds + 1` `i64`.
    pub starts: Option<u64>,
    /// True if integers are `i32`.
    pub narrow: bool,
    /// True if voxels and rows are those of the whole batch, not of their cloud.
    pub whole: bool,
    /// Lowest and highest cell on each axis, as [`crate::VoxelSummary::ranges`] has them, so that sorting takes fewer
    /// steps; may be empty.
    pub ranges: Vec<RangeInclusive<i32>>,
    /// Address and size of memory of [`Gpu::voxel_points_scratch_bytes`], aligned to 256 bytes; from the GPU's
    /// stream-ordered pool if `None`.
    pub scratch: Option<(u64, usize)>,
}

/// Addresses in the scratch memory; 0 for what a job does not need.
struct Memory {
    numbers: u64,
    chosen: u64,
    nearest: u64,
    renumbered: u64,
    list: u64,
    /// Memory to build the list, or before that to sort.
    building: u64,
    bytes: usize,
}

impl Memory {
    fn new<T>(address: u64, job: &VoxelGrid, count: usize, room: usize) -> Self {
        let mut cut = Cut { next: address };
        let mut take = |needed: bool, bytes: usize| if needed { cut.take(bytes) } else { 0 };
        let listed = matches!(job.reduce, Reduce::Mean | Reduce::Random(_));
        let shape = list_shape(count, room);
        let numbers = take(true, 4 * count);
        let chosen = take(true, 4 * room);
        let nearest = take(job.reduce == Reduce::Center, size_of::<T>() * room);
        let renumbered = take(job.sorted, 4 * room);
        let list = take(listed, inverted::list_bytes(&shape));
        let building = if listed { inverted::scratch_bytes(&shape) } else { 0 };
        let sorting = if job.sorted { sorted::scratch_bytes(room) } else { 0 };
        let building = take(true, building.max(sorting));
        let bytes = (cut.next - address) as usize;
        Self { numbers, chosen, nearest, renumbered, list, building, bytes }
    }
}

/// Shape of the list of the rows of each voxel.
fn list_shape(count: usize, room: usize) -> ValueShape {
    ValueShape { clouds: 1, rows: room, places: count, k: 1, channels: 0 }
}

impl DeviceVoxelPoints {
    fn check<T: CudaScalar>(&self, count: usize) -> Result<(), Error> {
        // There are never more voxels than rows.
        if self.room > count {
            let message =
                format!("room for {} voxels of {count} rows; at most one per row", self.room);
            return Err(farpoint::Error::Shape(message).into());
        }
        let integers = [(self.inverse, "voxels"), (self.counts, "counts"), (self.rows, "rows")];
        for (address, name) in integers {
            match self.narrow {
                true => check_aligned::<i32>(address.unwrap_or(0), name)?,
                false => check_aligned::<i64>(address.unwrap_or(0), name)?,
            }
        }
        check_aligned::<T>(self.coordinates.unwrap_or(0), "coordinates")?;
        check_aligned::<i32>(self.cells.unwrap_or(0), "cells")?;
        check_aligned::<i64>(self.starts.unwrap_or(0), "starts")
    }
}

/// A step of which all that the host knows is checked.
struct Step<'a, T> {
    gpu: &'a Gpu,
    stream: &'a Stream,
    job: &'a VoxelGrid,
    answers: Answers<T>,
    count: usize,
    room: usize,
    memory: Memory,
}

impl<T: CudaScalar> Step<'_, T> {
    /// Starts a kernel that reads coordinates.
    ///
    /// # Safety
    /// As [`Gpu::enqueue_voxel_points`].
    unsafe fn start(&self, launch: Launch, name: &'static str) -> Result<(), Error> {
        let function = self.gpu.function::<T>("voxels", name)?;
        // SAFETY: `Answers` mirrors the kernels' parameter; the arrays are as this function's contract says.
        unsafe { launch.start(self.stream, function, &self.answers) }
    }

    /// Queues the voxel of each row, and the first row of each voxel.
    ///
    /// # Safety
    /// As [`Gpu::enqueue_voxel_points`].
    unsafe fn number(&self, answers: &Answers<T>) -> Result<(), Error> {
        let function = self.gpu.function::<f32>("voxels", "voxels_number")?;
        let launch = Launch::new(blocks(self.count.max(answers.grid.clouds as usize + 1)), THREADS);
        // SAFETY: as above; the kernel reads no coordinates, so that either precision fits.
        unsafe { launch.start(self.stream, function, answers) }
    }

    /// Queues the numbers of voxels in the order of their cells.
    ///
    /// # Safety
    /// As [`Gpu::enqueue_voxel_points`].
    unsafe fn sort(&mut self, ranges: &[RangeInclusive<i32>]) -> Result<(), Error> {
        let plain = Answers { inverse: 0, counts: 0, starts: 0, renumbered: 0, ..self.answers };
        self.answers.renumbered = self.memory.renumbered;
        // SAFETY: the memory has room for all of it; the sort begins with the first rows that are written before.
        unsafe {
            self.number(&plain)?;
            sorted::enqueue(self.gpu, self.stream, &self.answers, ranges, self.memory.building)
        }
    }

    /// Queues the lists of the rows of each voxel.
    ///
    /// # Safety
    /// As [`Gpu::enqueue_voxel_points`].
    unsafe fn list(&mut self) -> Result<(), Error> {
        let rows = DeviceRows {
            shape: list_shape(self.count, self.room),
            kind: ValueKind::F32,
            indices: self.memory.numbers,
            index_kind: IndexKind::I32,
        };
        let list = List::at(self.memory.list, self.room);
        (self.answers.begins, self.answers.places) = (list.begins, list.places);
        // SAFETY: the memory has room for the list and for building it; the voxels of the rows are written before.
        unsafe { inverted::enqueue(self.gpu, self.stream, &rows, list, self.memory.building) }
    }

    /// Queues the choice of the rows nearest to the centers.
    ///
    /// # Safety
    /// As [`Gpu::enqueue_voxel_points`].
    unsafe fn choose_center(&self) -> Result<(), Error> {
        let (nearest, chosen) = (self.memory.nearest, self.memory.chosen);
        // SAFETY: both arrays have a number for each voxel that there is room for.
        unsafe {
            memory::set(self.stream, nearest, 0xff, size_of::<T>() * self.room)?;
            memory::set(self.stream, chosen, 0xff, 4 * self.room)?;
            self.start(Launch::new(blocks(self.count), THREADS), "voxels_near")?;
            self.start(Launch::new(blocks(self.count), THREADS), "voxels_choose")
        }
    }

    /// Queues the means, and all else of the voxels.
    ///
    /// # Safety
    /// As [`Gpu::enqueue_voxel_points`].
    unsafe fn average(&mut self) -> Result<(), Error> {
        let Spread { blocks, lanes } = Spread::new(self.room, self.answers.grid.dims as usize, 1);
        self.answers.lanes = lanes;
        // SAFETY: the lists are there once the kernels before are done; the rest is this function's contract.
        unsafe { self.start(Launch::new(blocks, THREADS), "voxels_mean") }
    }

    /// Queues all of it.
    ///
    /// # Safety
    /// As [`Gpu::enqueue_voxel_points`].
    unsafe fn enqueue(&mut self, output: &DeviceVoxelPoints) -> Result<(), Error> {
        let means = self.answers.means != 0 && output.coordinates.is_some();
        let picks = output.rows.is_some() || output.coordinates.is_some();
        let listed = means || (picks && matches!(self.job.reduce, Reduce::Random(_)));
        // SAFETY: this function's contract; each kernel reads what those before have written, in the order of the
        // stream.
        unsafe {
            if self.job.sorted && self.room > 0 {
                self.sort(&output.ranges)?;
            }
            // Lists have the counts, too.
            let counts = if listed { 0 } else { self.answers.counts };
            let bytes = if output.narrow { 4 } else { 8 };
            memory::set(self.stream, counts, 0, if counts == 0 { 0 } else { bytes * self.room })?;
            self.number(&Answers { counts, ..self.answers })?;
            if self.room == 0 {
                return Ok(());
            }
            if listed {
                self.list()?;
            }
            match self.job.reduce {
                Reduce::Mean if means => return self.average(),
                Reduce::Center if picks => self.choose_center()?,
                Reduce::Random(_) if picks => {
                    self.start(Launch::new(blocks(self.room), THREADS), "voxels_draw")?;
                }
                _ => {}
            }
            self.start(Launch::new(blocks(self.room), THREADS), "voxels_finish")
        }
    }
}

/// Points of voxels in device memory.
impl Gpu {
    /// Returns the bytes of [`DeviceVoxelPoints::scratch`] for this number of rows in all clouds, and room for this many
    /// voxels: per row 4, and 17 more for means and random points; per voxel 4 to 33.
    pub fn voxel_points_scratch_bytes<T: CudaScalar>(
        &self,
        job: &VoxelGrid,
        count: usize,
        room: usize,
    ) -> usize {
        Memory::new::<T>(0, job, count, room).bytes
    }

    /// Queues the voxel of each row and the points of the voxels that [`Gpu::enqueue_voxels`] has found, with the same
    /// job and the same clouds, whose memory is as it left it. Does not synchronize.
    ///
    /// # Errors
    /// As [`Gpu::enqueue_voxels`].
    ///
    /// # Safety
    /// See [`DeviceVoxels`]; the outputs must have the sizes that [`DeviceVoxelPoints`] says.
    pub unsafe fn enqueue_voxel_points<T: CudaScalar>(
        &self,
        job: &VoxelGrid,
        stream: &Stream,
        voxels: &DeviceVoxels<T>,
        output: &DeviceVoxelPoints,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        let grid = voxels.parameter(job)?;
        let (count, room) = (voxels.count(), output.room);
        output.check::<T>(count)?;
        let required = Memory::new::<T>(0, job, count, room).bytes;
        let scratch = Scratch::new(stream, output.scratch, required)?;
        let memory = Memory::new::<T>(scratch.pointer(), job, count, room);
        let answers = Answers {
            renumbered: 0,
            numbers: memory.numbers,
            chosen: memory.chosen,
            nearest: memory.nearest,
            begins: 0,
            places: 0,
            inverse: output.inverse.unwrap_or(0),
            counts: output.counts.unwrap_or(0),
            picked: output.rows.unwrap_or(0),
            coordinates: output.coordinates.unwrap_or(0),
            cells: output.cells.unwrap_or(0),
            starts: output.starts.unwrap_or(0),
            seed: if let Reduce::Random(seed) = job.reduce { seed } else { 0 },
            room: room as u32,
            narrow: u32::from(output.narrow),
            whole: u32::from(output.whole),
            means: u32::from(job.reduce == Reduce::Mean),
            lanes: 0,
            grid,
        };
        let mut step = Step { gpu: self, stream, job, answers, count, room, memory };
        // SAFETY: the arrays are as this function's contract says, the scratch memory has room for all of it.
        unsafe { step.enqueue(output) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::tests::valid;
    use super::*;

    #[test]
    fn jobs_take_the_memory_that_they_need() {
        let bytes = |job: VoxelGrid| Memory::new::<f64>(0, &job, 64_000, 6_400).bytes;
        let job = |reduce| VoxelGrid::new(1.0).reduce(reduce);
        let first = bytes(job(Reduce::First));
        assert_eq!(first, 4 * (64_000 + 6_400));
        assert_eq!(bytes(job(Reduce::Center)), first + 8 * 6_400);
        let listed = inverted::list_bytes(&list_shape(64_000, 6_400))
            + inverted::scratch_bytes(&list_shape(64_000, 6_400));
        assert_eq!(bytes(job(Reduce::Mean)), first + listed);
        assert_eq!(bytes(job(Reduce::Random(1))), first + listed);
        let sorting = sorted::scratch_bytes(6_400);
        assert_eq!(bytes(job(Reduce::First).sorted(true)), first + 4 * 6_400 + sorting);
        // Sorting is done before the list is built, in the same memory.
        assert_eq!(bytes(job(Reduce::Mean).sorted(true)), first + listed + 4 * 6_400);
    }

    #[test]
    fn invalid_outputs_are_rejected() {
        let count = valid().count();
        let message =
            |output: DeviceVoxelPoints| output.check::<f64>(count).unwrap_err().to_string();
        let output = DeviceVoxelPoints { room: 5, ..DeviceVoxelPoints::default() };
        assert_eq!(output.check::<f64>(count), Ok(()));
        assert!(message(DeviceVoxelPoints { room: 21, ..output.clone() }).contains("21 voxels"));
        assert!(
            message(DeviceVoxelPoints { counts: Some(4), ..output.clone() }).contains("counts")
        );
        let narrow = DeviceVoxelPoints { counts: Some(4), narrow: true, ..output.clone() };
        assert_eq!(narrow.check::<f64>(count), Ok(()));
        assert!(
            message(DeviceVoxelPoints { coordinates: Some(4), ..output }).contains("coordinates")
        );
    }
}
