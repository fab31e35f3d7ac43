//! The first step: voxels are found and counted.

use super::parameter::{Grid, MAX_DIMS, TILE, on_axes};
use super::{Cut, blocks};
use crate::input::{check_aligned, check_batch};
use crate::launch::Launch;
use crate::values::rows::THREADS;
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::{Origin, VoxelGrid};
use std::marker::PhantomData;

/// Maximum number of rows of a batch, whose hash table has up to 2^31 slots.
const MAX_ROWS: usize = 1 << 30;

/// Fewest slots of a hash table: it is cleared in units of 16 bytes.
const MIN_SLOTS: usize = 256;

/// Maximum numbers of blocks that go through all rows together, and that clear memory.
const MAX_PARTS: usize = 1_024;
const MAX_CLEAR: usize = 2_048;

/// Clouds in device memory, whose voxels are to be found.
///
/// # Safety
/// The caller must ensure that all arrays are allocated with these sizes, and neither freed nor written otherwise until
/// the stream has finished; that offsets ascend from 0 to the number of rows; and that outputs and memory do not overlap
/// anything else. If the call is captured into a graph, this holds for every launch of the graph. (Offsets that do not
/// ascend give meaningless voxels, but nothing outside the arrays is read or written.)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceVoxels<T> {
    /// Coordinates: axis `a` of row `i` of the batch is `i * strides[0] + a * strides[1]` numbers from here.
    pub points: u64,
    /// Strides from a row to the next, and from an axis to the next, in numbers.
    pub strides: [i64; 2],
    /// Number of clouds.
    pub clouds: usize,
    /// Rows of each cloud of a padded batch; of a ragged one, of all of them together.
    pub rows: usize,
    /// Coordinates per point, up to 16.
    pub dims: usize,
    /// First row of each cloud and the end, `clouds + 1` `i64`: a ragged batch.
    pub offsets: Option<u64>,
    /// Number of valid rows of each cloud of a padded batch, `i64`.
    pub lengths: Option<u64>,
    /// Output: [`VoxelSummary::len`](crate::VoxelSummary::len) numbers, `i64`.
    pub summary: u64,
    /// Output, required for [`Origin::Min`] only: the origin of each cloud, `(clouds, dims)`.
    pub origins: Option<u64>,
    /// Address and size of memory of [`Gpu::voxel_scratch_bytes`], aligned to 256 bytes. The second step reads it.
    pub scratch: (u64, usize),
    /// Precision of the points.
    pub precision: PhantomData<T>,
}

/// Addresses in the scratch memory.
struct Memory {
    table: u64,
    slots: usize,
    firsts: u64,
    tally: u64,
    marks: u64,
    before: u64,
    parts: u64,
    bytes: usize,
}

impl Memory {
    fn new(address: u64, count: usize, least: u32) -> Self {
        let mut cut = Cut { next: address };
        // At least a quarter of them stays empty, so that searches are short.
        let slots = (count + count.div_ceil(3)).next_power_of_two().max(MIN_SLOTS);
        let (table, firsts) = (cut.take(4 * slots), cut.take(4 * count));
        let tally = if least > 1 { cut.take(4 * count) } else { 0 };
        let (marks, before) = (cut.take(4 * words(count)), cut.take(4 * words(count)));
        let parts = cut.take(4 * MAX_PARTS);
        let bytes = (cut.next - address) as usize;
        Self { table, slots, firsts, tally, marks, before, parts, bytes }
    }
}

/// Words of a bit for each row, and one for the end.
fn words(count: usize) -> usize {
    count / 32 + 1
}

/// Returns the rows of a block that goes through all rows together with others, and the number of these blocks.
fn parts(count: usize) -> (usize, usize) {
    let rows = 32 * words(count);
    let share = rows.div_ceil(TILE * MAX_PARTS) * TILE;
    (share, rows.div_ceil(share))
}

impl<T: CudaScalar> DeviceVoxels<T> {
    /// Rows of all clouds.
    pub(super) fn count(&self) -> usize {
        let clouds = if self.offsets.is_some() { self.clouds.min(1) } else { self.clouds };
        clouds.saturating_mul(self.rows)
    }

    /// Checks job, sizes and addresses.
    fn check(&self, job: &VoxelGrid) -> Result<(), Error> {
        job.check()?;
        check_batch(self.clouds, self.dims)?;
        if self.dims > MAX_DIMS {
            return Err(Error::Unsupported(format!(
                "voxels of points of {} axes; a GPU supports up to {MAX_DIMS}, the CPU any number",
                self.dims
            )));
        }
        let count = self.count();
        if count > MAX_ROWS {
            return shape_error(format!(
                "{count} rows exceed the limit of {MAX_ROWS} per call for voxels on a GPU; split the batch"
            ));
        }
        let (filled, minimum) = (count > 0, job.origin == Origin::Min);
        for (address, required, name) in [
            (Some(self.points), filled, "points"),
            (self.offsets, self.offsets.is_some(), "offsets"),
            (self.lengths, filled && self.lengths.is_some(), "lengths"),
            (Some(self.summary), true, "summary"),
            (self.origins, minimum && self.clouds > 0, "origins"),
        ] {
            if required && address.unwrap_or(0) == 0 {
                return shape_error(format!("the address of the {name} is null"));
            }
        }
        check_aligned::<T>(self.points, "points")?;
        check_aligned::<T>(self.origins.unwrap_or(0), "origins")?;
        for address in [self.offsets, self.lengths, Some(self.summary)] {
            check_aligned::<i64>(address.unwrap_or(0), "offsets, lengths or summary")?;
        }
        let (at, bytes) = self.scratch;
        let required = Memory::new(0, count, job.min_points).bytes;
        if bytes < required || at == 0 || !at.is_multiple_of(256) {
            return Err(Error::Unsupported(format!(
                "the scratch memory has {bytes} bytes at {at:#x}; this call needs {required} bytes, aligned to 256"
            )));
        }
        Ok(())
    }

    /// Returns the kernels' view, once job, sizes and addresses are checked.
    pub(super) fn parameter(&self, job: &VoxelGrid) -> Result<Grid<T>, Error> {
        self.check(job)?;
        let (size, origin) = job.on_axes::<T>(self.dims)?;
        let origins = if origin.is_none() { self.origins } else { None };
        let memory = Memory::new(self.scratch.0, self.count(), job.min_points);
        Ok(Grid {
            points: self.points,
            row_stride: self.strides[0],
            axis_stride: self.strides[1],
            offsets: self.offsets.unwrap_or(0),
            lengths: self.lengths.unwrap_or(0),
            origins: origins.unwrap_or(0),
            table: memory.table,
            firsts: memory.firsts,
            tally: memory.tally,
            marks: memory.marks,
            before: memory.before,
            parts: memory.parts,
            summary: self.summary,
            mask: (memory.slots - 1) as u32,
            count: self.count() as u32,
            rows: self.rows as u32,
            clouds: self.clouds as u32,
            dims: self.dims as u32,
            share: parts(self.count()).0 as u32,
            least: job.min_points,
            origin: on_axes(&origin.unwrap_or_default()),
            size: on_axes(&size),
        })
    }
}

fn shape_error<R>(message: String) -> Result<R, Error> {
    Err(farpoint::Error::Shape(message).into())
}

/// Voxels in device memory, found and counted.
impl Gpu {
    /// Returns the bytes of [`DeviceVoxels::scratch`] for this number of rows in all clouds: 10 to 15 per row, and 4
    /// more if voxels of few points are left out.
    pub fn voxel_scratch_bytes(&self, job: &VoxelGrid, count: usize) -> usize {
        Memory::new(0, count.min(MAX_ROWS), job.min_points).bytes
    }

    /// Queues the search for the voxels of each cloud without synchronizing, and their [`VoxelSummary`](crate::VoxelSummary). Rows with NaN
    /// or infinity, and those whose cell does not fit in 32 bits, are in no voxel; the summary counts them.
    ///
    /// # Errors
    /// On options that are invalid for every cloud; if sizes or addresses are wrong as far as the host can tell; and if
    /// the driver refuses a call.
    ///
    /// # Safety
    /// See [`DeviceVoxels`].
    pub unsafe fn enqueue_voxels<T: CudaScalar>(
        &self,
        job: &VoxelGrid,
        stream: &Stream,
        voxels: &DeviceVoxels<T>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        let grid = voxels.parameter(job)?;
        let count = voxels.count();
        let start = |blocks: u32, name: &'static str| {
            let function = self.function::<T>("voxels", name)?;
            // SAFETY: `Grid` mirrors the kernels' parameter; the arrays are as `DeviceVoxels` requires by this
            // function's contract, and the scratch memory has room for all.
            unsafe { Launch::new(blocks, THREADS).start(stream, function, &grid) }
        };
        let start_plain = |blocks: u32, name: &'static str| {
            let function = self.function::<f32>("voxels", name)?;
            // SAFETY: as above; these kernels read no coordinates, so that either precision fits.
            unsafe { Launch::new(blocks, THREADS).start(stream, function, &grid) }
        };
        let cleared = (grid.mask as usize / 4).max(voxels.clouds * voxels.dims);
        start(blocks(cleared).min(MAX_CLEAR as u32), "voxels_clear")?;
        if grid.origins != 0 && voxels.clouds > 0 {
            if count > 0 {
                start(blocks(count), "voxels_least")?;
            }
            start(blocks(voxels.clouds * voxels.dims), "voxels_origin")?;
        }
        if count > 0 {
            start(blocks(count), "voxels_insert")?;
            if grid.tally != 0 {
                start_plain(blocks(count), "voxels_tally")?;
            }
        }
        let parts = parts(count).1 as u32;
        start_plain(parts, "voxels_mark")?;
        start_plain(parts, "voxels_rank")?;
        if job.sorted && count > 0 {
            start(blocks(count), "voxels_box")?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Voxels that pass the check.
    pub(in crate::voxels) fn valid() -> DeviceVoxels<f32> {
        DeviceVoxels {
            points: 256,
            strides: [3, 1],
            clouds: 2,
            rows: 10,
            dims: 3,
            offsets: None,
            lengths: None,
            summary: 512,
            origins: None,
            scratch: (1024, 1 << 20),
            precision: PhantomData,
        }
    }

    #[test]
    fn scratch_memory_is_cut() {
        let memory = Memory::new(256, 120_000, 1);
        assert_eq!((memory.table, memory.slots, memory.tally), (256, 1 << 18, 0));
        assert_eq!(memory.firsts, 256 + (4 << 18));
        assert_eq!(Memory::new(0, 0, 5).slots, MIN_SLOTS);
        // A quarter of the slots stays empty.
        for count in [1usize, 191, 192, 193, 1_000, 98_304, 98_305, 10_000_000, MAX_ROWS] {
            let slots = Memory::new(0, count, 1).slots;
            assert!(4 * count <= 3 * slots && u32::try_from(slots).is_ok(), "{count}: {slots}");
        }
        assert_eq!(Memory::new(0, 10_000_000, 1).slots, 1 << 24);
        let (plain, tallied) = (Memory::new(0, 1_000, 1).bytes, Memory::new(0, 1_000, 2).bytes);
        assert_eq!(tallied - plain, 4_096);
    }

    #[test]
    fn parts_cover_all_rows_and_the_end() {
        for count in [0usize, 1, 31, 32, 1_023, 1_024, 120_000, 10_000_000, MAX_ROWS] {
            let (share, parts) = parts(count);
            assert!(share % TILE == 0 && parts <= MAX_PARTS && parts > 0, "{count}");
            assert!(share * parts > count && share * (parts - 1) <= count, "{count}");
            assert!(u32::try_from(share * parts).is_ok());
        }
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        let job = VoxelGrid::new(0.5);
        let message = |voxels: DeviceVoxels<f32>, job: &VoxelGrid| {
            voxels.parameter(job).unwrap_err().to_string()
        };
        assert!(valid().parameter(&job).is_ok());
        assert!(message(DeviceVoxels { points: 0, ..valid() }, &job).contains("points is null"));
        assert!(message(DeviceVoxels { summary: 0, ..valid() }, &job).contains("summary is null"));
        assert!(message(DeviceVoxels { points: 258, ..valid() }, &job).contains("not aligned"));
        assert!(
            message(DeviceVoxels { offsets: Some(4), ..valid() }, &job).contains("not aligned")
        );
        assert!(message(DeviceVoxels { dims: 17, ..valid() }, &job).contains("17 axes"));
        let many = DeviceVoxels { rows: 1 << 30, ..valid() };
        assert!(message(many, &job).contains("2147483648 rows"));
        assert!(message(DeviceVoxels { scratch: (1024, 9), ..valid() }, &job).contains("9 bytes"));
        assert!(message(valid(), &VoxelGrid::new(0.0)).contains('0'));
        let minimum = VoxelGrid::new(0.5).origin(Origin::Min);
        assert!(message(valid(), &minimum).contains("origins is null"));
        assert!(DeviceVoxels { origins: Some(768), ..valid() }.parameter(&minimum).is_ok());
        let none = DeviceVoxels { points: 0, rows: 0, ..valid() };
        assert!(none.parameter(&job).is_ok());
    }

    #[test]
    fn sizes_and_origins_are_rounded() {
        let job = VoxelGrid::per_axis([0.1, 0.2, 0.3]).origin(Origin::At(vec![1.0, 2.0, 3.0]));
        let grid = valid().parameter(&job).unwrap();
        assert_eq!(grid.size[..4], [0.1, 0.2, 0.3, 1.0]);
        assert_eq!(grid.origin[..3], [1.0, 2.0, 3.0]);
        assert_eq!((grid.count, grid.mask, grid.least), (20, 255, 1));
    }
}
