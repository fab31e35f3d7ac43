//! Indexes: neighbor order and a box tree of each cloud of a batch (`kernels/search/index.cuh`), in the
//! caller's memory or in scratch.

use super::clouds::{DeviceClouds, null};
use super::parameter::Clouds;
use crate::guard::{Guard, Kernel};
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::module::Function;
use crate::neighbors::in_side;
use crate::team::{self, Teams, aligned, padded};
use crate::{CudaScalar, Error, Gpu, Stream, input};
use std::marker::PhantomData;

/// An index to be built over clouds in device memory, once for many searches: it is given to these in
/// [`DeviceClouds::index`], for `y`, and for `x` where a cloud searches itself.
///
/// # Safety
/// As for [`DeviceSearch`](super::DeviceSearch): points, lengths and offsets as they will be in searches.
#[derive(Debug, Clone, Copy)]
pub struct DeviceIndex<T> {
    /// The clouds, and the memory for their index: at least [`Gpu::index_bytes`], aligned to 256 bytes.
    pub of: DeviceClouds,
    /// Clouds.
    pub clouds: usize,
    /// Coordinates of a row.
    pub dims: usize,
    /// Address and size of scratch memory: at least [`Gpu::index_scratch_bytes`], aligned to 256 bytes; from
    /// the pool if not given.
    pub scratch: Option<(u64, usize)>,
    /// The precision.
    pub precision: PhantomData<T>,
}

impl<T: CudaScalar> DeviceIndex<T> {
    /// Of these clouds.
    pub fn new(of: DeviceClouds, clouds: usize, dims: usize) -> Self {
        Self { of, clouds, dims, scratch: None, precision: PhantomData }
    }

    fn check(&self) -> Result<(), Error> {
        input::check_batch(self.clouds, self.dims)?;
        in_side(1, self.of.check::<T>(self.clouds))?;
        self.of.check_index::<T>(self.clouds)?;
        if self.of.index.is_none() {
            return Err(Error::Unsupported("there is no memory for the index".into()));
        }
        Ok(())
    }
}

/// Indexes of clouds in device memory.
impl Gpu {
    /// Bytes of an index over so many clouds of at most `rows` rows.
    pub fn index_bytes<T: CudaScalar>(&self, clouds: usize, rows: usize) -> usize {
        bytes::<T>(clouds, rows)
    }

    /// Bytes of scratch memory that [`Gpu::enqueue_index`] uses; 0 if the GPU can't build indexes.
    pub fn index_scratch_bytes<T: CudaScalar>(&self, clouds: usize, rows: usize) -> usize {
        layout::<T>(self, clouds, rows).map_or(0, |layout| layout.bytes())
    }

    /// Queues the building of an index and returns without waiting; see [`DeviceIndex`].
    ///
    /// # Errors
    /// If sizes or addresses are wrong as far as the host can tell, and if the driver refuses a call.
    ///
    /// # Safety
    /// See [`DeviceIndex`].
    pub unsafe fn enqueue_index<T: CudaScalar>(
        &self,
        stream: &Stream,
        wanted: &DeviceIndex<T>,
    ) -> Result<(), Error> {
        stream.check_of(self)?;
        wanted.check()?;
        if wanted.clouds == 0 || wanted.of.rows == 0 {
            return Ok(());
        }
        let memory = wanted.of.index.map_or(0, |(address, _)| address);
        let build = Build {
            sides: [None, Some((wanted.of, memory))],
            clouds: wanted.clouds,
            dims: wanted.dims,
        };
        // SAFETY: the memory is as `DeviceIndex` requires, by this function's contract; its size was
        // checked.
        unsafe { enqueue::<T>(self, stream, &build, wanted.scratch) }
    }
}

/// `struct Indexes` of `kernels/search/index.cuh`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Indexes {
    memory: u64,
    stride: u64,
    rows: u32,
}

impl Indexes {
    /// Of clouds with at most `rows` rows, at this address.
    pub(super) fn at<T: CudaScalar>(memory: u64, rows: usize) -> Self {
        Self { memory, stride: bytes_of_one::<T>(rows) as u64, rows: rows as u32 }
    }
}

/// Bytes of all indexes of a side.
pub(super) fn bytes<T: CudaScalar>(clouds: usize, rows: usize) -> usize {
    clouds.saturating_mul(bytes_of_one::<T>(rows))
}

fn bytes_of_one<T: CudaScalar>(rows: usize) -> usize {
    let (number, padded) = (size_of::<T>(), padded(rows));
    let boxes = 8 * 32 * number * team::blocks_of_children(padded / 32);
    [3 * number * padded, 4 * padded, boxes].into_iter().map(aligned).sum()
}

/// Indexes to be built by one launch: of either side its clouds and where its index goes.
pub(super) struct Build {
    pub(super) sides: [Option<(DeviceClouds, u64)>; 2],
    pub(super) clouds: usize,
    pub(super) dims: usize,
}

impl Build {
    fn rows(&self) -> usize {
        self.sides.iter().flatten().map(|(clouds, _)| clouds.rows).max().unwrap_or(0)
    }

    fn jobs(&self) -> usize {
        self.clouds * self.sides.iter().flatten().count()
    }
}

/// `struct IndexArgs` of `kernels/search/search_index.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    guard: Guard,
    sides: [Clouds; 2],
    indexes: [Indexes; 2],
    headers: u64,
    scratch: u64,
    header_stride: u64,
    stride: u64,
    team: u32,
    rows: u32,
    clouds: u32,
    first: u32,
    sides_built: u32,
    dims: u32,
}

/// Bytes of a team's header.
const HEADER: usize = 256;

/// How a batch is laid over the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    teams: Teams,
    /// Bytes of a team's arrays.
    arrays: usize,
}

impl Layout {
    /// For a card that runs `blocks` blocks at the same time.
    fn new<T: CudaScalar>(blocks: usize, jobs: usize, rows: usize, team: Option<u32>) -> Self {
        let teams = Teams::new(blocks, jobs, rows, team);
        // Bounds of each block's part, digit counts, keys and rows.
        let arrays = [6 * size_of::<T>() * teams.team, 4 * 256 * teams.team, 3 * 4 * padded(rows)];
        Self { teams, arrays: arrays.into_iter().map(aligned).sum() }
    }

    fn bytes(&self) -> usize {
        self.teams.count.saturating_mul(self.arrays.saturating_add(HEADER))
    }
}

fn kernel<T: CudaScalar>(gpu: &Gpu) -> Result<(Function, Launch), Error> {
    // As many threads as the registers of a block allow.
    let threads = if size_of::<T>() == 4 { 1024 } else { 512 };
    Ok((gpu.function::<T>("search_index", "build")?, Launch::new(1, threads).cooperative()))
}

fn layout<T: CudaScalar>(gpu: &Gpu, jobs: usize, rows: usize) -> Result<Layout, Error> {
    let (function, launch) = kernel::<T>(gpu)?;
    let blocks = team::blocks_at_once(gpu, function, launch)?;
    Ok(Layout::new::<T>(blocks, jobs, rows, gpu.tree_team()))
}

/// Bytes of scratch memory; 0 where the device cannot build indexes.
pub(super) fn scratch_bytes<T: CudaScalar>(gpu: &Gpu, build: &Build) -> usize {
    if build.jobs() == 0 {
        return 0;
    }
    layout::<T>(gpu, build.jobs(), build.rows()).map_or(0, |layout| layout.bytes())
}

/// Queues the kernel; at least one side is to be built.
///
/// # Safety
/// The clouds must be as `build` says, and their indexes' memory must have [`bytes`]; all of it must stay so
/// until the stream has finished.
pub(super) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    build: &Build,
    scratch: Option<(u64, usize)>,
) -> Result<(), Error> {
    let (function, launch) = kernel::<T>(gpu)?;
    let layout = layout::<T>(gpu, build.jobs(), build.rows())?;
    let scratch = Scratch::new(stream, scratch, layout.bytes())?;
    let headers = layout.teams.count * HEADER;
    let side = |side: &Option<(DeviceClouds, u64)>| {
        side.as_ref().map_or_else(Default::default, |(clouds, memory)| {
            (Clouds::of(clouds), Indexes::at::<T>(*memory, clouds.rows))
        })
    };
    let [x, y] = build.sides.each_ref().map(side);
    let args = Args {
        guard: Guard::new(stream, Kernel::Index),
        sides: [x.0, y.0],
        indexes: [x.1, y.1],
        headers: scratch.pointer(),
        scratch: scratch.pointer() + headers as u64,
        header_stride: HEADER as u64,
        stride: layout.arrays as u64,
        team: layout.teams.team as u32,
        rows: build.rows() as u32,
        clouds: build.clouds as u32,
        first: u32::from(build.sides[0].is_none()),
        sides_built: build.sides.iter().flatten().count() as u32,
        dims: build.dims as u32,
    };
    let headers = (scratch.pointer(), headers);
    // SAFETY: headers lie at the start of the scratch memory. `Args` mirrors the kernel's parameter; `arrays`
    // is what it places; scratch memory is freed in stream order; clouds and indexes are valid by this
    // function's contract.
    unsafe { layout.teams.start(stream, function, launch, &args, headers) }
}

impl DeviceClouds {
    /// Refuses memory that is too small for an index, if one is given.
    pub(super) fn check_index<T: CudaScalar>(&self, clouds: usize) -> Result<(), Error> {
        let wanted = bytes::<T>(clouds, self.rows);
        match self.index {
            Some((address, bytes)) if bytes < wanted || !address.is_multiple_of(256) => {
                Err(Error::Unsupported(format!(
                    "the index has {bytes} bytes at {address:#x}; one of {clouds} clouds of {} rows \
                     needs {wanted} bytes, aligned to 256",
                    self.rows
                )))
            }
            Some((0, _)) if wanted > 0 => Err(null("index")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_the_kernels() {
        let source = include_str!("../../kernels/search/search_index.cu");
        let theirs = "guard sides indexes headers scratch header_stride stride team rows clouds first \
                      sides_built dims";
        assert_eq!(fields(source, "IndexArgs"), theirs);
        assert_eq!((offset_of!(Args, indexes), offset_of!(Args, headers)), (120, 168));
        assert_eq!((offset_of!(Args, dims), size_of::<Args>()), (220, 224));
        let source = include_str!("../../kernels/search/index.cuh");
        assert_eq!(fields(source, "Indexes"), "memory stride rows");
        assert_eq!(size_of::<Indexes>(), 24);
    }

    #[test]
    fn bytes_are_what_the_documentation_says() {
        let a_point = |bytes: usize| bytes as f64 / 1e6;
        assert!((17.0..17.1).contains(&a_point(bytes::<f32>(1, 1_000_000))));
        assert!((30.0..30.2).contains(&a_point(bytes::<f64>(1, 1_000_000))));
        assert_eq!(bytes::<f32>(3, 1), 3 * (512 + 256 + 1024));
        let layout = Layout::new::<f32>(132, 2, 1_000_000, None);
        assert_eq!((layout.teams.team, layout.teams.count), (66, 2));
    }
}
