//! The method `tree`: an index over `y`, built first unless it is given, then an ordinary launch. If `x` has an
//! index, too, its rows are taken in that order, so that neighboring warps read the same points.
//!
//! Scratch: an index unless given, 37 to 60 bytes per row in `f32` and 64 to 100 in `f64` from 1,025 rows on, and
//! while it is built 8 bytes per row, 12 from 262,145 rows on.

use super::index::{self, Build, Indexes};
use super::parameter::{Parameter, Shape, Work};
use super::request::DeviceSearch;
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::{CudaScalar, Error, Stream};

/// `struct TreeArgs` of `kernels/search/search_tree.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    search: Parameter<T>,
    indexes: [Indexes; 2],
    offsets: u64,
    ordered: u32,
    each: u32,
}

/// Threads per block; a warp has some rows of `x`, one after another.
const THREADS: u32 = 128;
const WARPS: usize = THREADS as usize / 32;

/// Number of warps that a multiprocessor runs at a time.
const RESIDENT: usize = 32;

/// Number of neighbors that a warp finds in one round.
const ONE_ROUND: u32 = 32;

/// Number of rows that a warp searches for together, if they are in the order of an index.
const TOGETHER: usize = 4;

/// Number of rows, in waves, from which warps search for several together: of fewer rows each finishes sooner if it has
/// a warp.
const MIN_WAVES: f64 = 1.5;

/// Maximum number of blocks along the second axis of a launch.
const MAX_GRID_Y: usize = 65_535;

/// Addresses of the indexes, and the one to be built, if any.
struct Plan {
    build: Build,
    /// Bytes of the index in scratch.
    index_bytes: usize,
    /// Address of each side's index; that of `x` is 0 if it has none.
    at: [u64; 2],
}

impl Plan {
    /// Plans with an index in scratch memory from `scratch` on.
    fn new<T: CudaScalar>(request: &DeviceSearch<T>, scratch: u64) -> Self {
        let (x, y) = (&request.x, &request.y);
        let same = x.is(y);
        let address = |index: Option<(u64, usize)>| index.map(|(address, _)| address);
        let existing = address(if same { y.index.or(x.index) } else { y.index });
        let target = existing.unwrap_or(scratch);
        let index_bytes = match existing {
            Some(_) => 0,
            None => index::bytes::<T>(request.clouds, y.rows),
        };
        let query = if same { target } else { address(x.index).unwrap_or(0) };
        let sides = [None, existing.is_none().then_some((*y, target))];
        let build = Build { sides, clouds: request.clouds, dims: request.dims };
        Self { build, index_bytes, at: [query, target] }
    }

    fn is_to_build(&self) -> bool {
        self.build.sides.iter().any(Option::is_some)
    }
}

/// Bytes of scratch memory.
pub(super) fn scratch_bytes<T: CudaScalar>(request: &DeviceSearch<T>) -> usize {
    let plan = Plan::new(request, 0);
    plan.index_bytes.saturating_add(index::scratch_bytes(&plan.build))
}

/// Returns the kernel of some work, and the address of the offsets for one that fills balls. The most common searches
/// have kernels of their own.
fn kernel<T: CudaScalar>(
    parameter: &Parameter<T>,
    work: Work,
    together: bool,
) -> (&'static str, u64) {
    let common = parameter.dims <= 3 && parameter.norm == 2 && parameter.k <= ONE_ROUND;
    let together = together && common && size_of::<T>() == 4 && parameter.limits[1] <= T::ZERO;
    match work {
        Work::Best if together && parameter.by_index == 0 => match parameter.k {
            0..=16 => ("tree_together_16", 0),
            _ => ("tree_together_32", 0),
        },
        Work::Best if parameter.by_index == 1 && common => ("tree_lowest", 0),
        Work::Best if parameter.by_index == 1 => ("tree_lowest_any", 0),
        Work::Best if common => ("tree_nearest", 0),
        Work::Best => ("tree_nearest_any", 0),
        Work::Count => ("tree_count", 0),
        Work::Fill(offsets) => ("tree_fill", offsets),
    }
}

/// Number of rows divided by the number that all multiprocessors search for at a time if each warp has one.
fn waves(shape: Shape, multiprocessors: usize) -> f64 {
    shape.clouds as f64 * shape.rows[0] as f64 / (multiprocessors * RESIDENT).max(1) as f64
}

/// Number of rows per warp: more than one save instructions at its beginning, but some warps must be left for
/// multiprocessors that finish early.
fn rows_a_warp(waves: f64) -> usize {
    (waves as usize / 4).clamp(1, 4)
}

/// Returns a launch with `each` rows of the largest cloud of `x` per warp, for all clouds.
fn launch(shape: Shape, each: usize) -> Result<Launch, Error> {
    let blocks = shape.rows[0].div_ceil(WARPS * each);
    let grid_y = shape.clouds.min(MAX_GRID_Y);
    let grid_z = shape.clouds.div_ceil(grid_y);
    if blocks > i32::MAX as usize || grid_z > MAX_GRID_Y {
        return Err(shape.too_many());
    }
    Ok(Launch { grid: [blocks as u32, grid_y as u32, grid_z as u32], ..Launch::new(1, THREADS) })
}

/// Queues the search.
///
/// # Safety
/// What is in device memory must be as [`DeviceSearch`] requires.
pub(super) unsafe fn enqueue<T: CudaScalar>(
    stream: &Stream,
    request: &DeviceSearch<T>,
    parameter: &Parameter<T>,
    work: Work,
    shape: Shape,
) -> Result<(), Error> {
    let gpu = stream.gpu();
    request.x.check_index::<T>(request.clouds)?;
    request.y.check_index::<T>(request.clouds)?;
    let waves = waves(shape, gpu.properties().multiprocessors as usize);
    let ordered = request.x.is(&request.y) || request.x.index.is_some();
    let (name, offsets) = kernel(parameter, work, ordered && waves >= MIN_WAVES);
    let function = gpu.function::<T>("search_tree", name)?;
    let scratch = Scratch::new(stream, request.scratch, scratch_bytes(request))?;
    let plan = Plan::new(request, scratch.pointer());
    if plan.is_to_build() {
        let building = index::scratch_bytes(&plan.build);
        let rest = Some((scratch.pointer() + plan.index_bytes as u64, building));
        // SAFETY: indexes and what they are built with lie in the scratch memory one after another; the
        // clouds are as this function's contract says.
        unsafe { index::enqueue::<T>(gpu, stream, &plan.build, rest)? };
    }
    let rows = [request.x.rows, request.y.rows];
    let each = match name {
        "tree_together_16" | "tree_together_32" => TOGETHER,
        _ => rows_a_warp(waves),
    };
    let args = Args {
        search: *parameter,
        indexes: [0, 1].map(|side: usize| Indexes::at::<T>(plan.at[side], rows[side])),
        offsets,
        ordered: u32::from(plan.at[0] != 0),
        each: each as u32,
    };
    // SAFETY: `Args` mirrors the kernel's parameter; the indexes are those just built or given; scratch
    // memory is freed in stream order; the rest is as this function's contract says.
    unsafe { launch(shape, each)?.start(stream, function, &args) }
}

#[cfg(test)]
mod tests {
    use super::super::clouds::DeviceClouds;
    use super::*;
    use crate::source::fields;
    use farpoint::{Norm, Searcher};
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_search_tree_cu() {
        let source = include_str!("../../kernels/search/search_tree.cu");
        assert_eq!(fields(source, "TreeArgs"), "search indexes offsets ordered each");
        assert_eq!((offset_of!(Args<f32>, indexes), offset_of!(Args<f32>, offsets)), (168, 216));
        assert_eq!((offset_of!(Args<f64>, indexes), offset_of!(Args<f64>, each)), (176, 236));
    }

    #[test]
    fn common_searches_have_their_own_kernels() {
        assert!(
            include_str!("../../kernels/search/search_tree.cu")
                .contains(&format!("TREE_THREADS = {THREADS};"))
        );
        let together = include_str!("../../kernels/search/together.cuh");
        assert!(together.contains(&format!("TOGETHER = {TOGETHER};")));
        let points = DeviceClouds::padded(256, 10, 3);
        let named = |job: Searcher, dims, together| {
            let request = DeviceSearch::<f32>::new(points, points, 1, dims);
            kernel(&request.parameter(&job), Work::Best, together).0
        };
        let name = |job, dims| named(job, dims, false);
        let nearest = Searcher::nearest;
        assert_eq!(name(nearest(32), 3), "tree_nearest");
        assert_eq!(name(nearest(33), 3), "tree_nearest_any");
        assert_eq!(name(nearest(3), 4), "tree_nearest_any");
        assert_eq!(name(nearest(3).norm(Norm::One), 2), "tree_nearest_any");
        assert_eq!(name(Searcher::ball(0.1, 8), 2), "tree_lowest");
        assert_eq!(name(Searcher::ball(0.1, 80), 2), "tree_lowest_any");
        assert_eq!(named(nearest(16), 3, true), "tree_together_16");
        assert_eq!(named(nearest(17), 3, true), "tree_together_32");
        assert_eq!(named(nearest(33), 3, true), "tree_nearest_any");
        assert_eq!(named(nearest(3), 4, true), "tree_nearest_any");
        assert_eq!(named(Searcher::ball(0.1, 8), 3, true), "tree_lowest");
        let doubles = DeviceSearch::<f64>::new(points, points, 1, 3).parameter(&nearest(3));
        assert_eq!(kernel(&doubles, Work::Best, true).0, "tree_nearest");
    }

    #[test]
    fn clouds_are_along_two_axes_of_a_launch() {
        let shape = Shape { clouds: 3, rows: [9, 1], dims: 3, k: 4 };
        let grid = |shape, each| launch(shape, each).map(|launch| launch.grid);
        assert_eq!(grid(shape, 1), Ok([3, 3, 1]));
        assert_eq!(grid(shape, 2), Ok([2, 3, 1]));
        assert_eq!(grid(Shape { clouds: 200_000, ..shape }, 4), Ok([1, 65_535, 4]));
        assert!(grid(Shape { clouds: 1 << 40, ..shape }, 1).is_err());
    }

    #[test]
    fn warps_have_several_rows_where_there_are_many() {
        let waves = |clouds, rows, multiprocessors| {
            waves(Shape { clouds, rows: [rows, 1], dims: 3, k: 4 }, multiprocessors)
        };
        assert_eq!(rows_a_warp(waves(1, 1_000, 132)), 1);
        assert_eq!(rows_a_warp(waves(8, 6_000, 132)), 2);
        assert_eq!(rows_a_warp(waves(1, 1 << 20, 132)), 4);
        assert_eq!(rows_a_warp(waves(0, 0, 0)), 1);
        assert!(waves(1, 4_096, 132) < MIN_WAVES && waves(8, 1_024, 132) > MIN_WAVES);
    }

    #[test]
    fn only_missing_indexes_are_built() {
        let (x, y) = (DeviceClouds::padded(256, 10, 3), DeviceClouds::padded(512, 20, 3));
        let built = |x, y| {
            let plan = Plan::new(&DeviceSearch::<f32>::new(x, y, 2, 3), 4096);
            (plan.build.sides.map(|side| side.is_some()), plan.at)
        };
        assert_eq!(built(x, y), ([false, true], [0, 4096]));
        assert_eq!(built(y, y), ([false, true], [4096, 4096]));
        let indexed = DeviceClouds { index: Some((1 << 20, 1 << 20)), ..y };
        assert_eq!(built(x, indexed), ([false, false], [0, 1 << 20]));
        assert_eq!(built(indexed, x), ([false, true], [1 << 20, 4096]));
        assert_eq!(built(y, indexed), ([false, false], [1 << 20, 1 << 20]));
        assert_eq!(built(indexed, y), ([false, false], [1 << 20, 1 << 20]));
    }
}
