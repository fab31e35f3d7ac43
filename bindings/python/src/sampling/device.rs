//! Sampling clouds in device memory. Python finds the addresses and allocates the answer; here they
//! become a [`DeviceBatch`] that is queued on the caller's stream.

use super::{amount, job};
use crate::device::{Input, given};
use crate::error::cuda as failed;
use farpoint::{Amount, DeviceKind, Sampler};
use farpoint_cuda::{CudaScalar, DeviceBatch, Gpu};
use pyo3::prelude::*;
use std::marker::PhantomData;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cuda_sample, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_scratch_bytes, module)?)
}

/// Where the answer goes, and what each cloud wants.
#[derive(FromPyObject)]
struct Output {
    samples: u64,
    slots: u64,
    starts: (u64, usize),
    indices: u64,
    values: u64,
    covering: u64,
    chosen: u64,
    /// Where radii of double precision go, and how many numbers `values` has, if plain distances
    /// are wanted.
    radii: (u64, usize),
    scratch: (u64, usize),
}

/// Queues a sampling. Nothing waits, nothing is copied to the host.
///
/// The Python half passes addresses of arrays that it keeps alive in stream order, sized as
/// [`DeviceBatch`] says.
#[pyfunction]
#[pyo3(signature = (input, output, count, spacing, algorithm))]
fn cuda_sample(
    py: Python<'_>,
    input: Input,
    output: Output,
    count: Option<usize>,
    spacing: Option<f64>,
    algorithm: &str,
) -> PyResult<()> {
    let job = job(amount(count, None, spacing), algorithm)?;
    // Before the device is opened: what it does not have, it does not have on any machine.
    let there = job.check(DeviceKind::Gpu);
    there.map_err(|error| failed(error.into(), &input.about()))?;
    let result = py.detach(|| match input.wide {
        false => enqueue::<f32>(&job, &input, &output),
        true => enqueue::<f64>(&job, &input, &output),
    });
    result.map_err(|error| failed(error, &input.about()))
}

fn enqueue<T: CudaScalar>(
    job: &Sampler,
    input: &Input,
    output: &Output,
) -> Result<(), farpoint_cuda::Error> {
    let (gpu, stream) = input.open()?;
    let (starts, start_count) = output.starts;
    let (scratch, scratch_bytes) = output.scratch;
    let batch = DeviceBatch::<T> {
        samples: given(output.samples),
        slots: given(output.slots),
        starts: given(starts).map(|starts| (starts, start_count)),
        indices: output.indices,
        values: given(output.values),
        covering: given(output.covering),
        chosen: given(output.chosen),
        scratch: given(scratch).map(|scratch| (scratch, scratch_bytes)),
        precision: PhantomData,
        ..input.batch()
    };
    // SAFETY: the Python half allocated what the batch describes, with starts and lengths held within
    // the clouds, and keeps it in stream order.
    unsafe { gpu.enqueue_sample(job, &stream, &batch) }?;
    let (radii, places) = output.radii;
    if radii == 0 {
        return Ok(());
    }
    // SAFETY: `values` has so many places and `covering` and `radii` one for each cloud, all of them
    // allocated by the Python half on this stream.
    unsafe {
        let covering = (output.covering, batch.clouds);
        farpoint_cuda::roots::<T>(&stream, (output.values, places), covering, radii)
    }
}

/// Bytes of scratch memory that a sampling needs.
#[pyfunction]
#[pyo3(signature = (device, wide, shape, wanted, algorithm))]
fn cuda_scratch_bytes(
    py: Python<'_>,
    device: usize,
    wide: bool,
    shape: [usize; 3],
    wanted: usize,
    algorithm: &str,
) -> PyResult<usize> {
    let job = job(Amount::Count(wanted), algorithm)?;
    let [clouds, rows, dims] = shape;
    let gpu = py.detach(|| Gpu::new(device)).map_err(|error| failed(error, "scratch"))?;
    Ok(match wide {
        false => gpu.sample_scratch_bytes::<f32>(&job, clouds, rows, dims, wanted),
        true => gpu.sample_scratch_bytes::<f64>(&job, clouds, rows, dims, wanted),
    })
}
