//! Indexes: groups of neighboring points and a box tree of each cloud of a batch (`kernels/search/index.cuh`), in the
//! caller's memory or in scratch.

use super::clouds::{DeviceClouds, null};
use super::parameter::Clouds;
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::neighbors::in_side;
use crate::team::{self, aligned};
use crate::{CudaScalar, Error, Gpu, Stream, input};
use std::marker::PhantomData;

/// An index to be built over clouds in device memory, once for many searches, which take it as
/// [`DeviceClouds::index`], for `y`, and for `x` if a cloud searches itself.
///
/// # Safety
/// As for [`DeviceSearch`](super::DeviceSearch): points, lengths and offsets as they will be in searches.
#[derive(Debug, Clone, Copy)]
pub struct DeviceIndex<T> {
    /// The clouds, and the memory for their index: at least [`Gpu::index_bytes`], aligned to 256 bytes.
    pub of: DeviceClouds,
    /// Number of clouds.
    pub clouds: usize,
    /// Coordinates per row.
    pub dims: usize,
    /// Address and size of scratch memory: at least [`Gpu::index_scratch_bytes`], aligned to 256 bytes; from the pool
    /// if `None`.
    pub scratch: Option<(u64, usize)>,
    /// The precision.
    pub precision: PhantomData<T>,
}

impl<T: CudaScalar> DeviceIndex<T> {
    /// Creates the description of an index of these clouds.
    pub fn new(of: DeviceClouds, clouds: usize, dims: usize) -> Self {
        Self { of, clouds, dims, scratch: None, precision: PhantomData }
    }

    fn check(&self) -> Result<(), Error> {
        input::check_batch(self.clouds, self.dims)?;
        in_side(1, self.of.check::<T>(self.clouds))?;
        self.of.check_index::<T>(self.clouds)?;
        if self.of.index.is_none() {
            return Err(Error::Unsupported("the address of the index is missing".into()));
        }
        Ok(())
    }
}

/// Indexes of clouds in device memory.
impl Gpu {
    /// Returns the bytes of an index over this many clouds of at most `rows` rows: 37 to 60 per row in `f32` and 64
    /// to 100 in `f64` from 1,025 rows on.
    pub fn index_bytes<T: CudaScalar>(&self, clouds: usize, rows: usize) -> usize {
        bytes::<T>(clouds, rows)
    }

    /// Returns the bytes of scratch memory that [`Gpu::enqueue_index`] uses.
    pub fn index_scratch_bytes<T: CudaScalar>(&self, clouds: usize, rows: usize) -> usize {
        Plan::new(rows).bytes(clouds)
    }

    /// Queues the building of an index without synchronizing; see [`DeviceIndex`].
    ///
    /// # Errors
    /// If sizes or addresses are wrong as far as the host can tell, and if the driver refuses a call.
    ///
    /// # Safety
    /// See [`DeviceIndex`].
    pub unsafe fn enqueue_index<T: CudaScalar>(
        &self,
        stream: &Stream,
        request: &DeviceIndex<T>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        request.check()?;
        if request.clouds == 0 || request.of.rows == 0 {
            return Ok(());
        }
        let memory = request.of.index.map_or(0, |(address, _)| address);
        let build = Build {
            sides: [None, Some((request.of, memory))],
            clouds: request.clouds,
            dims: request.dims,
        };
        // SAFETY: the memory is as `DeviceIndex` requires, by this function's contract; its size was
        // checked.
        unsafe { enqueue::<T>(self, stream, &build, request.scratch) }
    }
}

/// `struct Indexes` of `kernels/search/index.cuh`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Indexes {
    memory: u64,
    stride: u64,
    rows: u32,
}

impl Indexes {
    /// Indexes of clouds with at most `rows` rows, at this address.
    pub fn at<T: CudaScalar>(memory: u64, rows: usize) -> Self {
        Self { memory, stride: bytes_of_one::<T>(rows) as u64, rows: rows as u32 }
    }
}

/// Bytes of all indexes of a side.
pub fn bytes<T: CudaScalar>(clouds: usize, rows: usize) -> usize {
    clouds.saturating_mul(bytes_of_one::<T>(rows))
}

fn bytes_of_one<T: CudaScalar>(rows: usize) -> usize {
    let (number, places) = (size_of::<T>(), chunks(rows) * CHUNK);
    let boxes = 8 * 32 * number * team::blocks_of_children(places / 32);
    [3 * number * places, 4 * places, 4 * rows, boxes].into_iter().map(aligned).sum()
}

/// Places of an index over this many rows, some of which are empty.
pub fn places(rows: usize) -> usize {
    chunks(rows) * CHUNK
}

/// Bytes of scratch memory to build indexes.
pub fn building_bytes(clouds: usize, rows: usize) -> usize {
    Plan::new(rows).bytes(clouds)
}

/// Nodes of the lowest level for this many rows: `chunks_of` of `kernels/search/index.cuh`.
fn chunks(rows: usize) -> usize {
    let of_run = |rows: usize| match rows <= CHUNK {
        true => rows.min(1),
        false => rows / CHUNK + rows.div_ceil(CHUNK).next_power_of_two(),
    };
    rows / LAST_RUN * of_run(LAST_RUN) + of_run(rows % LAST_RUN)
}

/// Indexes to be built by one launch: of each side its clouds and the address of its index.
pub struct Build {
    /// Clouds of both sides, and the address of the index of each.
    pub sides: [Option<(DeviceClouds, u64)>; 2],
    /// Number of clouds on a side.
    pub clouds: usize,
    /// Coordinates per point.
    pub dims: usize,
}

impl Build {
    fn sides(&self) -> impl Iterator<Item = &(DeviceClouds, u64)> {
        self.sides.iter().flatten().filter(|(of, _)| of.rows > 0)
    }
}

/// `struct IndexArgs` of `kernels/search/search_index.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    side: Clouds,
    indexes: Indexes,
    counters: u64,
    counters_stride: u64,
    scratch: u64,
    stride: u64,
    rows: u32,
    run: u32,
    chunks: u32,
    dims: u32,
    from: u32,
}

/// Rows per block, which are halved until they are groups.
const CHUNK: usize = 1024;

/// Largest number of rows that are dealt to cells for the last time, and maximum number of cells.
const LAST_RUN: usize = 1 << 18;
const CELLS: usize = LAST_RUN / CHUNK;

/// Bytes of `struct Deal` of the kernels.
const DEAL: usize = 8 * CELLS + 32;

/// Threads per block that halves rows.
const BUILDERS: u32 = 256;

/// Maximum number of rows per run: whole chunks that a `u32` can count.
const MAX_RUN: usize = u32::MAX as usize / CHUNK * CHUNK;

/// `enum From` of the kernels: source of the rows.
const FROM_CLOUD: u32 = 0;
const FROM_SEQUENCE: u32 = 1;
const FROM_SCRATCH: u32 = 2;

/// Plan to build an index over clouds of at most `rows` rows, with its scratch memory.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Plan {
    rows: usize,
    /// Rows that are dealt together in each pass; none for a cloud of one chunk.
    runs: Vec<usize>,
}

impl Plan {
    fn new(rows: usize) -> Self {
        let mut runs = Vec::new();
        if rows > CHUNK {
            runs.push(rows.next_multiple_of(CHUNK).min(MAX_RUN));
        }
        while let Some(&run) = runs.last().filter(|&&run| run > LAST_RUN) {
            // Runs of the next pass hold eight cells or more, so that few cross their ends.
            runs.push((run * 8 / CELLS).next_multiple_of(CHUNK).max(LAST_RUN));
        }
        Self { rows, runs }
    }

    fn last_run(&self) -> usize {
        self.runs.last().copied().unwrap_or(CHUNK)
    }

    /// Bytes of a cloud's counters: of the cells of each run, and of the blocks that have finished.
    fn counters(&self) -> usize {
        match self.runs.is_empty() {
            true => 0,
            false => aligned(DEAL * self.rows.div_ceil(self.last_run()) + 4),
        }
    }

    /// Bytes of a cloud's tickets, and of its rows between two passes.
    fn arrays(&self) -> usize {
        match self.runs.len() {
            0 => 0,
            1 => aligned(8 * self.rows),
            _ => aligned(8 * self.rows) + aligned(4 * self.rows),
        }
    }

    fn bytes(&self, clouds: usize) -> usize {
        clouds.saturating_mul(self.counters().saturating_add(self.arrays())).max(256)
    }

    fn blocks(&self, clouds: usize, per_cloud: usize) -> Result<u32, Error> {
        let blocks = clouds.saturating_mul(per_cloud);
        i32::try_from(blocks).map(|blocks| blocks as u32).map_err(|_| {
            Error::Unsupported(format!(
                "indexes over {clouds} clouds of {} rows exceed the limit of one launch; use fewer \
                 clouds per call",
                self.rows
            ))
        })
    }
}

/// Bytes of scratch memory.
pub(crate) fn scratch_bytes(build: &Build) -> usize {
    build.sides().map(|(of, _)| Plan::new(of.rows).bytes(build.clouds)).max().unwrap_or(0)
}

/// Queues the kernels; at least one side is to be built.
///
/// # Safety
/// The clouds must match `build`, and their indexes' memory must have [`bytes`]; all of it must stay so until
/// the stream has finished.
pub unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    build: &Build,
    scratch: Option<(u64, usize)>,
) -> Result<(), Error> {
    let scratch = Scratch::new(stream, scratch, scratch_bytes(build))?;
    for (of, memory) in build.sides() {
        let plan = Plan::new(of.rows);
        let counters = plan.counters() * build.clouds;
        let mut args = Args {
            side: Clouds::of(of),
            indexes: Indexes::at::<T>(*memory, of.rows),
            counters: scratch.pointer(),
            counters_stride: plan.counters() as u64,
            scratch: scratch.pointer() + counters as u64,
            stride: plan.arrays() as u64,
            rows: of.rows as u32,
            run: plan.last_run() as u32,
            chunks: 0,
            dims: build.dims as u32,
            from: FROM_CLOUD,
        };
        let building = Launch::new(plan.blocks(build.clouds, chunks(of.rows))?, BUILDERS);
        // SAFETY: `Args` mirrors the kernels' parameter; the scratch memory holds what the plan lays out
        // there, and is freed in stream order; clouds and indexes are valid by this function's contract.
        unsafe {
            for &run in &plan.runs {
                args.run = run as u32;
                let steps = [
                    ("find_planes", run, BUILDERS),
                    ("count_cells", CHUNK, 1024),
                    ("fill_cells", CHUNK, 1024),
                ];
                for (name, rows_a_block, threads) in steps {
                    let blocks = of.rows.div_ceil(rows_a_block);
                    args.chunks = blocks as u32;
                    Launch::new(plan.blocks(build.clouds, blocks)?, threads).start(
                        stream,
                        gpu.function::<T>("search_index", name)?,
                        &args,
                    )?;
                }
                args.from = if args.from == FROM_SEQUENCE { FROM_SCRATCH } else { FROM_SEQUENCE };
            }
            args.chunks = chunks(of.rows) as u32;
            building.start(stream, gpu.function::<T>("search_index", "build_groups")?, &args)?;
        }
    }
    Ok(())
}

impl DeviceClouds {
    /// Refuses memory that is too small for an index, if one is given.
    pub fn check_index<T: CudaScalar>(&self, clouds: usize) -> Result<(), Error> {
        let required = bytes::<T>(clouds, self.rows);
        match self.index {
            Some((address, bytes)) if bytes < required || !address.is_multiple_of(256) => {
                Err(Error::Unsupported(format!(
                    "the index has {bytes} bytes at {address:#x}; one of {clouds} clouds of {} rows \
                     needs {required} bytes, aligned to 256",
                    self.rows
                )))
            }
            Some((0, _)) if required > 0 => Err(null("index")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_the_kernels() {
        let source = include_str!("../../kernels/search/search_index.cu");
        let names =
            "side indexes counters counters_stride scratch stride rows run chunks dims from";
        assert_eq!(fields(source, "IndexArgs"), names);
        assert_eq!((offset_of!(Args, indexes), offset_of!(Args, counters)), (48, 72));
        assert_eq!((offset_of!(Args, from), size_of::<Args>()), (120, 128));
        assert!(source.contains(&format!("CELLS = {CELLS};")));
        assert!(source.contains("sizeof(Deal) == 8 * CELLS + 32") && DEAL == 8 * CELLS + 32);
        let from = format!(
            "enum From {{ FROM_CLOUD = {FROM_CLOUD}, FROM_SEQUENCE = {FROM_SEQUENCE}, FROM_SCRATCH = {FROM_SCRATCH} }};"
        );
        assert!(source.contains(&from));
        let source = include_str!("../../kernels/search/halving.cuh");
        assert!(source.contains(&format!("BUILDERS = {BUILDERS};")));
        let source = include_str!("../../kernels/search/index.cuh");
        assert_eq!(fields(source, "Indexes"), "memory stride rows");
        assert!(source.contains(&format!("CHUNK = {CHUNK};")) && LAST_RUN == 1 << 18);
        assert!(source.contains("RUN = 1u << 18;"));
        assert_eq!(size_of::<Indexes>(), 24);
    }

    #[test]
    fn index_sizes_match_the_documentation() {
        let a_point = |bytes: usize, rows: usize| bytes as f64 / rows as f64;
        for rows in [1_500, 5_000, 24_000, 124_668, 1_000_000, 10_000_000] {
            assert!((37.0..60.0).contains(&a_point(bytes::<f32>(1, rows), rows)), "{rows}");
            assert!((64.0..100.0).contains(&a_point(bytes::<f64>(1, rows), rows)), "{rows}");
        }
        let one = 3 * 4 * 1_024 + 4 * 1_024 + 256 + 1_024;
        assert_eq!(bytes::<f32>(3, 1), 3 * one);
    }

    #[test]
    fn a_run_has_a_node_for_each_cell_and_each_chunk() {
        let chunks = [1, 1_024, 1_025, 2_048, 4_096, 24_000, 124_668].map(chunks);
        assert_eq!(chunks, [1, 1, 3, 4, 8, 55, 249]);
        assert_eq!(
            [0, LAST_RUN, LAST_RUN + 1, 3 * LAST_RUN + 5_000].map(super::chunks),
            [0, 512, 513, 1_548]
        );
    }

    #[test]
    fn large_clouds_are_dealt_in_several_passes() {
        let runs = |rows| Plan::new(rows).runs;
        assert_eq!(runs(1_024), []);
        assert_eq!(runs(1_025), [2_048]);
        assert_eq!(runs(LAST_RUN), [LAST_RUN]);
        assert_eq!(runs(LAST_RUN + 1), [LAST_RUN + CHUNK, LAST_RUN]);
        assert_eq!(runs(1 << 30), [1 << 30, 1 << 25, 1 << 20, LAST_RUN]);
        for rows in [1, 1_025, 300_000, 5_000_000, u32::MAX as usize] {
            let plan = Plan::new(rows);
            // What a chunk holds of its buckets, and a run of those before, is most of each.
            assert!(plan.last_run() <= LAST_RUN.max(CHUNK) && plan.runs.len() <= 5, "{plan:?}");
            assert!(plan.runs.windows(2).all(|two| two[1] >= two[0] / 32), "{plan:?}");
        }
    }

    #[test]
    fn scratch_sizes_match_the_documentation() {
        let a_point = |rows| Plan::new(rows).bytes(1) as f64 / rows as f64;
        assert!((8.0..8.1).contains(&a_point(124_668)));
        assert!((12.0..12.1).contains(&a_point(10_000_000)));
        assert_eq!(Plan::new(1_024).bytes(32), 256);
    }
}
