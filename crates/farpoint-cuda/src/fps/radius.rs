//! RadiusFPS-G (the paper's section 4): voxels pruned by their spheres, two kernels per sample.
//!
//! Preparing (algorithm 2) sorts the points by voxel on the device; the number of voxels is known only
//! there, so launches are sized for an upper bound. Then each sample takes a kernel that selects it and
//! one that updates the voxels within its reach; either can be split ([`RadiusOptions`]), which costs
//! time and changes nothing else. The kernels count samples themselves, so that one CUDA graph of some
//! hundred pairs serves a whole run ([`chain`]). Kernels past the last sample do nothing, but they are
//! queued: a run that a spacing ends early still takes about 2 us for each sample up to its maximum.
//!
//! # Scratch memory
//! A row takes five numbers (its coordinates, distance and row), and half a voxel's: 36.5 bytes in
//! `f32`, 64.6 in `f64`, and up to 2.4 KB (3.2 KB) per cloud. Clouds are counted with the rows of the
//! largest.

mod chain;

use super::batch::{Batch, Shape};
use crate::driver::sys;
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::module::Function;
use crate::progress::Part;
use crate::{CudaScalar, Error, Gpu, Stream};
use chain::Chain;
use farpoint::RadiusOptions;

/// `LANES` and `TILE` of `kernels/radius/state.cuh`.
const LANES: usize = 32;
const TILE: usize = 4096;

/// Bytes of `struct RadiusState`.
const STATE: usize = 256;

/// Threads per block: of kernels with one block per tile, with one block per cloud, with one warp per
/// voxel, and of those that update.
const TILE_THREADS: u32 = 256;
const CLOUD_THREADS: u32 = 1024;
const VOXEL_THREADS: u32 = 256;
const UPDATE_THREADS: u32 = 128;

/// Maximum number of clouds per launch: the limit of a grid's second dimension.
const MAX_CLOUDS: usize = 65_535;

/// Finest grid whose voxels can be numbered by 32 bits.
const MAX_NVOX: u32 = 1024;

/// Target number of points per voxel unless `nvox` is set: half of what a warp handles at once, as
/// crowded voxels take more. NOT MEASURED YET on a GPU; counted on the CPU, 8 to 32 visit about as many
/// points per warp (a KITTI turn, a room of 40,000).
const POINTS_A_VOXEL: u32 = 16;

/// Maximum target number of voxels: every step reads all of them.
const MAX_VOXELS: u32 = 32_768;

/// `struct RadiusArguments` of `kernels/radius/state.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Arguments<T> {
    batch: Batch<T>,
    states: u64,
    axes: u64,
    distance: u64,
    origin: u64,
    spheres: u64,
    ranges: u64,
    best: u64,
    leaders: u64,
    masks: u64,
    counts: u64,
    first_cloud: u32,
    nvox: u32,
    points_a_voxel: u32,
    most_wanted: u32,
    passes: u32,
    pass: u32,
}

/// Bytes of the arrays in scratch memory, in the order of the arguments.
fn arrays<T: CudaScalar>(shape: Shape) -> [usize; 10] {
    let number = size_of::<T>();
    // A number and a row, aligned.
    let candidate = 2 * number;
    let each =
        |units: usize, bytes: usize| shape.clouds.saturating_mul(units.saturating_mul(bytes));
    let (rows, chunks) = (shape.rows, shape.rows.div_ceil(2 * LANES));
    [
        each(1, STATE),
        each(rows, 3 * number),
        each(rows, number),
        each(rows, 4),
        each(chunks, LANES * 4 * number),
        each(chunks, LANES * 8),
        each(chunks, LANES * candidate),
        each(chunks, candidate),
        each(chunks, 4),
        each(shape.rows.div_ceil(TILE), 1024),
    ]
}

/// Size of an array, rounded up so that the next one is aligned.
fn padded(bytes: usize) -> usize {
    bytes.checked_next_multiple_of(256).unwrap_or(usize::MAX)
}

/// Bytes of scratch memory.
pub(crate) fn scratch_bytes<T: CudaScalar>(shape: Shape) -> usize {
    arrays::<T>(shape).into_iter().fold(0, |sum, array| sum.saturating_add(padded(array)))
}

/// Queues the sampling of a batch.
///
/// # Safety
/// The addresses in `batch` and `scratch` must match `shape`, and stay valid until the
/// stream has finished.
pub(crate) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    batch: &Batch<T>,
    shape: Shape,
    scratch: Option<(u64, usize)>,
    options: &RadiusOptions,
    mut part: Option<&mut Part<'_, '_>>,
) -> Result<(), Error> {
    let nvox = options.nvox.unwrap_or(0);
    let scratch = Scratch::new(stream, scratch, scratch_bytes::<T>(shape))?;
    let mut args = arguments(batch, shape, nvox, scratch.pointer());
    for first in (0..shape.clouds).step_by(MAX_CLOUDS) {
        args.first_cloud = first as u32;
        let clouds = (shape.clouds - first).min(MAX_CLOUDS);
        let queue = Queue { gpu, stream, args, shape: Shape { clouds, ..shape } };
        // SAFETY: `Arguments` mirrors the kernels' parameter; the scratch memory is freed in
        // stream order; the arrays of `batch` are valid by this function's contract.
        unsafe {
            queue.prepare()?;
            queue.sample(options, |steps| match &mut part {
                Some(part) if part.is_watched() => {
                    stream.wait("radius")?;
                    part.reach(first * shape.samples + steps.min(shape.samples) * clouds)
                }
                _ => Ok(()),
            })?;
        }
    }
    Ok(())
}

fn arguments<T: CudaScalar>(
    batch: &Batch<T>,
    shape: Shape,
    nvox: u32,
    scratch: u64,
) -> Arguments<T> {
    let mut next = scratch;
    let mut place = |bytes: usize| {
        let array = next;
        next += padded(bytes) as u64;
        array
    };
    let [states, axes, distance, origin, spheres, ranges, best, leaders, masks, counts] =
        arrays::<T>(shape).map(&mut place);
    Arguments {
        batch: Batch { rows: shape.rows as i64, ..*batch },
        states,
        axes,
        distance,
        origin,
        spheres,
        ranges,
        best,
        leaders,
        masks,
        counts,
        first_cloud: 0,
        nvox,
        points_a_voxel: POINTS_A_VOXEL,
        most_wanted: MAX_VOXELS,
        passes: passes(if nvox == 0 { MAX_NVOX } else { nvox }),
        pass: 0,
    }
}

/// Passes of the radix sort, eight bits each, for keys below `nvox^3`.
fn passes(nvox: u32) -> u32 {
    let largest = nvox.pow(3) - 1;
    (u32::BITS - largest.leading_zeros()).div_ceil(8).max(1)
}

/// A kernel and the shape of its launch.
type Link = (Function, Launch);

/// Queue of the kernels for some clouds.
struct Queue<'a, T> {
    gpu: &'a Gpu,
    stream: &'a Stream,
    args: Arguments<T>,
    shape: Shape,
}

impl<T: CudaScalar> Queue<'_, T> {
    /// Returns a kernel with `blocks` blocks per cloud.
    fn link(&self, name: &'static str, blocks: usize, threads: u32) -> Result<Link, Error> {
        let grid = [blocks as u32, self.shape.clouds as u32, 1];
        let launch = Launch { grid, ..Launch::new(1, threads) };
        Ok((self.gpu.function::<T>("radius", name)?, launch))
    }

    /// # Safety
    /// Same as `enqueue`.
    unsafe fn start(&self, (function, launch): Link, pass: u32) -> Result<(), Error> {
        let args = Arguments { pass, ..self.args };
        // SAFETY: a link is a kernel of `radius`, which takes `Arguments`; what they name is there by the
        // contract of `enqueue`.
        unsafe { launch.start(self.stream, function, &args) }
    }

    /// Algorithm 2: sorts rows into voxels.
    ///
    /// # Safety
    /// Same as `enqueue`.
    unsafe fn prepare(&self) -> Result<(), Error> {
        let tiles = self.shape.rows.div_ceil(TILE).max(1);
        let per_tile = |name| self.link(name, tiles, TILE_THREADS);
        let per_cloud = |name| self.link(name, 1, CLOUD_THREADS);
        let voxels = LANES * self.chunks();
        let blocks = self.blocks(voxels.div_ceil(VOXEL_THREADS as usize / LANES), 16);
        // SAFETY: all of them work on what `args` names, which is valid by the contract of `enqueue`.
        unsafe {
            self.start(self.link("radius_begin", 1, LANES as u32)?, 0)?;
            self.start(per_tile("radius_box")?, 0)?;
            if self.args.nvox == 0 {
                self.start(per_tile("radius_mark")?, 0)?;
            }
            self.start(per_cloud("radius_grid")?, 0)?;
            self.start(per_tile("radius_map")?, 0)?;
            for pass in 0..self.args.passes {
                self.start(per_tile("radius_digits")?, pass)?;
                self.start(per_cloud("radius_offsets")?, pass)?;
                self.start(per_tile("radius_move")?, pass)?;
            }
            self.start(per_tile("radius_count")?, 0)?;
            self.start(per_cloud("radius_rank")?, 0)?;
            self.start(per_tile("radius_ranges")?, 0)?;
            self.start(per_tile("radius_gather")?, 0)?;
            self.start(self.link("radius_spheres", blocks, VOXEL_THREADS)?, 0)
        }
    }

    /// Expected number of chunks of voxels per cloud. There may be more or fewer: kernels loop until
    /// they have processed all.
    fn chunks(&self) -> usize {
        let rows = self.shape.rows;
        let voxels = match self.args.nvox as usize {
            // Volumes fill the voxels of a grid otherwise than surfaces do.
            0 => 2 * (rows / POINTS_A_VOXEL as usize).min(MAX_VOXELS as usize) + 1,
            nvox => nvox.pow(3),
        };
        // Crowded voxels are cut at every 128 points.
        (voxels + rows / 128).min(rows.div_ceil(2)).div_ceil(LANES).max(1)
    }

    /// Returns the blocks per cloud: `useful`, unless all clouds together exceed the card's capacity.
    fn blocks(&self, useful: usize, a_multiprocessor: usize) -> usize {
        let limit = self.gpu.properties().multiprocessors as usize * a_multiprocessor;
        useful.clamp(1, limit.div_ceil(self.shape.clouds))
    }

    /// Returns the kernels of one step.
    fn step(&self, options: &RadiusOptions) -> Result<Vec<Link>, Error> {
        let chunks = self.chunks();
        let blocks = self.blocks(chunks.div_ceil(UPDATE_THREADS as usize / LANES), 8);
        // A thread reads two leaders.
        let threads = chunks.div_ceil(2).next_multiple_of(LANES).clamp(64, 512) as u32;
        let select = |name| self.link(name, 1, threads);
        let update = |name| self.link(name, blocks, UPDATE_THREADS);
        let mut step = if options.fuse_selection {
            vec![select("radius_select")?]
        } else {
            vec![select("radius_find_voxel")?, select("radius_find_point")?]
        };
        if options.fuse_update {
            step.push(update("radius_update")?);
        } else {
            for name in ["radius_filter", "radius_lower", "radius_raise"] {
                step.push(update(name)?);
            }
        }
        Ok(step)
    }

    /// Takes the samples. The step after the last one writes the numbers and radii. `queued` is called
    /// with the number of steps queued so far, and ends the run by an error.
    ///
    /// # Safety
    /// Same as `enqueue`.
    unsafe fn sample(
        &self,
        options: &RadiusOptions,
        mut queued: impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let step = self.step(options)?;
        let steps = self.shape.samples + 1;
        if steps < MIN_STEPS || self.capturing()? {
            for &link in std::iter::repeat_n(&step, steps).flatten() {
                // SAFETY: what `args` names is valid by the contract of `enqueue`.
                unsafe { self.start(link, 0)? };
            }
            return Ok(());
        }
        let (repeats, launches) = split(steps);
        let chain = Chain::new(self.gpu, &step, &self.args, repeats)?;
        for launch in 1..=launches {
            // SAFETY: the chain's kernels take `args`, and what these name is valid by the contract of
            // `enqueue` until the stream has finished the last launch.
            unsafe { chain.launch(self.stream)? };
            queued(launch * repeats)?;
        }
        Ok(())
    }

    /// Returns whether the stream is being captured, during which a graph can't be launched.
    fn capturing(&self) -> Result<bool, Error> {
        let _current = self.gpu.bind()?;
        let mut status = sys::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the stream lives; writes one number.
        let code = unsafe { sys::cuStreamIsCapturing(self.stream.handle(), &mut status) };
        self.gpu.check("cuStreamIsCapturing", code)?;
        Ok(status != sys::CU_STREAM_CAPTURE_STATUS_NONE)
    }
}

/// Steps below which a graph does not pay.
const MIN_STEPS: usize = 64;

/// Repetitions of a step in a graph, and launches of the graph: at least `steps` steps in all.
///
/// A step more in the graph takes the host about 2 us once, a launch leaves a gap of about 5 us: the
/// sum is minimal at the root of 2.5 times the steps. (Estimates, not measured.)
fn split(steps: usize) -> (usize, usize) {
    let ideal = (2.5 * steps as f64).sqrt().clamp(32.0, 1024.0) as usize;
    let launches = steps.div_ceil(ideal);
    (steps.div_ceil(launches), launches)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_radius_state_cuh() {
        assert_eq!(size_of::<Arguments<f32>>(), 232);
        assert_eq!(size_of::<Arguments<f64>>(), 240);
        assert_eq!(offset_of!(Arguments<f32>, first_cloud), 208);
        let source = include_str!("../../kernels/radius/state.cuh");
        assert!(source.contains("sizeof(RadiusState) == 256"));
        let names = "batch states axes distance origin spheres ranges best leaders masks counts \
                    first_cloud nvox points_a_voxel most_wanted passes pass";
        assert_eq!(fields(source, "RadiusArguments"), names);
    }

    #[test]
    fn scratch_sizes_match_the_documentation() {
        let shape = |clouds, rows| Shape { clouds, rows, dims: 3, samples: rows / 4 };
        for rows in [100_000, 1_000_000, 10_000_000] {
            let per_row = |bytes: usize| bytes as f64 / rows as f64;
            assert!(per_row(scratch_bytes::<f32>(shape(1, rows))) < 36.6);
            assert!(per_row(scratch_bytes::<f64>(shape(1, rows))) < 64.8);
        }
        for rows in [0, 1, 64, 65, 4096, 4097] {
            let above = |bytes: usize, a_row: f64| bytes as f64 / 1000.0 - a_row * rows as f64;
            assert!(above(scratch_bytes::<f32>(shape(1000, rows)), 36.5) < 2400.0);
            assert!(above(scratch_bytes::<f64>(shape(1000, rows)), 64.6) < 3200.0);
        }
        assert_eq!(scratch_bytes::<f64>(shape(usize::MAX, 1000)), usize::MAX);
    }

    #[test]
    fn keys_have_enough_passes() {
        assert_eq!([1, 2, 6].map(passes), [1; 3]);
        assert_eq!([7, 40].map(passes), [2; 2]);
        assert_eq!([41, 256].map(passes), [3; 2]);
        assert_eq!([257, 1024].map(passes), [4; 2]);
    }

    #[test]
    fn graphs_hold_all_steps_and_hardly_more() {
        for steps in [64, 65, 513, 10_001, 31_168, 250_001, 2_500_001] {
            let (repeats, launches) = split(steps);
            assert!(repeats * launches >= steps);
            assert!(repeats * launches < steps + launches && repeats <= 1024);
        }
    }
}
