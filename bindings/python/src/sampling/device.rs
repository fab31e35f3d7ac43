//! Sampling clouds in device memory. Python finds the addresses and allocates the answer; here they
//! become a [`DeviceBatch`] that is queued on the caller's stream.

use super::job;
use crate::device::{Input, given};
use crate::error::cuda as failed;
use farpoint::Sampler;
use farpoint_cuda::{CudaScalar, Device, DeviceBatch};
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
    let sampler = job(count, None, spacing, algorithm)?;
    let result = py.detach(|| match input.wide {
        false => enqueue::<f32>(&sampler, &input, &output),
        true => enqueue::<f64>(&sampler, &input, &output),
    });
    result.map_err(|error| failed(error, &input.about()))
}

fn enqueue<T: CudaScalar>(
    sampler: &Sampler,
    input: &Input,
    output: &Output,
) -> Result<(), farpoint_cuda::Error> {
    let (device, stream) = input.open()?;
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
    unsafe { sampler.enqueue(&device, &stream, &batch) }?;
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
    let sampler = job(Some(wanted), None, None, algorithm)?;
    let [clouds, rows, dims] = shape;
    let device = py.detach(|| Device::new(device)).map_err(|error| failed(error, "scratch"))?;
    Ok(match wide {
        false => sampler.scratch_bytes::<f32>(&device, clouds, rows, dims, wanted),
        true => sampler.scratch_bytes::<f64>(&device, clouds, rows, dims, wanted),
    })
}

