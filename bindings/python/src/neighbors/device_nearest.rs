//! Nearest points in batches of one shape in device memory, and gradients of their distances. Arguments shared by
//! every step are passed once; a step passes nothing but addresses.

use super::device_pairs::{PairLayout, Plan, Step, scratch};
use crate::device::non_null;
use crate::tensors::{Address, stream_of};
use farpoint_cuda::{CudaScalar, DeviceGradients, DevicePairs, Error, Stream};
use pyo3::prelude::*;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CudaNearest>()
}

/// Batches of one shape on one device. The Python half passes addresses of arrays of these sizes, 0 for none,
/// and keeps them in stream order.
#[pyclass(frozen)]
struct CudaNearest {
    plan: Plan,
    /// Bytes of scratch memory of a search, and of its gradients.
    #[pyo3(get)]
    scratch: (usize, usize),
}

#[pymethods]
impl CudaNearest {
    /// `shape` is pairs, rows of either side, coordinates; strides are of a row and of an axis.
    #[new]
    fn new(
        py: Python<'_>,
        device: usize,
        wide: bool,
        shape: [usize; 4],
        strides: [[i64; 2]; 2],
        norm: u8,
        both: bool,
    ) -> PyResult<Self> {
        let layout: PairLayout = (shape, strides);
        let plan = Plan::new(py, device, wide, layout, norm, both)?;
        let scratch = plan.sized(py, || bytes::<f32>(&plan), || bytes::<f64>(&plan));
        Ok(Self { plan, scratch })
    }

    /// Queues the search: distances and indices of `x`'s nearest points, and with `both` of `y`'s.
    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn search(
        &self,
        py: Python<'_>,
        stream: Option<u64>,
        x: Address,
        y: Address,
        x_lengths: Address,
        y_lengths: Address,
        of_x: Address,
        nearest_of_x: Address,
        of_y: Address,
        nearest_of_y: Address,
        scratch: Address,
    ) -> PyResult<()> {
        let stream = stream_of(py, stream, self.plan.gpu.ordinal())?;
        let (points, lengths) = ([x.0, y.0], [x_lengths.0, y_lengths.0]);
        let step = Step { stream, points, lengths, scratch: scratch.0 };
        let (distances, indices) = ([of_x.0, of_y.0], [nearest_of_x.0, nearest_of_y.0]);
        let (narrow, wide) = (
            |stream: &Stream| self.enqueue::<f32>(stream, &step, distances, indices),
            |stream: &Stream| self.enqueue::<f64>(stream, &step, distances, indices),
        );
        self.plan.queue(py, &step, narrow, wide)
    }

    /// Queues the gradients of both batches, dense, from those of the distances and by the indices that `search`
    /// has found.
    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn backward(
        &self,
        py: Python<'_>,
        stream: u64,
        x: u64,
        y: u64,
        nearest_of_x: u64,
        nearest_of_y: u64,
        of_distances_x: u64,
        of_distances_y: u64,
        of_x: u64,
        of_y: u64,
        scratch: u64,
    ) -> PyResult<()> {
        let step = Step { stream, points: [x, y], lengths: [0; 2], scratch };
        let (indices, grads) = ([nearest_of_x, nearest_of_y], [of_distances_x, of_distances_y]);
        let to = [of_x, of_y];
        let (narrow, wide) = (
            |stream: &Stream| self.enqueue_backward::<f32>(stream, &step, indices, grads, to),
            |stream: &Stream| self.enqueue_backward::<f64>(stream, &step, indices, grads, to),
        );
        self.plan.queue(py, &step, narrow, wide)
    }
}

impl CudaNearest {
    fn enqueue<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &Step,
        distances: [u64; 2],
        indices: [u64; 2],
    ) -> Result<(), Error> {
        let (plan, scratch) = (&self.plan, scratch(step, self.scratch.0));
        let pairs = DevicePairs { scratch, ..plan.at::<T>(step, distances, indices) };
        // SAFETY: the arrays meet the plan's contract.
        unsafe { plan.gpu.enqueue_nearest(&plan.job, stream, &pairs) }
    }

    fn enqueue_backward<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &Step,
        indices: [u64; 2],
        grads: [u64; 2],
        to: [u64; 2],
    ) -> Result<(), Error> {
        let plan = &self.plan;
        let gradients = DeviceGradients {
            pairs: plan.at::<T>(step, [0; 2], indices),
            grads: grads.map(non_null),
            gradients: to.map(non_null),
            value: None,
            scratch: scratch(step, self.scratch.1),
        };
        // SAFETY: the arrays meet the plan's contract; the indices are those that `search` found for the
        // same clouds.
        unsafe { plan.gpu.enqueue_gradients(&plan.job, stream, &gradients) }
    }
}

fn bytes<T: CudaScalar>(plan: &Plan) -> (usize, usize) {
    // Only zero or not is read of these addresses.
    let sides = [256, if plan.both { 256 } else { 0 }];
    let search = plan.at::<T>(&Step::NOTHING, sides, sides);
    let backward = plan.at::<T>(&Step::NOTHING, [0; 2], sides);
    (
        plan.gpu.nearest_scratch_bytes(&plan.job, &search),
        plan.gpu.gradients_scratch_bytes(&backward),
    )
}
