//! One cloud on several GPUs: `peak` with the blocks of all of them as one team (docs/cuda.md).
//!
//! Every GPU runs the same kernel, for its part of the cloud. The arrays are at one range of addresses whose
//! pages lie on the GPU that uses them most ([`crate::pages`]), so that what crosses the cut between two parts is
//! read and written in the other's memory.

mod layout;

use super::algorithm::Choice;
use super::batch::{Batch, Shape, never, stop_at};
use super::peak::{self, Args};
use crate::guard::{Guard, Kernel};
use crate::input::{self, impossible};
use crate::launch::Launch;
use crate::module::Function;
use crate::pages::{Pages, strangers};
use crate::{CudaScalar, Error, Event, Gpu, Stream, memory, team};
use farpoint::backend::PreparedCloud as Prepared;
use farpoint::{Algorithm, PeakOptions, RanOn, Sample, Sampler, Statistics};
use layout::{Layout, Size};
use std::time::Instant;

/// The most GPUs of a cloud: `MOST_PARTS` of `kernels/peak/state.cuh`.
const MOST: usize = 4;

/// `struct SpanArgs` of `kernels/peak/peak.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct SpanArgs<T> {
    peak: Args<T>,
    own_stride: u64,
    part: u32,
    parts: u32,
}

/// The GPUs that work on a cloud, and what each runs.
struct Parts<'a> {
    gpus: &'a [Gpu],
    functions: Vec<Function>,
    launch: Launch,
    /// Blocks on each GPU.
    blocks: usize,
}

impl<'a> Parts<'a> {
    /// Loads the kernel on each GPU. One that is there twice has half of its blocks for each part.
    fn new<T: CudaScalar>(gpus: &'a [Gpu], dims: usize) -> Result<Self, Error> {
        let gpus = &gpus[..gpus.len().min(MOST)];
        if let Some((a, b)) = strangers(gpus)? {
            return Err(Error::Unsupported(format!(
                "one cloud on several GPUs: GPU {a} can't read the memory of GPU {b}; name GPUs that \
                 are linked, or one"
            )));
        }
        let name = if dims > 3 { "peak_high" } else { "peak" };
        let launch = Launch::new(1, peak::threads::<T>()).cooperative();
        let (mut functions, mut blocks) = (Vec::new(), usize::MAX);
        for gpu in gpus {
            let function = gpu.function::<T>("peak_span", name)?;
            let times = gpus.iter().filter(|other| *other == gpu).count();
            blocks = blocks.min(team::blocks_at_once(gpu, function, launch)? / times);
            functions.push(function);
        }
        if blocks == 0 {
            return Err(Error::Unsupported("a GPU is named more often than it has blocks".into()));
        }
        Ok(Self { gpus, functions, launch, blocks })
    }

    fn size<T: CudaScalar>(&self, cloud: &Prepared<T>) -> Size {
        let (parts, starts) = (self.gpus.len(), cloud.starts().len());
        let (rows, dims, wanted) = (cloud.points(), cloud.dims(), cloud.wanted());
        Size { rows, dims, wanted, starts, parts, blocks: parts * self.blocks, copied: true }
    }

    /// With a copy of the coordinates for each GPU if these fit. Refuses what does not fit, and says how many points
    /// would.
    fn fitting<T: CudaScalar>(&self, size: Size) -> Result<Size, Error> {
        let memory = self.gpus.iter().map(Gpu::memory).collect::<Result<Vec<_>, _>>()?;
        let times = |gpu: &Gpu| self.gpus.iter().filter(|other| *other == gpu).count();
        let shares = std::iter::zip(self.gpus, &memory).map(|(gpu, &(free, _))| free / times(gpu));
        // Every part takes as much, so the smallest share decides.
        let free = shares.min().unwrap_or(0);
        let bytes =
            |size: Size| Layout::new::<T>(size).bytes_of_parts().into_iter().max().unwrap_or(0);
        if bytes(size) <= free {
            return Ok(size);
        }
        let size = Size { copied: false, ..size };
        let most = |rows: usize| bytes(Size { rows, wanted: size.wanted.min(rows), ..size });
        let (wanted, what) = (most(size.rows), "a GPU's part of the cloud");
        if wanted <= free {
            return Ok(size);
        }
        let total = memory.iter().map(|&(_, total)| total).min().unwrap_or(0);
        let error = Error::OutOfMemory { what, wanted, free, total, fit: None };
        Err(error.with_fit(0, size.rows, most))
    }
}

/// Whether these GPUs should share this cloud: it has at least `fewest` rows, or the first has no room for it.
pub(crate) fn takes<T: CudaScalar>(
    gpus: &[Gpu],
    fewest: usize,
    job: &Sampler,
    shape: Shape,
    bytes: impl Fn(Choice) -> usize,
) -> Result<Option<PeakOptions>, Error> {
    if gpus.len() < 2 || shape.wanted == 0 {
        return Ok(None);
    }
    let choice = Choice::new(job)?.resolve::<T>(&gpus[0], shape);
    let Algorithm::Peak(options) = choice.algorithm() else { return Ok(None) };
    // A number of blocks is one of a single GPU.
    if options.team.is_some() {
        return Ok(None);
    }
    let fits = || Ok::<_, Error>(bytes(choice) <= gpus[0].memory()?.0);
    if shape.rows < fewest && fits()? {
        return Ok(None);
    }
    // GPUs that are not linked leave it to one of them, if that has room.
    if strangers(gpus)?.is_some() && fits()? {
        return Ok(None);
    }
    Ok(Some(options))
}

/// Samples a cloud on all of these GPUs.
pub(crate) fn sample<T: CudaScalar>(
    gpus: &[Gpu],
    job: &Sampler,
    options: &PeakOptions,
    cloud: &Prepared<T>,
    begin: Instant,
) -> Result<Sample<T>, Error> {
    input::check_rows(cloud.points())?;
    let parts = Parts::new::<T>(gpus, cloud.dims())?;
    let size = parts.fitting::<T>(parts.size(cloud))?;
    let layout = Layout::new::<T>(size);
    let pages = Pages::new(parts.gpus, &layout.runs())?;
    let streams = parts.gpus.iter().map(Stream::new).collect::<Result<Vec<_>, _>>()?;
    upload(&pages, &streams, &layout, cloud)?;
    let mut statistics = Statistics::default();
    statistics.seconds.copy = begin.elapsed().as_secs_f64();
    statistics.bytes.input = size.rows * size.dims * size_of::<T>();
    statistics.bytes.answer = size.wanted * (8 + size_of::<T>());
    statistics.bytes.scratch = layout.bytes - statistics.bytes.input - statistics.bytes.answer;
    let args = arguments(&layout, &pages, size, job, options, cloud);
    let events = [Event::new(&gpus[0])?, Event::new(&gpus[0])?];
    events[0].record(&streams[0])?;
    let started = start(&parts, &streams, args);
    let recorded = events[1].record(&streams[0]);
    // All are waited for, whatever happened: the memory is given back after this.
    let waited = streams.iter().map(|stream| stream.wait("peak")).fold(Ok(()), Result::and);
    started.and(recorded).and(waited)?;
    statistics.seconds.kernels = events[1].seconds_since(&events[0])?;
    let fetch = Instant::now();
    let mut sample = download(&pages, &streams, &layout, cloud, gpus[0].ordinal())?;
    if job.statistics {
        let mut counted = [0u64; peak::COUNTERS];
        pages.read(&streams, layout.counters, &mut counted)?;
        peak::record(&counted, &mut statistics);
        statistics.seconds.download = fetch.elapsed().as_secs_f64();
        sample.statistics = Some(statistics);
    }
    Ok(sample)
}

/// Copies the cloud to its pages, to all GPUs at the same time, and clears what must be zero.
fn upload<T: CudaScalar>(
    pages: &Pages,
    streams: &[Stream],
    layout: &Layout,
    cloud: &Prepared<T>,
) -> Result<(), Error> {
    let starts: Vec<i64> = cloud.starts().iter().map(|&start| i64::from(start)).collect();
    let axis = cloud.points() * size_of::<T>();
    let part = |part: usize, stream: &Stream| {
        let own = pages.address() + (layout.own + part * layout.own_stride) as u64;
        // SAFETY: mapped, and nothing else uses it yet.
        unsafe { memory::set(stream, own, 0, layout.own_stride)? };
        // The part's own is cleared before anything is written there.
        stream.wait_only("cuStreamSynchronize")?;
        pages.write_part(stream, part, layout.starts, &starts)?;
        (0..cloud.dims()).try_for_each(|a| {
            let own = layout.points + part * layout.points_stride;
            pages.write_part(stream, part, own + a * axis, cloud.axis(a))
        })
    };
    std::thread::scope(|scope| {
        let part = &part;
        let threads =
            streams.iter().enumerate().map(|(k, stream)| scope.spawn(move || part(k, stream)));
        let threads: Vec<_> = threads.collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.fold(Ok(()), Result::and)
    })
}

/// What all parts are told; each adds its guard and its number.
fn arguments<T: CudaScalar>(
    layout: &Layout,
    pages: &Pages,
    size: Size,
    job: &Sampler,
    options: &PeakOptions,
    cloud: &Prepared<T>,
) -> impl Fn(Guard, usize) -> SpanArgs<T> {
    let at = |offset: usize| pages.address() + offset as u64;
    let batch = Batch {
        points: at(layout.points),
        row_stride: 1,
        axis_stride: size.rows as i64,
        dims: size.dims as u32,
        clouds: 1,
        offsets: 0,
        lengths: 0,
        rows: size.rows as i64,
        samples: 0,
        slots: 0,
        wanted: size.wanted as i64,
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
    let (single, gamma) = (options.single.unwrap_or(32), options.gamma.unwrap_or(0.8));
    move |guard, part| SpanArgs {
        peak: Args {
            guard,
            batch: Batch { points: batch.points + part as u64 * copy, ..batch },
            headers,
            scratch,
            counters,
            header_stride: 0,
            stride: 0,
            team: size.blocks as u32,
            rows: size.rows as u32,
            single,
            // Looking through lists costs more than it saves: measured.
            list: 0,
            spread: 8_000,
            refined: u32::from(peak::refines(size.blocks, size.rows)),
            gamma,
            known: 0,
            found: 0,
        },
        own_stride,
        part: part as u32,
        parts: size.parts as u32,
    }
}

/// Starts all parts. Where one can't be started, the others are told to leave.
fn start<T: CudaScalar>(
    parts: &Parts<'_>,
    streams: &[Stream],
    args: impl Fn(Guard, usize) -> SpanArgs<T>,
) -> Result<(), Error> {
    let launch = Launch { grid: [parts.blocks as u32, 1, 1], ..parts.launch };
    for (part, (stream, &function)) in std::iter::zip(streams, &parts.functions).enumerate() {
        let args = args(Guard::new(stream, Kernel::Peak), part);
        // SAFETY: `SpanArgs` mirrors the kernel's parameter; the pages hold what the layout says, which is
        // what the kernel places, and stay until all streams have been waited for.
        if let Err(error) = unsafe { launch.start(stream, function, &args) } {
            // SAFETY: `raised` of the header, within the pages.
            let _ = unsafe { memory::set(stream, args.peak.headers + RAISED, 1, 4) };
            return Err(error);
        }
    }
    Ok(())
}

/// Where the flag is in `struct Header` of `kernels/peak/state.cuh` by which blocks leave.
const RAISED: u64 = 16;

/// Fetches the sample once all kernels are done.
fn download<T: CudaScalar>(
    pages: &Pages,
    streams: &[Stream],
    layout: &Layout,
    cloud: &Prepared<T>,
    ordinal: usize,
) -> Result<Sample<T>, Error> {
    let (mut chosen, mut covering) = ([0i64], [T::ZERO]);
    pages.read(streams, layout.chosen, &mut chosen)?;
    pages.read(streams, layout.covering, &mut covering)?;
    // Never trust a kernel's number with memory.
    let taken = usize::try_from(chosen[0]).ok().filter(|&n| n <= cloud.wanted());
    let taken = taken.ok_or_else(|| impossible("peak", chosen[0]))?;
    let (mut indices, mut values) = (vec![0i64; taken], vec![T::ZERO; taken]);
    pages.read(streams, layout.indices, &mut indices)?;
    pages.read(streams, layout.values, &mut values)?;
    let row = |&point: &i64| {
        let fits = usize::try_from(point).ok().filter(|&point| point < cloud.points());
        fits.map(|point| cloud.row(point)).ok_or_else(|| impossible("peak", point))
    };
    let rows = indices.iter().map(row).collect::<Result<_, _>>()?;
    let algorithm = Algorithm::peak();
    let mut sample = Sample::new(rows, values, covering[0], algorithm, RanOn::Gpu { ordinal });
    sample.dropped = cloud.dropped();
    Ok(sample)
}

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
        assert!(state.contains(&format!("MOST_PARTS = {MOST};")));
        let parts = include_str!("../../../kernels/peak/parts.cuh");
        assert!(parts.contains(&format!("RING = 1 << {};", layout::RING.ilog2())));
    }
}
