//! The peak method: thousands of samples per round (docs/peak.md, docs/development/gpu.md).
//!
//! Clouds that fit are held by clusters of blocks (`cluster`). Others: one cooperative launch per batch; each cloud has
//! a team of blocks. Scratch: 41.6 bytes per point in `f32`, 58.7 in `f64`, and about 3.4 KB per block, for the clouds
//! that are sampled concurrently.

mod cluster;

use super::batch::{Batch, Shape};
use crate::guard::{Guard, Kernel};
use crate::launch::Launch;
use crate::memory::{self, Scratch};
use crate::team::{self, Teams, aligned};
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::{PeakOptions, Statistics};

/// Number of the kernel's counters (`enum Counter` of `kernels/peak/state.cuh`).
pub(crate) const COUNTERS: usize = 12;

/// Records the kernel's counters: work, then nanoseconds of each stage, summed over clouds.
pub(crate) fn record(counters: &[u64], statistics: &mut Statistics) {
    let Ok(counters) = <[u64; COUNTERS]>::try_from(counters) else { return };
    let [bands, band_points, searches, _, looked_at, updated, _, stages @ ..] = counters;
    let [build, single, solve, update, sort] = stages;
    let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
    (statistics.bands, statistics.band_points) = (bands, band_points);
    statistics.seconds.build = seconds(build);
    statistics.seconds.single = seconds(single);
    statistics.seconds.solve = seconds(solve);
    statistics.seconds.update = seconds(update);
    statistics.counters = vec![
        ("searches", searches),
        ("groups looked at", looked_at),
        ("groups updated", updated),
        ("sort ns", sort),
    ];
}

/// `struct PeakArgs` of `kernels/peak/peak.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Args<T> {
    pub(super) guard: Guard,
    pub(super) batch: Batch<T>,
    pub(super) headers: u64,
    pub(super) scratch: u64,
    pub(super) counters: u64,
    pub(super) header_stride: u64,
    pub(super) stride: u64,
    pub(super) tuning: Tuning,
    pub(super) known: u64,
    pub(super) found: u64,
}

/// Tuning parameters among these arguments: `team` to `gamma`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Tuning {
    team: u32,
    rows: u32,
    early: u32,
    list: u32,
    spread: u32,
    refined: u32,
    gamma: f64,
}

impl Tuning {
    /// For clouds of at most `rows` rows, each by `team` blocks.
    pub(super) fn new<T: CudaScalar>(team: usize, rows: usize, options: &PeakOptions) -> Self {
        // Teams of few blocks search lists slower than they apply points at once.
        let large = team > 32;
        Self {
            team: team as u32,
            rows: rows as u32,
            early: options
                .single
                .unwrap_or(early_samples(team * threads::<T>() as usize / 32, rows)),
            list: if large { 400 } else { 200 },
            spread: if large { 8_000 } else { 0 },
            refined: u32::from(refines(team, rows)),
            gamma: options.gamma.unwrap_or(DEFAULT_GAMMA),
        }
    }
}

/// Returns the number of samples that `warps` warps take in rounds, before bands find as many in less time.
fn early_samples(warps: usize, rows: usize) -> u32 {
    let samples = if rows <= 1 << 18 {
        warps / 4
    } else if rows <= 1 << 24 {
        warps * 3 / 8
    } else {
        warps / 8
    };
    samples as u32
}

/// Proportion of the largest distance above which points are candidates at first.
const DEFAULT_GAMMA: f64 = 0.8;

/// Samples that the result already has: for each cloud the squared distance of each of `rows` rows to
/// them, minus infinity for the samples themselves (`T`), and their number (`u32`).
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "said above")]
pub struct Known {
    pub distances: u64,
    pub found: u64,
}

/// Threads per block: as many as the kernel's registers allow.
pub(super) fn threads<T: CudaScalar>() -> u32 {
    if size_of::<T>() == 4 { 1024 } else { 512 }
}

/// Distribution of a batch over the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TeamLayout {
    teams: Teams,
    /// Bytes of a team's header, and of its arrays.
    header: usize,
    arrays: usize,
}

impl TeamLayout {
    /// For a card that runs `blocks` blocks concurrently.
    fn new<T: CudaScalar>(blocks: usize, shape: Shape, options: &PeakOptions) -> Self {
        let teams = Teams::new(blocks, shape.clouds, shape.rows, options.team);
        let header = aligned(header_bytes::<T>(teams.team));
        Self { teams, header, arrays: arrays::<T>(shape.rows, teams.team) }
    }

    fn bytes(&self) -> usize {
        self.teams.count.saturating_mul(self.header.saturating_add(self.arrays))
    }
}

/// Bytes of a team's header and mail: two slots of words and a value for each warp (`struct Mail` of
/// `kernels/peak/state.cuh`).
pub(super) fn header_bytes<T: CudaScalar>(team: usize) -> usize {
    let words = if size_of::<T>() == 4 { 2 } else { 3 };
    128 + 2 * (16 * words + size_of::<T>()) * team * threads::<T>() as usize / 32
}

/// Bytes of a team's arrays: `place_arrays` of `kernels/peak/state.cuh`.
pub(super) fn arrays<T: CudaScalar>(rows: usize, team: usize) -> usize {
    let (number, padded) = (size_of::<T>(), team::padded(rows));
    let lists = [
        number * padded,  // accepted: keys
        4 * padded,       // and positions
        4 * padded,       // the band
        16 * padded / 32, // best of each group
    ];
    // The keys and rows of the order become distances and witnesses.
    team::tree_bytes::<T>(rows, team) + lists.into_iter().map(aligned).sum::<usize>()
}

/// Rows above which clouds in `f32` have a kernel of their own, in which neighbors of a band go to one block. On an
/// H100 it takes as long for 10 million points, and 6 % less time for 100 and 1,000 million.
const LARGE: usize = 1 << 25;

/// Returns the module for clouds of `dims` axes, the largest of `rows` rows.
fn module<T: CudaScalar>(dims: usize, rows: usize) -> &'static str {
    match dims {
        0..=3 if size_of::<T>() == 4 && rows > LARGE => "peak_large",
        0..=3 => "peak",
        _ => "peak_high",
    }
}

pub(super) fn kernel<T: CudaScalar>(
    gpu: &Gpu,
    shape: Shape,
) -> Result<(crate::module::Function, Launch), Error> {
    let function = gpu.function::<T>(module::<T>(shape.dims, shape.rows), "peak")?;
    Ok((function, Launch::new(1, threads::<T>()).cooperative()))
}

fn layout<T: CudaScalar>(
    gpu: &Gpu,
    shape: Shape,
    options: &PeakOptions,
) -> Result<TeamLayout, Error> {
    let (function, launch) = kernel::<T>(gpu, shape)?;
    let blocks = team::blocks_at_once(gpu, function, launch)?;
    Ok(TeamLayout::new::<T>(blocks, shape, options))
}

/// Returns whether groups are refined: in a small team, or a cloud of some size, it costs as much as it saves.
pub(super) fn refines(team: usize, rows: usize) -> bool {
    team > 32 && (rows <= 1 << 18 || rows > 1 << 24)
}

/// Bytes of scratch memory; 0 where the device cannot run the algorithm.
pub(crate) fn scratch_bytes<T: CudaScalar>(
    gpu: &Gpu,
    shape: Shape,
    options: &PeakOptions,
) -> usize {
    match cluster::Plan::for_shape::<T>(gpu, shape, options) {
        Ok(Some(plan)) => plan.scratch_bytes::<T>(shape),
        _ => team_bytes::<T>(gpu, shape, options),
    }
}

/// Bytes of scratch memory if teams of blocks sample the clouds, as in [`fill`]; 0 where the device cannot run that.
pub fn team_bytes<T: CudaScalar>(gpu: &Gpu, shape: Shape, options: &PeakOptions) -> usize {
    layout::<T>(gpu, shape, options).map_or(0, |layout| layout.bytes())
}

/// Queues the sampling of a batch; `counters` is 0 or the address of a number for each of
/// the [`COUNTERS`].
///
/// # Safety
/// The addresses in `batch`, `scratch` and `counters` must match `shape`, and stay valid until
/// the stream has finished.
pub(crate) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    batch: &Batch<T>,
    shape: Shape,
    scratch: Option<(u64, usize)>,
    options: &PeakOptions,
    counters: u64,
) -> Result<(), Error> {
    // SAFETY: this function's contract.
    unsafe {
        match cluster::Plan::for_shape::<T>(gpu, shape, options)? {
            Some(plan) => plan.enqueue(stream, batch, shape, scratch, options, counters),
            None => start(gpu, stream, batch, shape, scratch, options, counters, None),
        }
    }
}

/// Queues the completion of results that already have some samples; starts are ignored.
///
/// # Safety
/// Same as `enqueue`; `known` must be as [`Known`] says when the kernel reads it.
pub unsafe fn fill<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    batch: &Batch<T>,
    shape: Shape,
    scratch: Option<(u64, usize)>,
    known: Known,
) -> Result<(), Error> {
    let options = PeakOptions::default();
    // SAFETY: this function's contract.
    unsafe { start(gpu, stream, batch, shape, scratch, &options, 0, Some(known)) }
}

#[expect(clippy::too_many_arguments, reason = "arguments of a launch")]
unsafe fn start<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    batch: &Batch<T>,
    shape: Shape,
    scratch: Option<(u64, usize)>,
    options: &PeakOptions,
    counters: u64,
    known: Option<Known>,
) -> Result<(), Error> {
    let (function, launch) = kernel::<T>(gpu, shape)?;
    let layout = layout::<T>(gpu, shape, options)?;
    let scratch = Scratch::new(stream, scratch, layout.bytes())?;
    let Teams { team, count } = layout.teams;
    let headers = count * layout.header;
    let args = Args {
        guard: Guard::new(stream, Kernel::Peak),
        batch: *batch,
        headers: scratch.pointer(),
        scratch: scratch.pointer() + headers as u64,
        counters,
        header_stride: layout.header as u64,
        stride: layout.arrays as u64,
        tuning: Tuning::new::<T>(team, shape.rows, options),
        known: known.map_or(0, |known| known.distances),
        found: known.map_or(0, |known| known.found),
    };
    // SAFETY: headers lie at the start of the scratch memory.
    unsafe { memory::set(stream, scratch.pointer(), 0, headers)? };
    let grid = (count * team) as u32;
    // SAFETY: `Args` mirrors the kernel's parameter; `arrays` is what it places; the scratch
    // memory is freed in stream order; the arrays of `batch` and the counters are valid by this
    // function's contract.
    unsafe { Launch { grid: [grid, 1, 1], ..launch }.start(stream, function, &args) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive;
    use crate::source::fields;
    use std::mem::offset_of;

    #[test]
    fn counters_are_recorded_by_name() {
        let mut statistics = Statistics::default();
        record(&[3, 40, 5, 0, 6, 7, 0, 1_000, 2_000, 3_000, 4_000, 5_000], &mut statistics);
        assert_eq!((statistics.bands, statistics.band_points), (3, 40));
        assert_eq!((statistics.seconds.build, statistics.seconds.update), (1e-6, 4e-6));
        assert_eq!(statistics.counters[3], ("sort ns", 5_000));
        let source = include_str!("../../kernels/peak/state.cuh");
        let (_, rest) = source.split_once("enum Counter").unwrap();
        let (body, _) = rest.split_once(" };").unwrap();
        let names: Vec<_> = body.split(['{', ',']).map(str::trim).collect();
        let expected = "BANDS BAND_POINTS SEARCHES NODES LEAVES UPDATES COPY_NS BUILD_NS SINGLE_NS SOLVE_NS \
                      UPDATE_NS SORT_NS COUNTERS";
        assert_eq!(names[1..].join(" "), expected);
        assert_eq!(names.len() - 2, COUNTERS);
    }

    fn shape(clouds: usize, rows: usize) -> Shape {
        Shape { clouds, rows, dims: 3, samples: rows / 4 }
    }

    #[test]
    fn scratch_sizes_match_the_documentation() {
        let million = 1_000_000.0;
        let narrow = TeamLayout::new::<f32>(132, shape(1, 1_000_000), &PeakOptions::default());
        let wide = TeamLayout::new::<f64>(132, shape(1, 1_000_000), &PeakOptions::default());
        let bytes_a_point = |layout: TeamLayout| layout.bytes() as f64 / million;
        // Of these, 0.45 and 0.4 for 132 blocks.
        assert!((41.9..42.1).contains(&bytes_a_point(narrow)), "{}", bytes_a_point(narrow));
        assert!((58.9..59.2).contains(&bytes_a_point(wide)), "{}", bytes_a_point(wide));
    }

    #[test]
    fn errors_name_the_largest_cloud_that_fits() {
        // Free memory of an 80 GB card beside its context.
        let free = 79_000_000_000;
        let fit = |rows: usize, bytes: &dyn Fn(usize) -> usize| {
            let error = Error::OutOfMemory {
                what: "",
                requested: bytes(rows),
                free,
                total: free,
                fit: None,
            };
            match error.with_fit(0, rows, bytes) {
                Error::OutOfMemory { fit, .. } => fit.unwrap(),
                other => panic!("{other}"),
            }
        };
        let options = PeakOptions::default();
        let scratch = |rows| TeamLayout::new::<f32>(132, shape(1, rows), &options).bytes();
        let max_rows = fit(4_000_000_000, &scratch);
        assert!(scratch(max_rows) <= free && scratch(max_rows + 1) > free, "{max_rows}");
        // With its input, and a quarter of it as samples with distances.
        let narrow = |rows| scratch(rows) + 12 * rows + 12 * (rows / 4);
        assert!((1_390_000_000..1_400_000_000).contains(&fit(4_000_000_000, &narrow)));
        let wide = |rows| {
            TeamLayout::new::<f64>(132, shape(1, rows), &options).bytes()
                + 24 * rows
                + 16 * (rows / 4)
        };
        assert!((900_000_000..920_000_000).contains(&fit(4_000_000_000, &wide)));
    }

    #[test]
    fn teams_share_the_card() {
        let layout = |clouds, rows| {
            let layout = TeamLayout::new::<f32>(132, shape(clouds, rows), &PeakOptions::default());
            (layout.teams.team, layout.teams.count)
        };
        assert_eq!(layout(1, 1_000_000), (132, 1));
        assert_eq!(layout(1, 1_000), (4, 1));
        assert_eq!(layout(1, 1), (1, 1));
        assert_eq!(layout(32, 24_000), (4, 32));
        assert_eq!(layout(1_000, 4_000), (1, 132));
        // Not a hundred large clouds at a time.
        assert_eq!(layout(100, 1_000_000), (61, 2));
    }

    #[test]
    fn early_samples_follow_the_warps() {
        let early = |team, rows| Tuning::new::<f32>(team, rows, &PeakOptions::default()).early;
        assert_eq!(
            [early(132, 124_668), early(132, 1_000_000), early(132, 100_000_000)],
            [1_056, 1_584, 528]
        );
        assert_eq!(early(4, 16_384), 32);
        assert_eq!(Tuning::new::<f64>(132, 124_668, &PeakOptions::default()).early, 528);
        let mut given = PeakOptions::default();
        given.single = Some(7);
        assert_eq!(Tuning::new::<f32>(132, 124_668, &given).early, 7);
    }

    #[test]
    fn large_clouds_have_their_own_kernel() {
        assert_eq!([LARGE, LARGE + 1].map(|rows| module::<f32>(3, rows)), ["peak", "peak_large"]);
        assert_eq!(module::<f64>(3, LARGE + 1), "peak");
        assert_eq!([3, 4].map(|dims| module::<f32>(dims, 1_000)), ["peak", "peak_high"]);
        assert_eq!(module::<f32>(4, LARGE + 1), "peak_high");
        let modules = ["peak", "peak_large", "peak_high", "peak_span", "peak_span_high"];
        assert!(modules.iter().all(|module| archive::tests::has_kernel(module, "peak")));
    }

    #[test]
    fn laid_out_as_in_peak_cu() {
        assert_eq!(offset_of!(Args<f32>, headers), 24 + 128);
        assert_eq!(offset_of!(Args<f64>, headers), 24 + 136);
        assert_eq!(size_of::<Args<f32>>(), 24 + 128 + 40 + 24 + 8 + 16);
        let source = include_str!("../../kernels/peak/peak.cu");
        let names = "guard batch headers scratch counters header_stride stride team rows early list \
                    spread refined gamma known found";
        assert_eq!(fields(source, "PeakArgs"), names);
    }
}
