//! Approximate samplers of clouds in device memory. Python passes the addresses and allocates the output.

use super::Request;
use crate::device::{Input, non_null};
use crate::error::cuda as failed;
use farpoint::approximate::Method;
use farpoint::{Amount, ApproximateSampler, DeviceKind};
use farpoint_cuda::{CudaScalar, DeviceApproximate, DeviceBatch, Gpu};
use pyo3::prelude::*;
use std::marker::PhantomData;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let on_gpus = Method::ALL.iter().filter(|method| method.devices().contains(&DeviceKind::Gpu));
    module.add("CUDA_METHODS", on_gpus.map(Method::name).collect::<Vec<_>>())?;
    module.add_function(wrap_pyfunction!(cuda_sample_approximate, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_approximate_scratch_bytes, module)?)
}

/// Addresses of the output: the used attributes of Python's `Output`.
#[derive(FromPyObject)]
struct Output {
    samples: u64,
    slots: u64,
    starts: (u64, usize),
    indices: u64,
    scratch: (u64, usize),
}

/// Returns the job of every cloud.
fn job(request: &Request<'_>, count: usize) -> PyResult<ApproximateSampler> {
    Ok(ApproximateSampler::new(request.method()?, Amount::Count(count)))
}

/// Queues a sampling of at most `count` rows per cloud; `index` is the address and size of an index over the clouds, or
/// zeros. Nothing waits, nothing is copied to the host.
///
/// The Python half passes addresses of arrays that it keeps alive in stream order, sized as in [`DeviceApproximate`].
#[pyfunction]
#[pyo3(signature = (input, output, count, request, index))]
fn cuda_sample_approximate(
    py: Python<'_>,
    input: Input,
    output: Output,
    count: usize,
    request: Request<'_>,
    index: (u64, usize),
) -> PyResult<()> {
    let job = job(&request, count)?;
    // Before the device is opened: what devices lack, they lack on any machine.
    job.check(DeviceKind::Gpu).map_err(|error| failed(error.into(), &input.about()))?;
    let index = (index.0 != 0).then_some(index);
    let result = py.detach(|| match input.wide {
        false => enqueue::<f32>(&job, &input, &output, index),
        true => enqueue::<f64>(&job, &input, &output, index),
    });
    result.map_err(|error| failed(error, &input.about()))
}

fn enqueue<T: CudaScalar>(
    job: &ApproximateSampler,
    input: &Input,
    output: &Output,
    index: Option<(u64, usize)>,
) -> Result<(), farpoint_cuda::Error> {
    let (gpu, stream) = input.open()?;
    let (starts, start_count) = output.starts;
    let (scratch, scratch_bytes) = output.scratch;
    let batch = DeviceBatch::<T> {
        samples: non_null(output.samples),
        slots: non_null(output.slots),
        starts: non_null(starts).map(|starts| (starts, start_count)),
        indices: output.indices,
        scratch: non_null(scratch).map(|scratch| (scratch, scratch_bytes)),
        precision: PhantomData,
        ..input.batch()
    };
    // SAFETY: the Python half allocated what the batch describes, with starts and lengths held within the clouds, and
    // keeps it and the index, which is one of these clouds, in stream order.
    unsafe { gpu.enqueue_approximate(job, &stream, &DeviceApproximate { batch, index }) }
}

/// Returns the bytes of scratch memory that a sampling needs, with an index or without one.
#[pyfunction]
#[pyo3(signature = (device, wide, shape, count, request, indexed))]
fn cuda_approximate_scratch_bytes(
    py: Python<'_>,
    device: usize,
    wide: bool,
    shape: [usize; 3],
    count: usize,
    request: Request<'_>,
    indexed: bool,
) -> PyResult<usize> {
    let job = job(&request, count)?;
    let gpu = py.detach(|| Gpu::new(device)).map_err(|error| failed(error, "scratch"))?;
    Ok(match wide {
        false => gpu.approximate_scratch_bytes::<f32>(&job, shape, count, indexed),
        true => gpu.approximate_scratch_bytes::<f64>(&job, shape, count, indexed),
    })
}
