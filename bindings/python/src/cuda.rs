//! Sampling clouds in device memory. Python finds the addresses and allocates the answer; here
//! they become a [`DeviceBatch`] that is queued on the caller's stream.

use crate::error::cuda as failed;
use farpoint_cuda::{Algorithm, CudaScalar, Device, DeviceBatch, Sampler, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::marker::PhantomData;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cuda_sample, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_check, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_scratch_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_obstacle, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_device_of, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_warm_up, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_devices, module)?)
}

/// Clouds in device memory: addresses and strides as [`DeviceBatch`] has them, 0 for "none".
#[derive(FromPyObject)]
pub(crate) struct Input {
    pub(crate) device: usize,
    pub(crate) stream: u64,
    /// f64 if set, else f32.
    pub(crate) wide: bool,
    pub(crate) points: u64,
    pub(crate) strides: [i64; 2],
    /// Clouds, rows, coordinates.
    pub(crate) shape: [usize; 3],
    pub(crate) offsets: u64,
    pub(crate) lengths: u64,
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

pub(crate) fn given(address: u64) -> Option<u64> {
    (address != 0).then_some(address)
}

impl Input {
    fn batch<T: CudaScalar>(&self) -> DeviceBatch<T> {
        DeviceBatch {
            strides: self.strides,
            offsets: given(self.offsets),
            lengths: given(self.lengths),
            ..DeviceBatch::padded(self.points, self.shape, 0)
        }
    }

    /// The device and the caller's stream on it.
    pub(crate) fn open(&self) -> Result<(Device, Stream), farpoint_cuda::Error> {
        let device = Device::new(self.device)?;
        // SAFETY: the stream is the caller's current one, which outlives the call.
        let stream = unsafe { Stream::borrowed(&device, self.stream) };
        Ok((device, stream))
    }

    pub(crate) fn about(&self) -> String {
        let [clouds, rows, dims] = self.shape;
        let precision = if self.wide { "float64" } else { "float32" };
        format!("points of shape ({clouds}, {rows}, {dims}), {precision}, cuda:{}", self.device)
    }
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
    let sampler = sampler(count, spacing, algorithm)?;
    let result = py.detach(|| match input.wide {
        false => enqueue::<f32>(&sampler, &input, &output),
        true => enqueue::<f64>(&sampler, &input, &output),
    });
    result.map_err(|error| failed(error, &input.about()))
}

fn sampler(count: Option<usize>, spacing: Option<f64>, algorithm: &str) -> PyResult<Sampler> {
    let algorithm: Algorithm = algorithm.parse().map_err(PyValueError::new_err)?;
    let sampler = match (count, spacing) {
        (Some(count), _) => Sampler::count(count),
        (_, Some(spacing)) => Sampler::spacing(spacing),
        _ => Sampler::whole(),
    };
    Ok(sampler.algorithm(algorithm))
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
    // SAFETY: the Python half allocated what the batch tells, with starts and lengths held
    // within the clouds, and keeps it in stream order.
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

/// Queues a look for NaN and infinity: `counts` and `firsts` get an int64 for each cloud.
#[pyfunction]
fn cuda_check(py: Python<'_>, input: Input, counts: u64, firsts: u64) -> PyResult<()> {
    let result = py.detach(|| {
        let (_device, stream) = input.open()?;
        // SAFETY: the Python half allocated the points as the batch tells, and a number for each
        // cloud in both arrays, and keeps them in stream order.
        unsafe {
            match input.wide {
                false => farpoint_cuda::check_bad(&stream, &input.batch::<f32>(), counts, firsts),
                true => farpoint_cuda::check_bad(&stream, &input.batch::<f64>(), counts, firsts),
            }
        }
    });
    result.map_err(|error| failed(error, &input.about()))
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
    let sampler = sampler(Some(wanted), None, algorithm)?;
    let [clouds, rows, dims] = shape;
    let device = py.detach(|| Device::new(device)).map_err(|error| failed(error, "scratch"))?;
    Ok(match wide {
        false => sampler.scratch_bytes::<f32>(&device, clouds, rows, dims, wanted),
        true => sampler.scratch_bytes::<f64>(&device, clouds, rows, dims, wanted),
    })
}

/// Why CUDA can't be used here; nothing if it can.
#[pyfunction]
fn cuda_obstacle() -> Option<String> {
    farpoint_cuda::available().err().map(|unavailable| unavailable.reason)
}

/// Number of GPUs.
#[pyfunction]
fn cuda_devices() -> PyResult<usize> {
    farpoint_cuda::device_count().map_err(|error| failed(error, "devices"))
}

/// Loads every kernel on a device.
#[pyfunction]
fn cuda_warm_up(py: Python<'_>, device: usize) -> PyResult<()> {
    let warmed = py.detach(|| Device::new(device)?.warm_up());
    warmed.map_err(|error| failed(error, &format!("cuda:{device}")))
}

/// The device that has the memory at this address.
#[pyfunction]
fn cuda_device_of(address: u64) -> PyResult<usize> {
    farpoint_cuda::device_of(address).map_err(|error| failed(error, &format!("{address:#x}")))
}
