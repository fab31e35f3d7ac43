//! One value for each pair of clouds in device memory, and its gradients. Arguments shared by every
//! step of a training, shapes above all, are passed once; a step passes nothing but addresses.

use super::device_pairs::{PairLayout, Plan, Step, scratch};
use super::value::reduction_of;
use crate::device::non_null;
use crate::tensors::{Address, stream_of};
use farpoint::neighbors::Reduction;
use farpoint_cuda::{
    CudaScalar, DeviceGradients, DevicePairs, DeviceValues, Error, Stream, ValueGradient,
};
use pyo3::prelude::*;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CudaChamfer>()
}

/// Batches of one shape on one device, and the reduction to a value.
#[pyclass(frozen)]
struct CudaChamfer {
    plan: Plan,
    plain: bool,
    reduction: Reduction,
    /// Bytes of scratch memory that a search needs, and its gradients.
    #[pyo3(get)]
    scratch: (usize, usize),
}

#[pymethods]
impl CudaChamfer {
    /// `shape` is pairs, rows of either side, coordinates; strides are of a row and of an axis.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "Python's wrapper names them")]
    fn new(
        py: Python<'_>,
        device: usize,
        wide: bool,
        shape: [usize; 4],
        strides: [[i64; 2]; 2],
        norm: u8,
        plain: bool,
        reduction: &str,
        both: bool,
    ) -> PyResult<Self> {
        let layout: PairLayout = (shape, strides);
        let reduction = reduction_of(reduction)?;
        let plan = Plan::new(py, device, wide, layout, norm, both)?;
        let mut new = Self { plan, plain, reduction, scratch: (0, 0) };
        new.scratch =
            new.plan.sized(py, || new.scratch_bytes::<f32>(), || new.scratch_bytes::<f64>());
        Ok(new)
    }

    /// Queues the search and its reduction: `values` get a number per pair, `distances` and `indices`
    /// one per row, those of the second side behind those of the first; behind the distances the data
    /// of maxima. No indices: 0. Nothing waits.
    ///
    /// The Python half passes addresses of arrays of these sizes, which it keeps alive in stream
    /// order.
    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn forward(
        &self,
        py: Python<'_>,
        stream: Option<u64>,
        x: Address,
        y: Address,
        x_lengths: Address,
        y_lengths: Address,
        values: Address,
        distances: Address,
        indices: Address,
        scratch: Address,
    ) -> PyResult<()> {
        let stream = stream_of(py, stream, self.plan.gpu.ordinal())?;
        let (points, lengths) = ([x.0, y.0], [x_lengths.0, y_lengths.0]);
        let step = Step { stream, points, lengths, scratch: scratch.0 };
        let (values, distances, indices) = (values.0, distances.0, indices.0);
        let (narrow, wide) = (
            |stream: &Stream| self.enqueue::<f32>(stream, &step, values, distances, indices),
            |stream: &Stream| self.enqueue::<f64>(stream, &step, values, distances, indices),
        );
        self.plan.queue(py, &step, narrow, wide)
    }

    /// Queues the gradients of both batches, dense, from those of the values, which are `stride`
    /// numbers apart. 0 for gradients to skip.
    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn backward(
        &self,
        py: Python<'_>,
        stream: u64,
        x: u64,
        y: u64,
        x_lengths: u64,
        y_lengths: u64,
        distances: u64,
        indices: u64,
        grad: u64,
        stride: i64,
        of_x: u64,
        of_y: u64,
        scratch: u64,
    ) -> PyResult<()> {
        let step = Step { stream, points: [x, y], lengths: [x_lengths, y_lengths], scratch };
        let (saved, upstream, outputs) = ([distances, indices], (grad, stride), [of_x, of_y]);
        let (narrow, wide) = (
            |stream: &Stream| self.enqueue_backward::<f32>(stream, &step, saved, upstream, outputs),
            |stream: &Stream| self.enqueue_backward::<f64>(stream, &step, saved, upstream, outputs),
        );
        self.plan.queue(py, &step, narrow, wide)
    }
}

impl CudaChamfer {
    /// Returns the pairs with addresses for distances and indices; 0 for none.
    fn pairs_at<T: CudaScalar>(&self, step: &Step, distances: u64, indices: u64) -> DevicePairs<T> {
        let place = |address: u64, side: usize, bytes: usize| match (address, side) {
            (0, _) => 0,
            (_, 1) if !self.plan.both => 0,
            _ => address + (side * self.plan.pairs * self.plan.rows[0] * bytes) as u64,
        };
        let distances = [0, 1].map(|side| place(distances, side, size_of::<T>()));
        let indices = [0, 1].map(|side| place(indices, side, size_of::<i64>()));
        self.plan.at(step, distances, indices)
    }

    fn scratch_bytes<T: CudaScalar>(&self) -> (usize, usize) {
        // Only zero or not is read of these addresses.
        let pairs = self.pairs_at::<T>(&Step::NOTHING, 256, 256);
        let gpu = &self.plan.gpu;
        (gpu.values_scratch_bytes(&self.plan.job, &pairs), gpu.gradients_scratch_bytes(&pairs))
    }

    /// Returns the address of the data of maxima, behind the distances.
    fn extremes<T>(&self, distances: u64) -> Option<u64> {
        let Plan { pairs, rows: [n, m], both, .. } = self.plan;
        let places = pairs * (n + if both { m } else { 0 });
        let max = self.reduction == Reduction::Max && distances != 0;
        max.then(|| distances + (places * size_of::<T>()) as u64)
    }

    fn enqueue<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &Step,
        values: u64,
        distances: u64,
        indices: u64,
    ) -> Result<(), Error> {
        let (plan, scratch) = (&self.plan, scratch(step, self.scratch.0));
        let pairs = DevicePairs { scratch, ..self.pairs_at::<T>(step, distances, indices) };
        let (reduction, plain) = (self.reduction, self.plain);
        let extremes = self.extremes::<T>(distances);
        let record = DeviceValues { pairs, reduction, plain, values, extremes };
        // SAFETY: the Python half allocated what is described, and
        // keeps it in stream order.
        unsafe { plan.gpu.enqueue_values(&plan.job, stream, &record) }
    }

    fn enqueue_backward<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &Step,
        [distances, indices]: [u64; 2],
        upstream: (u64, i64),
        outputs: [u64; 2],
    ) -> Result<(), Error> {
        let value = ValueGradient {
            reduction: self.reduction,
            plain: self.plain,
            upstream,
            extremes: self.extremes::<T>(distances),
        };
        let gradients = DeviceGradients {
            pairs: self.pairs_at::<T>(step, distances, indices),
            grads: [None; 2],
            gradients: outputs.map(non_null),
            value: Some(value),
            scratch: scratch(step, self.scratch.1),
        };
        // SAFETY: the Python half allocated what is described and keeps it in stream order; indices and
        // distances are those that `forward` wrote.
        unsafe { self.plan.gpu.enqueue_gradients(&self.plan.job, stream, &gradients) }
    }
}
