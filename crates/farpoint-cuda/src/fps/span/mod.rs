//! One cloud on several GPUs: `peak` with the blocks of all of them as one team (docs/cuda.md). Also clouds too large
//! for the memory of the GPUs, or of the only one.
//!
//! Every GPU runs the same kernel, for its part of the cloud. The arrays share one range of addresses whose pages lie
//! on the GPU that uses them most ([`crate::pages`]), so that data that crosses the cut between two parts is read and
//! written in the other's memory; or in host memory, if the GPUs' is full.

mod layout;
mod transfer;

use super::algorithm::Choice;
use super::batch::{Batch, Shape, never, stop_at};
use super::peak::{self, Args, Tuning};
use crate::guard::{Guard, Kernel};
use crate::launch::Launch;
use crate::module::Function;
use crate::pages::{Pages, find_unlinked};
use crate::{CudaScalar, Error, Event, Gpu, Placement, Stream, host, input, memory, team};
use farpoint::backend::PreparedCloud as Prepared;
use farpoint::{Algorithm, PeakOptions, Sample, Sampler, Statistics};
use layout::{Offsets, Size};
use std::time::Instant;
use transfer::{download, upload};

/// Maximum number of GPUs per cloud: `MOST_PARTS` of `kernels/peak/state.cuh`.
const MAX_PARTS: usize = 4;

/// `struct SpanArgs` of `kernels/peak/peak.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct SpanArgs<T> {
    peak: Args<T>,
    own_stride: u64,
    part: u32,
    parts: u32,
}

/// GPUs that work on a cloud, with their kernels.
struct Parts<'a> {
    gpus: &'a [Gpu],
    functions: Vec<Function>,
    launch: Launch,
    /// Blocks on each GPU.
    blocks: usize,
}

impl<'a> Parts<'a> {
    /// Loads the kernel on each GPU. A GPU that is listed twice has half of its blocks for each part.
    fn new<T: CudaScalar>(gpus: &'a [Gpu], shape: Shape) -> Result<Self, Error> {
        let gpus = &gpus[..gpus.len().min(MAX_PARTS)];
        if let [gpu] = gpus {
            let (function, launch) = peak::kernel::<T>(gpu, shape)?;
            let blocks = team::blocks_at_once(gpu, function, launch)?;
            return Ok(Self { gpus, functions: vec![function], launch, blocks });
        }
        if let Some((a, b)) = find_unlinked(gpus)? {
            return Err(Error::Unsupported(format!(
                "one cloud on several GPUs: GPU {a} can't read the memory of GPU {b}; select linked \
                 GPUs, or one"
            )));
        }
        let module = if shape.dims > 3 { "peak_span_high" } else { "peak_span" };
        let launch = Launch::new(1, peak::threads::<T>()).cooperative();
        let (mut functions, mut blocks) = (Vec::new(), usize::MAX);
        for gpu in gpus {
            let function = gpu.function::<T>(module, "peak")?;
            let times = gpus.iter().filter(|other| *other == gpu).count();
            blocks = blocks.min(team::blocks_at_once(gpu, function, launch)? / times);
            functions.push(function);
        }
        if blocks == 0 {
            return Err(Error::Unsupported("a GPU is listed more often than it has blocks".into()));
        }
        Ok(Self { gpus, functions, launch, blocks })
    }

    fn size(&self, shape: Shape, starts: usize) -> Size {
        let (parts, Shape { rows, dims, samples, .. }) = (self.gpus.len(), shape);
        Size { rows, dims, samples, starts, parts, blocks: parts * self.blocks, copied: parts > 1 }
    }

    /// Lays out the arrays: with a copy of the coordinates on each GPU if these fit, else with the least used ones in
    /// host memory. Refuses clouds that don't fit there either.
    fn place<T: CudaScalar>(&self, size: Size) -> Result<(Offsets, Size), Error> {
        let times = |gpu: &Gpu| self.gpus.iter().filter(|other| *other == gpu).count();
        let share =
            |gpu: &Gpu, reserve| Ok::<_, Error>(gpu.available_memory(reserve)? / times(gpu));
        // Every part takes the same, so the smallest share decides.
        let smallest_share = |reserve| {
            let shares = self.gpus.iter().map(|gpu| share(gpu, reserve));
            shares.collect::<Result<Vec<_>, _>>().map(|sizes| sizes.into_iter().min().unwrap_or(0))
        };
        let available = smallest_share(0)?;
        let largest_part =
            |layout: &Offsets| layout.bytes_of_parts().into_iter().max().unwrap_or(0);
        for copied in [true, false] {
            let size = Size { copied, ..size };
            let layout = Offsets::new::<T>(size);
            if (copied <= (size.parts > 1)) && largest_part(&layout) <= available {
                return Ok((layout, size));
            }
        }
        let size = Size { copied: false, ..size };
        let mut layout = Offsets::new::<T>(size);
        if !layout.spill(smallest_share(RESERVE)?) {
            let total = self.gpus.iter().map(|gpu| gpu.properties().memory).min().unwrap_or(0);
            let (what, requested) =
                ("the part of the cloud that must be in GPU memory", largest_part(&layout));
            return Err(Error::OutOfMemory { what, requested, free: available, total, fit: None });
        }
        let (requested, free) = (layout.bytes_of_host(), host::available().unwrap_or(0));
        if requested > free {
            return Err(Error::OutOfHostMemory { requested, free });
        }
        Ok((layout, size))
    }
}

/// Bytes that a GPU keeps free when a cloud takes all others.
const RESERVE: usize = 256 << 20;

/// Number of rows below which a GPU's free memory is not queried, as that takes longer than a small cloud.
const SMALL_CLOUD: usize = 1 << 20;

/// GPUs that sample a cloud that is not left to the first GPU alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared<'a> {
    gpus: &'a [Gpu],
    options: PeakOptions,
}

/// Returns the GPUs that share this cloud: all, if it has at least `min_shared_rows` rows or does not fit the first,
/// and they can access each other's memory. `None`: the first can do it alone, or none can.
pub(crate) fn share<'a, T: CudaScalar>(
    gpus: &'a [Gpu],
    min_shared_rows: usize,
    job: &Sampler,
    shape: Shape,
    bytes: impl Fn(Choice) -> usize,
) -> Result<Option<Shared<'a>>, Error> {
    let eligible = shape.rows >= min_shared_rows.min(SMALL_CLOUD) || gpus[0].has_memory_limit();
    if !eligible || shape.samples == 0 {
        return Ok(None);
    }
    let choice = Choice::new(job)?.resolve::<T>(&gpus[0], shape);
    let Algorithm::Peak(options) = choice.algorithm() else { return Ok(None) };
    // A fixed number of blocks is one of a single GPU.
    if options.team.is_some() {
        return Ok(None);
    }
    let fits = bytes(choice) <= gpus[0].available_memory(0)?;
    let (several, linked) = (gpus.len() > 1, find_unlinked(gpus)?.is_none());
    match (fits, several && linked) {
        (true, false) => Ok(None),
        (true, true) if shape.rows < min_shared_rows => Ok(None),
        (_, true) => Ok(Some(Shared { gpus, options })),
        (false, false) => Ok(Some(Shared { gpus: &gpus[..1], options })),
    }
}

/// Returns the one GPU, with host memory: after it had less room than it reported.
pub(crate) fn alone<'a>(gpu: &'a Gpu, job: &Sampler) -> Option<Shared<'a>> {
    match job.algorithm {
        Algorithm::Auto => Some(PeakOptions::default()),
        Algorithm::Peak(options) if options.team.is_none() => Some(options),
        _ => None,
    }
    .map(|options| Shared { gpus: std::slice::from_ref(gpu), options })
}

/// Memory that a cloud would take.
pub(crate) fn placement<T: CudaScalar>(
    shared: Shared<'_>,
    shape: Shape,
) -> Result<Placement, Error> {
    let parts = Parts::new::<T>(shared.gpus, shape)?;
    let (layout, _) = parts.place::<T>(parts.size(shape, 1))?;
    Ok(Placement { bytes: layout.bytes, host: layout.bytes_of_host() })
}

/// Samples a cloud on all of these GPUs.
pub(crate) fn sample<T: CudaScalar>(
    Shared { gpus, options }: Shared<'_>,
    job: &Sampler,
    (cloud, shape): (&Prepared<T>, Shape),
    begin: Instant,
) -> Result<Sample<T>, Error> {
    input::check_rows(cloud.points())?;
    let parts = Parts::new::<T>(gpus, shape)?;
    let (layout, size) = parts.place::<T>(parts.size(shape, cloud.starts().len()))?;
    let pages = Pages::new(parts.gpus, &layout.runs())?;
    let streams = parts.gpus.iter().map(Stream::new).collect::<Result<Vec<_>, _>>()?;
    upload(&pages, &streams, (&layout, size), cloud)?;
    let mut statistics = Statistics::default();
    statistics.seconds.copy = begin.elapsed().as_secs_f64();
    statistics.bytes.input = size.rows * size.dims * size_of::<T>();
    statistics.bytes.answer = size.samples * (8 + size_of::<T>());
    let input_and_output = statistics.bytes.input + statistics.bytes.answer;
    statistics.bytes.scratch = layout.bytes.saturating_sub(input_and_output);
    statistics.bytes.host = layout.bytes_of_host();
    let args = arguments(&layout, &pages, size, job, &options, cloud);
    let events = [Event::new(&gpus[0])?, Event::new(&gpus[0])?];
    events[0].record(&streams[0])?;
    let started = start(&parts, &streams, args);
    let recorded = events[1].record(&streams[0]);
    // All streams are synchronized, whatever happened: the memory is freed after this.
    let synchronized = streams.iter().map(|stream| stream.wait("peak")).fold(Ok(()), Result::and);
    started.and(recorded).and(synchronized)?;
    statistics.seconds.kernels = events[1].seconds_since(&events[0])?;
    let download_begin = Instant::now();
    let mut sample = download(&pages, &streams, &layout, cloud, gpus[0].ordinal())?;
    if job.statistics {
        let mut counters = [0u64; peak::COUNTERS];
        pages.read(&streams, layout.counters, &mut counters)?;
        peak::record(&counters, &mut statistics);
        statistics.seconds.download = download_begin.elapsed().as_secs_f64();
        sample.statistics = Some(statistics);
    }
    Ok(sample)
}

/// Arguments of all parts; each adds its guard and its number.
fn arguments<T: CudaScalar>(
    layout: &Offsets,
    pages: &Pages,
    size: Size,
    job: &Sampler,
    options: &PeakOptions,
    cloud: &Prepared<T>,
) -> impl Fn(Guard, usize) -> SpanArgs<T> {
    let at = |offset: usize| pages.address() + offset as u64;
    let batch = Batch {
        points: at(layout.points),
        row_stride: if size.copied { 1 } else { size.dims as i64 },
        axis_stride: if size.copied { size.rows as i64 } else { 1 },
        dims: size.dims as u32,
        clouds: 1,
        offsets: 0,
        lengths: 0,
        rows: size.rows as i64,
        samples: 0,
        slots: 0,
        wanted: size.samples as i64,
        starts: at(layout.starts),
        start_count: size.starts as u32,
        stop: cloud.stop_radius().map_or_else(never, stop_at),
        indices: at(layout.indices),
        values: at(layout.values),
        covering: at(layout.covering),
        chosen: at(layout.chosen),
    };
    let (headers, scratch) = (at(layout.own), at(layout.arrays));
    let counters = if job.statistics { at(layout.counters) } else { 0 };
    let own_stride = layout.own_stride as u64;
    let copy = layout.points_stride as u64;
    let tuning = Tuning::new::<T>(size.blocks, size.rows, options);
    move |guard, part| SpanArgs {
        peak: Args {
            guard,
            batch: Batch { points: batch.points + part as u64 * copy, ..batch },
            headers,
            scratch,
            counters,
            header_stride: 0,
            stride: 0,
            tuning,
            known: 0,
            found: 0,
        },
        own_stride,
        part: part as u32,
        parts: size.parts as u32,
    }
}

/// Starts all parts. If one can't be started, the others are made to leave.
fn start<T: CudaScalar>(
    parts: &Parts<'_>,
    streams: &[Stream],
    args: impl Fn(Guard, usize) -> SpanArgs<T>,
) -> Result<(), Error> {
    let launch = Launch { grid: [parts.blocks as u32, 1, 1], ..parts.launch };
    for (part, (stream, &function)) in std::iter::zip(streams, &parts.functions).enumerate() {
        let args = args(Guard::new(stream, Kernel::Peak), part);
        // SAFETY: `SpanArgs` mirrors the parameter of the kernel for several GPUs, and `Args` that of the one for one;
        // the pages hold what the layout says, which is what the kernel places, and stay until all streams have
        // been waited for.
        let started = unsafe {
            match args.parts {
                1 => launch.start(stream, function, &args.peak),
                _ => launch.start(stream, function, &args),
            }
        };
        if let Err(error) = started {
            // SAFETY: `raised` of the header, within the pages.
            let _ = unsafe { memory::set(stream, args.peak.headers + RAISED, 1, 4) };
            return Err(error);
        }
    }
    Ok(())
}

/// Offset in `struct Header` of `kernels/peak/state.cuh` of the flag by which blocks leave.
const RAISED: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_the_kernel() {
        let source = include_str!("../../../kernels/peak/peak.cu");
        assert_eq!(fields(source, "SpanArgs"), "peak own_stride part parts");
        assert_eq!(offset_of!(SpanArgs<f32>, own_stride), size_of::<Args<f32>>());
        assert_eq!(size_of::<SpanArgs<f64>>(), size_of::<Args<f64>>() + 16);
        let state = include_str!("../../../kernels/peak/state.cuh");
        assert!(fields(state, "Header").starts_with("arrivals accepted band raised"));
        assert!(state.contains(&format!("MOST_PARTS = {MAX_PARTS};")));
    }
}
