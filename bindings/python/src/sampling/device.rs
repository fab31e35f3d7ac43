//! Sampling clouds in device memory. Python passes the addresses and allocates the output; here they
//! become a [`DeviceBatch`] that is queued on the caller's stream. `CudaSample` gets the arguments shared
//! by all calls once, shapes above all.

use super::{amount, job};
use crate::device::{Input, about, non_null};
use crate::error::cuda as failed;
use crate::tensors::{Address, stream_of};
use farpoint::{Amount, DeviceKind, Sampler};
use farpoint_cuda::{CudaScalar, DeviceBatch, Error, Gpu, Stream};
use pyo3::prelude::*;
use std::marker::PhantomData;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CudaSample>()?;
    module.add_function(wrap_pyfunction!(cuda_sample, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_scratch_bytes, module)?)
}

/// Addresses of the output, and the samples of each cloud.
#[derive(FromPyObject)]
struct Output {
    samples: u64,
    slots: u64,
    starts: (u64, usize),
    indices: u64,
    values: u64,
    covering: u64,
    chosen: u64,
    /// Address of radii of double precision, and the number of `values`, if plain distances
    /// are requested.
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
    let supported = job.check(DeviceKind::Gpu);
    supported.map_err(|error| failed(error.into(), &input.about()))?;
    let result = py.detach(|| match input.wide {
        false => enqueue::<f32>(&job, &input, &output),
        true => enqueue::<f64>(&job, &input, &output),
    });
    result.map_err(|error| failed(error, &input.about()))
}

fn enqueue<T: CudaScalar>(job: &Sampler, input: &Input, output: &Output) -> Result<(), Error> {
    let (gpu, stream) = input.open()?;
    let (starts, start_count) = output.starts;
    let (scratch, scratch_bytes) = output.scratch;
    let batch = DeviceBatch::<T> {
        samples: non_null(output.samples),
        slots: non_null(output.slots),
        starts: non_null(starts).map(|starts| (starts, start_count)),
        indices: output.indices,
        values: non_null(output.values),
        covering: non_null(output.covering),
        chosen: non_null(output.chosen),
        scratch: non_null(scratch).map(|scratch| (scratch, scratch_bytes)),
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
    // SAFETY: `values` has `places` numbers and `covering` and `radii` one for each cloud, all of them
    // allocated by the Python half on this stream.
    unsafe {
        let covering = (output.covering, batch.clouds);
        farpoint_cuda::roots::<T>(&stream, (output.values, places), covering, radii)
    }
}

/// Returns the bytes of scratch memory that a sampling needs.
#[pyfunction]
#[pyo3(signature = (device, wide, shape, count, algorithm))]
fn cuda_scratch_bytes(
    py: Python<'_>,
    device: usize,
    wide: bool,
    shape: [usize; 3],
    count: usize,
    algorithm: &str,
) -> PyResult<usize> {
    let job = job(Amount::Count(count), algorithm)?;
    let [clouds, rows, dims] = shape;
    let gpu = py.detach(|| Gpu::new(device)).map_err(|error| failed(error, "scratch"))?;
    Ok(match wide {
        false => gpu.sample_scratch_bytes::<f32>(&job, clouds, rows, dims, count),
        true => gpu.sample_scratch_bytes::<f64>(&job, clouds, rows, dims, count),
    })
}

/// Sampling of a fixed number of points of each cloud of batches of one shape on one device, from their first row. The
/// Python half passes addresses of arrays of these sizes, 0 for none, and keeps them in stream order.
#[pyclass(frozen)]
struct CudaSample {
    gpu: Gpu,
    wide: bool,
    /// Number of clouds, rows, coordinates.
    shape: [usize; 3],
    strides: [i64; 2],
    count: usize,
    job: Sampler,
    /// Bytes of scratch memory of a sampling, without distances and with them.
    #[pyo3(get)]
    scratch: (usize, usize),
}

/// Alignment of squared radii behind scratch memory.
const ALIGNED: usize = 256;

#[pymethods]
impl CudaSample {
    /// Strides are of a row and of an axis.
    #[new]
    fn new(
        py: Python<'_>,
        device: usize,
        wide: bool,
        shape: [usize; 3],
        strides: [i64; 2],
        count: usize,
        algorithm: &str,
    ) -> PyResult<Self> {
        let (job, [clouds, rows, dims]) = (job(Amount::Count(count), algorithm)?, shape);
        let about = || about(device, wide, shape);
        // Before the device is opened, as in `cuda_sample`.
        job.check(DeviceKind::Gpu).map_err(|error| failed(error.into(), &about()))?;
        let gpu = py.detach(|| Gpu::new(device)).map_err(|error| failed(error, &about()))?;
        let bytes = match wide {
            false => gpu.sample_scratch_bytes::<f32>(&job, clouds, rows, dims, count),
            true => gpu.sample_scratch_bytes::<f64>(&job, clouds, rows, dims, count),
        };
        let bytes = bytes.next_multiple_of(ALIGNED);
        let scratch = (bytes, bytes + clouds * size_of::<f64>());
        Ok(Self { gpu, wide, shape, strides, count, job, scratch })
    }

    /// Queues the sampling; with `values` distances go there, and covering radii to `radii`, in the unit of the
    /// coordinates. Nothing waits.
    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn sample(
        &self,
        py: Python<'_>,
        stream: Option<u64>,
        points: Address,
        lengths: Address,
        indices: Address,
        values: Address,
        radii: Address,
        scratch: Address,
    ) -> PyResult<()> {
        let stream = stream_of(py, stream, self.gpu.ordinal())?;
        let step = Step {
            points: points.0,
            lengths: lengths.0,
            indices: indices.0,
            values: values.0,
            radii: radii.0,
            scratch: scratch.0,
        };
        // SAFETY: it is the caller's current stream of this device, which outlives the call.
        let stream = unsafe { Stream::borrowed(&self.gpu, stream) };
        let result = py.detach(|| match self.wide {
            false => self.enqueue::<f32>(&stream, &step),
            true => self.enqueue::<f64>(&stream, &step),
        });
        result.map_err(|error| failed(error, &about(self.gpu.ordinal(), self.wide, self.shape)))
    }
}

/// Addresses that change from call to call.
struct Step {
    points: u64,
    lengths: u64,
    indices: u64,
    values: u64,
    radii: u64,
    scratch: u64,
}

impl CudaSample {
    fn enqueue<T: CudaScalar>(&self, stream: &Stream, step: &Step) -> Result<(), Error> {
        let bytes = self.scratch.0;
        let covering = non_null(step.radii).map(|_| step.scratch + bytes as u64);
        let batch = DeviceBatch::<T> {
            strides: self.strides,
            lengths: non_null(step.lengths),
            indices: step.indices,
            values: non_null(step.values),
            covering,
            scratch: non_null(step.scratch).filter(|_| bytes > 0).map(|address| (address, bytes)),
            ..DeviceBatch::padded(step.points, self.shape, 0)
        };
        // SAFETY: the arrays meet the plan's contract.
        unsafe { self.gpu.enqueue_sample(&self.job, stream, &batch) }?;
        let Some(covering) = covering else { return Ok(()) };
        let clouds = self.shape[0];
        let (values, squares) = ((step.values, clouds * self.count), (covering, clouds));
        // SAFETY: as above: a distance for each place, and of both kinds of radii one for each cloud.
        unsafe { farpoint_cuda::roots::<T>(stream, values, squares, step.radii) }
    }
}
