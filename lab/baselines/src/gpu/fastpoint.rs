//! FastPoint: a tenth of the samples by an exact algorithm, levels of falling radii, and `peak` for the rest.
//!
//! The levels are one cooperative launch; each cloud has a team of blocks, and points are struck out through an index
//! (`kernels/search/index.cuh` of farpoint-cuda), which may be one that serves searches, too.

use super::plan::{HIDDEN, Plan, Work, kernel};
use crate::Estimator;
use crate::fastpoint::Network;
use farpoint_cuda::backend::{
    Batch, Build, Guard, Indexes, Kernel, Known, Launch, Relaxed, Scratch, Shape, enqueue_index,
    fill, set,
};
use farpoint_cuda::{Buffer, CudaScalar, DeviceClouds, Error, Gpu, Stream};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

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

/// Queues the sampling of a batch; `index` is over its clouds, with its address if there is one.
///
/// # Safety
/// The addresses in `batch`, `scratch` and `index` must match `work`, and stay valid until the stream has finished.
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
        return unsafe { work.first.enqueue(stream, batch, work.shape, inner) };
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
            enqueue_index::<T>(gpu, stream, &build, inner)?;
        }
        levels(stream, work, &plan, &args)?;
        let known = Known { distances: args.known, found: args.found };
        fill(gpu, stream, batch, work.shape, inner, known)
    }
}

/// Returns the address of the estimator's coefficients on a GPU, where they stay; copies them on first use.
fn weights(gpu: &Gpu) -> Result<u64, Error> {
    static COPIED: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());
    let mut copied = COPIED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(address) = copied.get(&gpu.ordinal()) {
        return Ok(*address);
    }
    // Also while another stream is captured, which is unrelated to this one.
    let _relaxed = Relaxed::new()?;
    let stream = Stream::new(gpu)?;
    let buffer = Buffer::upload(&stream, &Network::trained().numbers, "the estimator")?;
    let address = buffer.pointer();
    std::mem::forget(buffer);
    copied.insert(gpu.ordinal(), address);
    Ok(address)
}

/// The kernels' parameter.
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
        Estimator::Network => weights(stream.gpu())?,
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
/// Same as [`enqueue`]; the addresses of `args` are of scratch memory.
unsafe fn first_samples<T: CudaScalar>(
    stream: &Stream,
    work: &Work,
    args: &Args<T>,
    indices: u64,
    scratch: Option<(u64, usize)>,
) -> Result<(), Error> {
    let shape = Shape { samples: work.prefix() + 1, ..work.shape };
    let mut batch = Batch {
        samples: 0,
        slots: 0,
        wanted: shape.samples as i64,
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
    unsafe { work.first.enqueue(stream, &batch, shape, scratch) }
}

/// Computes the radii, and takes the samples of the levels.
///
/// # Safety
/// Same as [`enqueue`]; the addresses of `args` are of scratch memory as planned.
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
        set(stream, args.headers, 0, plan.header * plan.teams.count)?;
        Launch::new(work.shape.clouds as u32, HIDDEN).start(stream, radii, args)?;
        Launch { grid, ..launch }.start(stream, function, args)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{HEADER, LEVELS, Levels, MIN_SAMPLES, THREADS};
    use super::*;
    use crate::fastpoint::{INPUTS, OUTPUTS};
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_fastpoint_cu() {
        assert_eq!((offset_of!(Args<f32>, indexes), offset_of!(Args<f32>, network)), (152, 176));
        assert_eq!((offset_of!(Args<f64>, indexes), offset_of!(Args<f64>, rows)), (160, 272));
        let source = include_str!("../../kernels/fastpoint/fastpoint.cu");
        assert!(source.contains(&format!("THREADS = {THREADS};")));
        let source = include_str!("../../kernels/fastpoint/curve.cuh");
        for text in [
            format!("INPUTS = {INPUTS};"),
            format!("OUTPUTS = {OUTPUTS};"),
            format!("HIDDEN = {HIDDEN};"),
            format!("LEVELS = {LEVELS};"),
        ] {
            assert!(source.contains(&text), "{text}");
        }
        let hidden = HIDDEN as usize;
        assert_eq!(Network::SHAPE, [(hidden, INPUTS), (hidden, hidden), (OUTPUTS, hidden)]);
        assert_eq!(
            (MIN_SAMPLES, size_of::<Levels<f32>>(), size_of::<Levels<f64>>()),
            (INPUTS, 28, 56)
        );
        let source = include_str!("../../kernels/fastpoint/state.cuh");
        assert!(source.contains("pad[27];") && HEADER == 4 * (5 + 27));
    }
}
