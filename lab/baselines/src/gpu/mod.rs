//! QuickFPS and FastPoint on a GPU: clouds in host memory, and clouds in device memory on the caller's stream.

mod fastpoint;
mod plan;
mod quick;

use crate::fastpoint::Details;
use crate::{Found, Job, Method};
use anyhow::{Context, Result, bail, ensure};
use farpoint::backend::PreparedCloud;
use farpoint::{Algorithm, Points, Sample, Statistics};
use farpoint_cuda::backend::{Input, Output, Shape, add_kernels, batch, check, check_rows, shape};
use farpoint_cuda::{Buffer, CudaScalar, DeviceBatch, DeviceClouds, Gpu, Stream};
use plan::{Exact, LEVELS, Levels, MIN_SAMPLES, Plan, Work};
use std::sync::Once;

/// Adds the kernels to those of farpoint, once.
fn load() {
    static KERNELS: &[u8] = include_bytes!("../../kernels/built/kernels.bin");
    static ADDED: Once = Once::new();
    ADDED.call_once(|| assert!(add_kernels(KERNELS), "the archive is the committed one"));
}

/// Returns a FastPoint job on a GPU; `None` for QuickFPS.
fn work(job: &Job, shape: Shape, starts: usize, has_index: bool) -> Result<Option<Work>> {
    match job.method {
        Method::Quick { .. } => Ok(None),
        Method::FastPoint { first, estimator } => {
            let first = Exact::new(first)?;
            Ok(Some(Work { first, estimator, shape, starts, has_index }))
        }
        method => bail!("there is no kernel for {method}; quick and fastpoint have some"),
    }
}

fn height(method: Method) -> Option<u32> {
    if let Method::Quick { height } = method { height } else { None }
}

/// Queues the sampling of clouds in device memory without synchronizing, as `Gpu::enqueue_sample` does. `index` is the
/// address and size of an index over the clouds by `Gpu::enqueue_index`, which saves FastPoint the time to build one.
/// Graphs can capture it after a first call.
///
/// # Errors
/// If the job, sizes or addresses are wrong as far as the host can tell, if GPUs do not have the method, and if the
/// driver refuses a call.
///
/// # Safety
/// As for [`DeviceBatch`]; an index must be over the same clouds on the same GPU, built before this work on its stream.
pub unsafe fn enqueue<T: CudaScalar>(
    job: &Job,
    stream: &Stream,
    request: &DeviceBatch<T>,
    index: Option<(u64, usize)>,
) -> Result<()> {
    load();
    job.method.check()?;
    let shape = check(&job.exact(), request)?;
    let starts = request.starts.map_or(1, |(_, starts)| starts);
    let work = work(job, shape, starts, index.is_some())?;
    if shape.clouds == 0 {
        return Ok(());
    }
    let (batch, scratch) = (request.input(shape), request.scratch);
    let clouds = DeviceClouds {
        points: request.points,
        strides: request.strides,
        rows: request.rows,
        offsets: request.offsets,
        lengths: request.lengths,
        index,
    };
    clouds.check_index::<T>(shape.clouds)?;
    // SAFETY: what is in device memory is as `DeviceBatch` requires, by this function's contract; what the host knows
    // was checked.
    unsafe {
        match work {
            Some(work) => fastpoint::enqueue(stream, &batch, &work, scratch, &clouds)?,
            None => quick::enqueue(stream, &batch, shape, scratch, height(job.method))?,
        }
    }
    Ok(())
}

/// Returns the bytes of device memory that [`enqueue`] uses besides input, index and result, for this many clouds of at
/// most `rows` rows of `dims` coordinates and `samples` samples each.
///
/// # Errors
/// If GPUs do not have the method.
pub fn scratch_bytes<T: CudaScalar>(
    gpu: &Gpu,
    job: &Job,
    [clouds, rows, dims]: [usize; 3],
    samples: usize,
    has_index: bool,
) -> Result<usize> {
    load();
    let shape = Shape { clouds, rows, dims, samples };
    Ok(match work(job, shape, 1, has_index)? {
        Some(work) => Plan::new::<T>(gpu, &work)?.bytes,
        None => quick::scratch_bytes::<T>(gpu, shape, height(job.method)),
    })
}

/// Samples one cloud in host memory.
///
/// # Errors
/// As for [`crate::sample`], if GPUs do not have the method, and failures of the GPU.
pub fn sample_on<T: CudaScalar, P: Points<T> + ?Sized>(
    gpu: &Gpu,
    job: &Job,
    points: &P,
) -> Result<Found<T>> {
    load();
    job.method.check()?;
    let cloud = PreparedCloud::new(&job.exact(), points)?;
    let clouds = [&cloud];
    let shape = shape(&clouds);
    check_rows(shape.rows)?;
    let work = work(job, shape, cloud.starts().len(), false)?;
    let (dropped, statistics) = (cloud.dropped(), Statistics::default());
    if shape.samples == 0 {
        let (indices, squared_distances) = (Vec::new(), Vec::new());
        let (window, fastpoint) = (None, None);
        return Ok(Found { indices, squared_distances, window, fastpoint, dropped, statistics });
    }
    let stream = Stream::new(gpu)?;
    let input = Input::upload(&stream, &clouds, shape)?;
    let output = Output::new(&stream, &clouds)?;
    let batch = batch(&clouds, shape, &input, &output);
    let sizes = [shape.clouds, shape.rows, shape.dims];
    let bytes = scratch_bytes::<T>(gpu, job, sizes, shape.samples, false)?;
    let scratch = Buffer::<u8>::new(&stream, bytes, "scratch memory")?;
    let memory = Some((scratch.pointer(), bytes));
    // SAFETY: the buffers have the sizes that batch and plan say, and are freed in stream order.
    unsafe {
        match &work {
            Some(work) => {
                let strides = [batch.row_stride, batch.axis_stride];
                let padded = DeviceClouds::padded(batch.points, shape.rows, shape.dims);
                let clouds = DeviceClouds { strides, ..padded };
                fastpoint::enqueue(&stream, &batch, work, memory, &clouds)?;
            }
            None => quick::enqueue(&stream, &batch, shape, memory, height(job.method))?,
        }
    }
    stream.wait(job.method.name())?;
    let mut samples = output.download(gpu, &clouds, Algorithm::Auto)?;
    let sample = samples.pop().context("one cloud has one sample")?;
    let fastpoint = work.map(|work| details(gpu, &work, &scratch, &sample)).transpose()?;
    let mut squared_distances = sample.squared_distances;
    squared_distances.push(sample.squared_covering_radius);
    if fastpoint.is_some() {
        squared_distances.clear();
    }
    ensure!(sample.indices.len() == shape.samples, "the kernel chose too few");
    let indices = sample.indices;
    Ok(Found { indices, squared_distances, window: None, fastpoint, dropped, statistics })
}

/// Reads the levels' details from scratch memory.
fn details<T: CudaScalar>(
    gpu: &Gpu,
    work: &Work,
    scratch: &Buffer<u8>,
    sample: &Sample<T>,
) -> Result<Details> {
    let covering = sample.squared_covering_radius;
    let mut levels = Levels { radii: [T::ZERO; LEVELS], levels: 0 };
    let mut found = [0; 4];
    if work.prefix() >= MIN_SAMPLES {
        let plan = Plan::new::<T>(gpu, work)?;
        levels.read(scratch, plan.results)?;
        scratch.read(plan.found, &mut found)?;
    }
    if levels.levels == 0 {
        let last = sample.squared_distances.last().copied().unwrap_or(T::ZERO);
        return Ok(Details::new::<T>(sample.len(), sample.len(), &[], [last, covering]));
    }
    let found = u32::from_le_bytes(found) as usize;
    let last = levels.radii[LEVELS - 1];
    Ok(Details::new(work.prefix(), found, &levels.radii, [last * last, covering]))
}
