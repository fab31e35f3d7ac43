//! Clouds in device memory, whichever library owns them, and questions about devices.

use crate::error::cuda as failed;
use farpoint_cuda::{CudaScalar, DeviceBatch, Error, Gpu, Stream};
use pyo3::prelude::*;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cuda_check, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_obstacle, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_device_of, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_warm_up, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_devices, module)?)
}

/// Clouds in device memory: addresses and strides as in [`DeviceBatch`], 0 for "none".
#[derive(FromPyObject)]
pub(crate) struct Input {
    pub(crate) device: usize,
    pub(crate) stream: u64,
    /// Set for f64; else f32.
    pub(crate) wide: bool,
    pub(crate) points: u64,
    pub(crate) strides: [i64; 2],
    /// Number of clouds, rows, coordinates.
    pub(crate) shape: [usize; 3],
    pub(crate) offsets: u64,
    pub(crate) lengths: u64,
}

/// Queues work on the caller's current stream of a device; an error describes the input by `about`.
pub(crate) fn queue(
    py: Python<'_>,
    gpu: &Gpu,
    stream: u64,
    work: impl FnOnce(&Stream) -> Result<(), Error> + Send,
    about: impl FnOnce() -> String,
) -> PyResult<()> {
    // SAFETY: it is the caller's current stream of this device, which outlives the call.
    let stream = unsafe { Stream::borrowed(gpu, stream) };
    py.detach(|| work(&stream)).map_err(|error| failed(error, &about()))
}

pub(crate) fn non_null(address: u64) -> Option<u64> {
    (address != 0).then_some(address)
}

impl Input {
    pub(crate) fn batch<T: CudaScalar>(&self) -> DeviceBatch<T> {
        DeviceBatch {
            strides: self.strides,
            offsets: non_null(self.offsets),
            lengths: non_null(self.lengths),
            ..DeviceBatch::padded(self.points, self.shape, 0)
        }
    }

    /// Returns the GPU and the caller's stream on it.
    pub(crate) fn open(&self) -> Result<(Gpu, Stream), farpoint_cuda::Error> {
        let gpu = Gpu::new(self.device)?;
        // SAFETY: the stream is the caller's current one, which outlives the call.
        let stream = unsafe { Stream::borrowed(&gpu, self.stream) };
        Ok((gpu, stream))
    }

    pub(crate) fn about(&self) -> String {
        about(self.device, self.wide, self.shape)
    }
}

/// Describes a batch for messages.
pub(crate) fn about(device: usize, wide: bool, [clouds, rows, dims]: [usize; 3]) -> String {
    let precision = if wide { "float64" } else { "float32" };
    format!("points of shape ({clouds}, {rows}, {dims}), {precision}, cuda:{device}")
}

/// Queues a search for NaN and infinity: `counts` and `firsts` get an int64 for each cloud.
#[pyfunction]
fn cuda_check(py: Python<'_>, input: Input, counts: u64, firsts: u64) -> PyResult<()> {
    let result = py.detach(|| {
        let (_gpu, stream) = input.open()?;
        // SAFETY: the Python half allocated the points as the batch describes, and a number for each
        // cloud in both arrays, and keeps them in stream order.
        unsafe {
            match input.wide {
                false => {
                    farpoint_cuda::find_non_finite(&stream, &input.batch::<f32>(), counts, firsts)
                }
                true => {
                    farpoint_cuda::find_non_finite(&stream, &input.batch::<f64>(), counts, firsts)
                }
            }
        }
    });
    result.map_err(|error| failed(error, &input.about()))
}

/// Returns the reason why CUDA can't be used here; `None` if it can.
#[pyfunction]
fn cuda_obstacle() -> Option<String> {
    farpoint_cuda::available().err().map(|unavailable| unavailable.reason)
}

/// Returns the number of GPUs.
#[pyfunction]
fn cuda_devices() -> PyResult<usize> {
    farpoint_cuda::device_count().map_err(|error| failed(error, "devices"))
}

/// Loads every kernel on a device.
#[pyfunction]
fn cuda_warm_up(py: Python<'_>, device: usize) -> PyResult<()> {
    let warmed = py.detach(|| Gpu::new(device)?.warm_up());
    warmed.map_err(|error| failed(error, &format!("cuda:{device}")))
}

/// Returns the device that has the memory at this address.
#[pyfunction]
fn cuda_device_of(address: u64) -> PyResult<usize> {
    farpoint_cuda::device_of(address).map_err(|error| failed(error, &format!("{address:#x}")))
}
