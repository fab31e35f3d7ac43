//! FastPoint (docs/samplers.md, docs/cuda.md): a tenth of the samples by an exact algorithm, levels of falling radii, and
//! `peak` for the rest.
//!
//! The levels are one cooperative launch; each cloud has a team of blocks, and points are struck out through an index
//! (`kernels/search/index.cuh`), which may be one that serves searches, too. Scratch: 32 to 45 bytes per point in `f32`, 40
//! to 65 in `f64`, an index if none is given, and that of the exact algorithms.

use crate::context::Relaxed;
use crate::fps::algorithm::Choice;
use crate::fps::batch::{Batch, Shape};
use crate::fps::peak::{self, Known};
use crate::guard::{Guard, Kernel};
use crate::launch::Launch;
use crate::memory::{self, Buffer, Scratch};
use crate::module::Function;
use crate::search::DeviceClouds;
use crate::search::index::{self, Build, Indexes};
use crate::team::{self, Teams, aligned};
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::approximate::Estimator;
use farpoint::backend::estimator::Network;
use farpoint::{Algorithm, PeakOptions};

/// Threads of a block of the levels, and of one that finds radii.
const THREADS: u32 = 512;
const HIDDEN: u32 = 128;

/// Levels, and the fewest samples that a curve can be predicted from.
pub(super) const LEVELS: usize = 6;
pub(super) const FEWEST: usize = 32;

/// Bytes of a team's header, to which the counts of its blocks are added.
const HEADER: usize = 128;

/// The most rows whose places an entry of a search's stack can name.
const MOST_ROWS: usize = 1 << 26;

/// `struct FastPointArgs` of `kernels/fastpoint/fastpoint.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    guard: Guard,
    batch: Batch<T>,
    indexes: Indexes,
    network: u64,
    first: u64,
    first_starts: u64,
    results: u64,
    found: u64,
    known: u64,
    headers: u64,
    memory: u64,
    header_stride: u64,
    stride: u64,
    first_slots: u32,
    team: u32,
    rows: u32,
}

/// What is to be done, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// The algorithm of the first stage.
    pub(super) first: Choice,
    pub(super) estimator: Estimator,
    pub(super) shape: Shape,
    /// Points to start from, of each cloud.
    pub(super) starts: usize,
    /// Whether an index is given.
    pub(super) indexed: bool,
}

impl Work {
    /// Samples of the first stage.
    pub(super) fn prefix(&self) -> usize {
        self.shape.wanted.div_ceil(10)
    }

    /// Whether there are too few samples to predict a curve from: then all are exact.
    fn is_exact(&self) -> bool {
        self.prefix() < FEWEST
    }

    fn check(&self) -> Result<(), Error> {
        if self.shape.rows > MOST_ROWS && !self.is_exact() {
            return Err(Error::Unsupported(format!(
                "clouds of {} rows are more than the 2^26 that fastpoint takes on a GPU; use the CPU",
                self.shape.rows
            )));
        }
        Ok(())
    }
}

/// `struct Result` of `kernels/fastpoint/state.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Levels<T> {
    pub(super) radii: [T; LEVELS],
    pub(super) levels: u32,
}

impl<T: CudaScalar> Levels<T> {
    /// Fetches those of the first cloud from scratch memory, once the work before is done.
    pub(super) fn read(&mut self, scratch: &Buffer<u8>, at: usize) -> Result<(), Error> {
        let number = size_of::<T>();
        let mut bytes = vec![0; LEVELS * number + 4];
        scratch.read(at, &mut bytes)?;
        let (radii, levels) = bytes.split_at(LEVELS * number);
        for (radius, bytes) in self.radii.iter_mut().zip(radii.chunks_exact(number)) {
            let bits = bytes.iter().rev().fold(0, |bits: u64, &byte| bits << 8 | u64::from(byte));
            *radius = T::from_ordered_bits(bits);
        }
        self.levels = u32::from_le_bytes(levels.try_into().expect("four bytes"));
        Ok(())
    }
}

/// Where everything is in scratch memory, in bytes from its beginning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    teams: Teams,
    header: usize,
    /// Of a cloud.
    arrays: usize,
    headers: usize,
    first_indices: usize,
    first_values: usize,
    first_starts: usize,
    pub(super) results: usize,
    pub(super) found: usize,
    known: usize,
    memory: usize,
    index: usize,
    /// Of the launches before and after, one after another.
    inner: usize,
    inner_bytes: usize,
    pub(super) bytes: usize,
}

fn kernel<T: CudaScalar>(gpu: &Gpu, dims: usize) -> Result<(Function, Launch), Error> {
    let name = if dims > 3 { "fastpoint_high" } else { "fastpoint" };
    Ok((gpu.function::<T>("fastpoint", name)?, Launch::new(1, THREADS).cooperative()))
}

/// Bytes of a cloud's arrays: `place_arrays` of `kernels/fastpoint/state.cuh`.
fn arrays<T: CudaScalar>(rows: usize) -> usize {
    let (number, places) = (size_of::<T>(), index::places(rows));
    let arrays =
        [number * places, 4 * places, 4 * places, places / 8, 4 * rows, rows.div_ceil(32) * 4];
    arrays.into_iter().map(aligned).sum()
}

impl Plan {
    pub(super) fn new<T: CudaScalar>(gpu: &Gpu, work: &Work) -> Result<Self, Error> {
        if work.is_exact() {
            let bytes = work.first.scratch_bytes::<T>(gpu, work.shape);
            return Ok(Self::of::<T>(work, Teams { team: 1, count: 1 }, bytes));
        }
        let (function, launch) = kernel::<T>(gpu, work.shape.dims)?;
        let blocks = team::blocks_at_once(gpu, function, launch)?;
        let teams = Teams::new(blocks, work.shape.clouds, work.shape.rows, None);
        let first = Shape { wanted: work.prefix() + 1, ..work.shape };
        let inner = [
            work.first.scratch_bytes::<T>(gpu, first),
            peak::scratch_bytes::<T>(gpu, work.shape, &PeakOptions::default()),
            index::building_bytes(work.shape.clouds, work.shape.rows),
        ];
        Ok(Self::of::<T>(work, teams, inner.into_iter().max().unwrap_or(0)))
    }

    fn of<T: CudaScalar>(work: &Work, teams: Teams, inner_bytes: usize) -> Self {
        let Shape { clouds, rows, .. } = work.shape;
        let (number, slots) = (size_of::<T>(), clouds * (work.prefix() + 1));
        let (header, arrays) = (aligned(HEADER + 4 * teams.team), arrays::<T>(rows));
        let index = if work.indexed { 0 } else { index::bytes::<T>(clouds, rows) };
        let mut end = 0;
        let mut next = |bytes: usize| {
            let begin = end;
            end += if work.is_exact() { 0 } else { aligned(bytes) };
            begin
        };
        let plan = Self {
            teams,
            header,
            arrays,
            headers: next(header * teams.count),
            first_indices: next(8 * slots),
            first_values: next(number * slots),
            first_starts: next(8 * clouds),
            results: next(size_of::<Levels<T>>() * clouds),
            found: next(4 * clouds),
            known: next(number * clouds * rows),
            memory: next(arrays * clouds),
            index: next(index),
            inner: next(0),
            inner_bytes,
            bytes: 0,
        };
        Self { bytes: plan.inner + inner_bytes, ..plan }
    }
}

/// Bytes of scratch memory; 0 where the device cannot run the algorithm.
pub(super) fn scratch_bytes<T: CudaScalar>(gpu: &Gpu, work: &Work) -> usize {
    Plan::new::<T>(gpu, work).map_or(0, |plan| plan.bytes)
}

/// Queues the sampling of a batch; `index` is over its clouds, with its address if there is one.
///
/// # Safety
/// The addresses in `batch`, `scratch` and `index` must be as `work` says, and stay so until the stream has finished.
pub(super) unsafe fn enqueue<T: CudaScalar>(
    stream: &Stream,
    batch: &Batch<T>,
    work: &Work,
    scratch: Option<(u64, usize)>,
    index: &DeviceClouds,
) -> Result<(), Error> {
    work.check()?;
    let gpu = stream.gpu();
    let plan = Plan::new::<T>(gpu, work)?;
    let scratch = Scratch::new(stream, scratch, plan.bytes)?;
    let inner = Some((scratch.pointer() + plan.inner as u64, plan.inner_bytes));
    if work.is_exact() {
        // SAFETY: this function's contract.
        return unsafe { work.first.enqueue(stream, batch, work.shape, inner, 0, None) };
    }
    let memory = index.index.map_or(scratch.pointer() + plan.index as u64, |(address, _)| address);
    let args = args(stream, batch, work, (&plan, scratch.pointer()), memory)?;
    // SAFETY: what is in scratch memory lies there as planned, and is freed in stream order; the rest is as this
    // function's contract says.
    unsafe {
        first_samples(stream, work, &args, scratch.pointer() + plan.first_indices as u64, inner)?;
        if index.index.is_none() {
            let sides = [None, Some((*index, memory))];
            let build = Build { sides, clouds: work.shape.clouds, dims: work.shape.dims };
            index::enqueue::<T>(gpu, stream, &build, inner)?;
        }
        levels(stream, work, &plan, &args)?;
        let known = Known { distances: args.known, found: args.found };
        peak::fill(gpu, stream, batch, work.shape, inner, known)
    }
}

/// Copies the estimator's numbers to the GPU, where they stay.
fn weights(gpu: &Gpu) -> Result<u64, Error> {
    // Also while another stream is captured, which this one has nothing to do with.
    let _relaxed = Relaxed::new()?;
    let stream = Stream::new(gpu)?;
    let buffer = Buffer::upload(&stream, &Network::trained().numbers, "the estimator")?;
    let address = buffer.pointer();
    std::mem::forget(buffer);
    Ok(address)
}

fn args<T: CudaScalar>(
    stream: &Stream,
    batch: &Batch<T>,
    work: &Work,
    (plan, scratch): (&Plan, u64),
    index: u64,
) -> Result<Args<T>, Error> {
    let at = |offset: usize| scratch + offset as u64;
    let network = match work.estimator {
        Estimator::Fit => 0,
        _ => stream.gpu().estimator(|| weights(stream.gpu()))?,
    };
    Ok(Args {
        guard: Guard::new(stream, Kernel::FastPoint),
        batch: *batch,
        indexes: Indexes::at::<T>(index, work.shape.rows),
        network,
        first: at(plan.first_values),
        first_starts: at(plan.first_starts),
        results: at(plan.results),
        found: at(plan.found),
        known: at(plan.known),
        headers: at(plan.headers),
        memory: at(plan.memory),
        header_stride: plan.header as u64,
        stride: plan.arrays as u64,
        first_slots: work.prefix() as u32 + 1,
        team: plan.teams.team as u32,
        rows: work.shape.rows as u32,
    })
}

/// The first stage: one sample more than the curve needs, whose distance is the covering radius before it.
///
/// # Safety
/// As [`enqueue`]; the addresses of `args` are of scratch memory.
unsafe fn first_samples<T: CudaScalar>(
    stream: &Stream,
    work: &Work,
    args: &Args<T>,
    indices: u64,
    scratch: Option<(u64, usize)>,
) -> Result<(), Error> {
    let shape = Shape { wanted: work.prefix() + 1, ..work.shape };
    let mut batch = Batch {
        samples: 0,
        slots: 0,
        wanted: shape.wanted as i64,
        start_count: 1,
        indices,
        values: args.first,
        covering: 0,
        chosen: 0,
        ..args.batch
    };
    if batch.starts != 0 && work.starts > 1 {
        let function = stream.gpu().function::<T>("fastpoint", "fastpoint_starts")?;
        let blocks = (shape.clouds as u32).div_ceil(HIDDEN);
        // SAFETY: `Args` mirrors the kernel's parameter; each cloud has a place for a start.
        unsafe { Launch::new(blocks, HIDDEN).start(stream, function, args)? };
        batch.starts = args.first_starts;
    }
    // SAFETY: indices and distances have a place for each sample; the rest is this function's contract.
    unsafe { work.first.enqueue(stream, &batch, shape, scratch, 0, None) }
}

/// The radii, and the samples of the levels.
///
/// # Safety
/// As [`enqueue`]; the addresses of `args` are of scratch memory as planned.
unsafe fn levels<T: CudaScalar>(
    stream: &Stream,
    work: &Work,
    plan: &Plan,
    args: &Args<T>,
) -> Result<(), Error> {
    let gpu = stream.gpu();
    let radii = gpu.function::<T>("fastpoint", "fastpoint_radii")?;
    let (function, launch) = kernel::<T>(gpu, work.shape.dims)?;
    let grid = [plan.teams.blocks(), 1, 1];
    // SAFETY: headers are scratch memory of that size; `Args` mirrors the kernels' parameter, and `arrays` is what
    // they place; the rest is this function's contract.
    unsafe {
        memory::set(stream, args.headers, 0, plan.header * plan.teams.count)?;
        Launch::new(work.shape.clouds as u32, HIDDEN).start(stream, radii, args)?;
        Launch { grid, ..launch }.start(stream, function, args)
    }
}

/// The algorithm of the first stage, if GPUs have it.
pub(super) fn first_stage(algorithm: Algorithm) -> Result<Choice, Error> {
    Choice::new(&farpoint::Sampler::count(1).algorithm(algorithm))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbors::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_fastpoint_cu() {
        let source = include_str!("../../kernels/fastpoint/fastpoint.cu");
        let theirs = "guard batch indexes network first first_starts results found known headers memory \
                      header_stride stride first_slots team rows";
        assert_eq!(fields(source, "FastPointArgs"), theirs);
        assert_eq!((offset_of!(Args<f32>, indexes), offset_of!(Args<f32>, network)), (152, 176));
        assert_eq!((offset_of!(Args<f64>, indexes), offset_of!(Args<f64>, rows)), (160, 272));
        assert!(source.contains(&format!("THREADS = {THREADS};")));
        let source = include_str!("../../kernels/fastpoint/curve.cuh");
        let (inputs, outputs) =
            (farpoint::backend::estimator::INPUTS, farpoint::backend::estimator::OUTPUTS);
        for text in [
            format!("INPUTS = {inputs};"),
            format!("OUTPUTS = {outputs};"),
            format!("HIDDEN = {HIDDEN};"),
            format!("LEVELS = {LEVELS};"),
        ] {
            assert!(source.contains(&text), "{text}");
        }
        let hidden = HIDDEN as usize;
        assert_eq!(Network::SHAPE, [(hidden, inputs), (hidden, hidden), (outputs, hidden)]);
        assert_eq!((FEWEST, size_of::<Levels<f32>>(), size_of::<Levels<f64>>()), (inputs, 28, 56));
        let source = include_str!("../../kernels/fastpoint/state.cuh");
        assert_eq!(fields(source, "Result"), "radii levels");
        assert!(source.contains("pad[27];") && HEADER == 4 * (5 + 27));
    }

    fn work(wanted: usize) -> Work {
        Work {
            first: first_stage(Algorithm::Auto).unwrap(),
            estimator: Estimator::Network,
            shape: Shape { clouds: 2, rows: 124_668, dims: 3, wanted },
            starts: 1,
            indexed: true,
        }
    }

    #[test]
    fn scratch_is_what_the_documentation_says() {
        let teams = Teams { team: 132, count: 2 };
        let a_point = |bytes: usize| bytes as f64 / (2.0 * 124_668.0);
        let narrow = Plan::of::<f32>(&work(31_167), teams, 0).bytes;
        let wide = Plan::of::<f64>(&work(31_167), teams, 0).bytes;
        assert!((32.0..45.0).contains(&a_point(narrow)), "{}", a_point(narrow));
        assert!((40.0..65.0).contains(&a_point(wide)), "{}", a_point(wide));
        assert_eq!(Plan::of::<f32>(&work(310), teams, 77).bytes, 77);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut large = work(1 << 20);
        assert!(large.check().is_ok());
        large.shape.rows = MOST_ROWS + 1;
        assert!(large.check().unwrap_err().to_string().contains("67108865 rows"));
        assert!(first_stage(Algorithm::Tree).is_err());
    }
}
