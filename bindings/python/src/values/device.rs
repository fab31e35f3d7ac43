//! Operators on values in device memory. Arguments shared by every step of a training, shapes above all, are
//! passed once; a step passes nothing but addresses, 0 for none.

use super::{Sizes, about, shape_of};
use crate::device::{non_null, queue};
use crate::error::cuda as failed;
use crate::tensors::{Address, stream_of};
use farpoint::values::InverseDistance;
use farpoint_cuda::{
    DeviceGatherMaxGradients, DeviceInterpolateGradients, DeviceRows, Error, Gpu, GradientMemory,
    IndexKind, Stream, ValueKind,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CudaValues>()?;
    module.add_function(wrap_pyfunction!(cuda_weights, module)?)
}

/// Values and indices of one shape and type on one device. The Python half passes addresses of dense arrays of
/// these sizes, which it keeps alive in stream order.
#[pyclass(frozen)]
struct CudaValues {
    gpu: Gpu,
    sizes: Sizes,
    kind: ValueKind,
    index_kind: IndexKind,
    /// Bytes of memory that gradients of values are made with.
    #[pyo3(get)]
    scratch: usize,
}

#[pymethods]
impl CudaValues {
    /// `kind` is "f2", "b2" (bfloat16), "f4" or "f8".
    #[new]
    fn new(
        py: Python<'_>,
        device: usize,
        sizes: Sizes,
        kind: &str,
        wide_indices: bool,
    ) -> PyResult<Self> {
        let kind = match kind {
            "f2" => ValueKind::F16,
            "b2" => ValueKind::Bf16,
            "f4" => ValueKind::F32,
            "f8" => ValueKind::F64,
            _ => return Err(PyTypeError::new_err(format!("values of type {kind}"))),
        };
        let index_kind = if wide_indices { IndexKind::I64 } else { IndexKind::I32 };
        let gpu = py.detach(|| Gpu::new(device)).map_err(|error| failed(error, &about(sizes)))?;
        let mut new = Self { gpu, sizes, kind, index_kind, scratch: 0 };
        new.scratch = new.gpu.gradient_bytes(&new.rows(0));
        Ok(new)
    }

    fn gather(
        &self,
        py: Python<'_>,
        stream: Option<u64>,
        values: Address,
        indices: Address,
        output: Address,
    ) -> PyResult<()> {
        let (stream, rows) = (self.stream_of(py, stream)?, self.rows(indices.0));
        let (values, output) = (values.0, output.0);
        self.queue(py, stream, |stream| {
            // SAFETY: the Python half's arrays meet the plan's contract.
            unsafe { self.gpu.enqueue_gather(stream, &rows, values, output) }
        })
    }

    fn gather_backward(
        &self,
        py: Python<'_>,
        stream: u64,
        indices: u64,
        grad: u64,
        output: u64,
        scratch: u64,
    ) -> PyResult<()> {
        let (rows, memory) = (self.rows(indices), self.memory(scratch));
        self.queue(py, stream, |stream| {
            // SAFETY: the arrays meet the plan's contract, scratch memory of its size among them.
            unsafe { self.gpu.enqueue_gather_backward(stream, &rows, memory, grad, output) }
        })
    }

    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    #[pyo3(signature = (stream, values, indices, add, output, chosen = 0))]
    fn gather_max(
        &self,
        py: Python<'_>,
        stream: Option<u64>,
        values: Address,
        indices: Address,
        add: Address,
        output: Address,
        chosen: u64,
    ) -> PyResult<()> {
        let (stream, rows) = (self.stream_of(py, stream)?, self.rows(indices.0));
        let (from, output) = ((values.0, non_null(add.0)), output.0);
        self.queue(py, stream, |stream| {
            // SAFETY: the arrays meet the plan's contract; addresses that are not needed are 0.
            unsafe { self.gpu.enqueue_gather_max(stream, &rows, from, output, non_null(chosen)) }
        })
    }

    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn gather_max_backward(
        &self,
        py: Python<'_>,
        stream: u64,
        indices: u64,
        chosen: u64,
        grad: u64,
        of_values: u64,
        of_add: u64,
        scratch: u64,
    ) -> PyResult<()> {
        let (rows, memory) = (self.rows(indices), self.memory(scratch));
        let (values, add) = (non_null(of_values), non_null(of_add));
        let gradients = DeviceGatherMaxGradients { chosen, grad, values, add };
        self.queue(py, stream, |stream| {
            // SAFETY: the arrays meet the plan's contract; `chosen` is what `gather_max` left.
            unsafe { self.gpu.enqueue_gather_max_backward(stream, &rows, memory, &gradients) }
        })
    }

    fn interpolate(
        &self,
        py: Python<'_>,
        stream: Option<u64>,
        values: Address,
        indices: Address,
        weights: Address,
        output: Address,
    ) -> PyResult<()> {
        let (stream, rows) = (self.stream_of(py, stream)?, self.rows(indices.0));
        let (values, weights, output) = (values.0, weights.0, output.0);
        self.queue(py, stream, |stream| {
            // SAFETY: the arrays meet the plan's contract, weights of the type that the kind has.
            unsafe { self.gpu.enqueue_interpolate(stream, &rows, values, weights, output) }
        })
    }

    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn interpolate_backward(
        &self,
        py: Python<'_>,
        stream: u64,
        values: u64,
        indices: u64,
        weights: u64,
        grad: u64,
        of_values: u64,
        of_weights: u64,
        scratch: u64,
    ) -> PyResult<()> {
        let (rows, memory) = (self.rows(indices), self.memory(scratch));
        let (of_values, of_weights) = (non_null(of_values), non_null(of_weights));
        let gradients = DeviceInterpolateGradients { values, weights, grad, of_values, of_weights };
        self.queue(py, stream, |stream| {
            // SAFETY: the arrays meet the plan's contract, gradients of the sizes of what they are of.
            unsafe { self.gpu.enqueue_interpolate_backward(stream, &rows, memory, &gradients) }
        })
    }

    /// Queues a count of indices out of range: `result` gets it, and the position of the first.
    fn check_indices(
        &self,
        py: Python<'_>,
        stream: u64,
        indices: u64,
        result: u64,
    ) -> PyResult<()> {
        let rows = self.rows(indices);
        self.queue(py, stream, |stream| {
            // SAFETY: the indices meet the plan's contract, and `result` has room for two numbers.
            unsafe { self.gpu.enqueue_check_indices(stream, &rows, result) }
        })
    }
}

impl CudaValues {
    fn rows(&self, indices: u64) -> DeviceRows {
        let (kind, index_kind) = (self.kind, self.index_kind);
        DeviceRows { shape: shape_of(self.sizes), kind, indices, index_kind }
    }

    fn stream_of(&self, py: Python<'_>, stream: Option<u64>) -> PyResult<u64> {
        stream_of(py, stream, self.gpu.ordinal())
    }

    fn memory(&self, scratch: u64) -> GradientMemory {
        non_null(scratch)
            .map_or(GradientMemory::Pool, |at| GradientMemory::Provided(at, self.scratch))
    }

    fn queue(
        &self,
        py: Python<'_>,
        stream: u64,
        work: impl FnOnce(&Stream) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        let about = || format!("{}, cuda:{}", about(self.sizes), self.gpu.ordinal());
        queue(py, &self.gpu, stream, work, about)
    }
}

/// Queues weights from distances `(places, k)`; with `grad`, that of the weights, the gradient of the distances.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
fn cuda_weights(
    py: Python<'_>,
    device: usize,
    stream: Option<u64>,
    wide: bool,
    shape: (usize, usize),
    power: u32,
    eps: f64,
    distances: Address,
    grad: u64,
    output: Address,
) -> PyResult<()> {
    let stream = stream_of(py, stream, device)?;
    let (distances, output) = (distances.0, output.0);
    let how = InverseDistance { power, eps };
    let queue = || {
        let gpu = Gpu::new(device)?;
        // SAFETY: it is the caller's current stream of this device, which outlives the call.
        let stream = &unsafe { Stream::borrowed(&gpu, stream) };
        // SAFETY: the Python half passes addresses of dense arrays of this shape and precision, which it keeps
        // alive in stream order.
        unsafe {
            match (wide, non_null(grad)) {
                (false, None) => gpu
                    .enqueue_inverse_distance_weights::<f32>(stream, shape, how, distances, output),
                (true, None) => gpu
                    .enqueue_inverse_distance_weights::<f64>(stream, shape, how, distances, output),
                (false, Some(grad)) => gpu.enqueue_inverse_distance_weights_backward::<f32>(
                    stream,
                    shape,
                    how,
                    (distances, grad),
                    output,
                ),
                (true, Some(grad)) => gpu.enqueue_inverse_distance_weights_backward::<f64>(
                    stream,
                    shape,
                    how,
                    (distances, grad),
                    output,
                ),
            }
        }
    };
    let (places, k) = shape;
    py.detach(queue).map_err(|error| failed(error, &format!("distances ({places}, {k})")))
}
