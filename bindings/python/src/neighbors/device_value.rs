//! One value for each pair of clouds in device memory, and its gradients. What is the same in every
//! step of a training, shapes above all, is passed once; a step passes nothing but addresses.

use super::job;
use super::value::reduction_of;
use crate::device::given;
use crate::error::cuda as failed;
use farpoint::Matcher;
use farpoint::neighbors::Reduction;
use farpoint_cuda::{
    CudaScalar, DeviceGradients, DevicePairs, DeviceValues, Error, Gpu, Stream, ValueGradient,
};
use pyo3::prelude::*;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CudaChamfer>()
}

/// Batches of one shape on one device, and the value that they are reduced to.
#[pyclass(frozen)]
struct CudaChamfer {
    gpu: Gpu,
    wide: bool,
    pairs: usize,
    rows: [usize; 2],
    dims: usize,
    strides: [[i64; 2]; 2],
    job: Matcher,
    plain: bool,
    reduction: Reduction,
    both: bool,
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
        let (job, reduction) = (job(norm)?, reduction_of(reduction)?);
        let [pairs, n, m, dims] = shape;
        let rows = [n, m];
        let gpu = py.detach(|| Gpu::new(device));
        let gpu = gpu.map_err(|error| failed(error, "a batch of pairs of clouds"))?;
        let mut new = Self {
            gpu,
            wide,
            pairs,
            rows,
            dims,
            strides,
            job,
            plain,
            reduction,
            both,
            scratch: (0, 0),
        };
        new.scratch = py.detach(|| match wide {
            false => new.scratch_bytes::<f32>(),
            true => new.scratch_bytes::<f64>(),
        });
        Ok(new)
    }

    /// Queues the search and its reduction: `values` get a number per pair, `distances` and `indices`
    /// one per row, those of the second side behind those of the first; behind the distances what is
    /// kept of maxima. No indices: 0. Nothing waits.
    ///
    /// The Python half passes addresses of arrays of these sizes, which it keeps alive in stream
    /// order.
    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn forward(
        &self,
        py: Python<'_>,
        stream: u64,
        x: u64,
        y: u64,
        x_lengths: u64,
        y_lengths: u64,
        values: u64,
        distances: u64,
        indices: u64,
        scratch: u64,
    ) -> PyResult<()> {
        let step = Step { stream, points: [x, y], lengths: [x_lengths, y_lengths], scratch };
        let result = py.detach(|| match self.wide {
            false => self.enqueue::<f32>(&step, values, distances, indices),
            true => self.enqueue::<f64>(&step, values, distances, indices),
        });
        result.map_err(|error| failed(error, &self.about()))
    }

    /// Queues the gradients of both batches, dense, from those of the values, which are `stride`
    /// numbers apart. 0 for gradients that are not wanted.
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
        let (kept, upstream, wanted) = ([distances, indices], (grad, stride), [of_x, of_y]);
        let result = py.detach(|| match self.wide {
            false => self.enqueue_backward::<f32>(&step, kept, upstream, wanted),
            true => self.enqueue_backward::<f64>(&step, kept, upstream, wanted),
        });
        result.map_err(|error| failed(error, &self.about()))
    }
}

/// What changes from step to step, forward and backward.
struct Step {
    stream: u64,
    points: [u64; 2],
    lengths: [u64; 2],
    scratch: u64,
}

impl CudaChamfer {
    fn about(&self) -> String {
        let Self { pairs, rows: [n, m], dims, .. } = self;
        let precision = if self.wide { "float64" } else { "float32" };
        let device = self.gpu.ordinal();
        format!(
            "points of shape ({pairs}, {n}, {dims}) and ({pairs}, {m}, {dims}), {precision}, cuda:{device}"
        )
    }

    /// The pairs with places for distances and indices; 0 for none.
    fn pairs_at<T: CudaScalar>(&self, step: &Step, distances: u64, indices: u64) -> DevicePairs<T> {
        let place = |address: u64, side: usize, bytes: usize| {
            let asked = side == 0 || self.both;
            let before = (side * self.pairs * self.rows[0] * bytes) as u64;
            given(address).filter(|_| asked).map(|address| address + before)
        };
        let distances = [0, 1].map(|side| place(distances, side, size_of::<T>()));
        let indices = [0, 1].map(|side| place(indices, side, size_of::<i64>()));
        let mut pairs = DevicePairs::padded(step.points, self.pairs, self.rows, self.dims)
            .answers(distances, indices)
            .lengths(step.lengths.map(given));
        for (side, strides) in pairs.sides.iter_mut().zip(self.strides) {
            side.strides = strides;
        }
        pairs
    }

    fn scratch_bytes<T: CudaScalar>(&self) -> (usize, usize) {
        let nothing = Step { stream: 0, points: [0; 2], lengths: [0; 2], scratch: 0 };
        // Only which answers are wanted is looked at, not where they go.
        let pairs = self.pairs_at::<T>(&nothing, 256, 256);
        let backward = self.gpu.gradients_scratch_bytes(&pairs);
        (self.gpu.values_scratch_bytes(&self.job, &pairs), backward)
    }

    /// Where what is kept of maxima lies, behind the distances.
    fn extremes<T>(&self, distances: u64) -> Option<u64> {
        let places = self.pairs * (self.rows[0] + if self.both { self.rows[1] } else { 0 });
        let max = self.reduction == Reduction::Max && distances != 0;
        max.then(|| distances + (places * size_of::<T>()) as u64)
    }

    fn stream(&self, raw: u64) -> Stream {
        // SAFETY: it is PyTorch's current stream of this device, which outlives the call.
        unsafe { Stream::borrowed(&self.gpu, raw) }
    }

    fn enqueue<T: CudaScalar>(
        &self,
        step: &Step,
        values: u64,
        distances: u64,
        indices: u64,
    ) -> Result<(), Error> {
        let scratch = given(step.scratch).map(|address| (address, self.scratch.0));
        let pairs = DevicePairs { scratch, ..self.pairs_at::<T>(step, distances, indices) };
        let (reduction, plain) = (self.reduction, self.plain);
        let extremes = self.extremes::<T>(distances);
        let wanted = DeviceValues { pairs, reduction, plain, values, extremes };
        // SAFETY: the Python half allocated what is described, with lengths held within the clouds, and
        // keeps it in stream order.
        unsafe { self.gpu.enqueue_values(&self.job, &self.stream(step.stream), &wanted) }
    }

    fn enqueue_backward<T: CudaScalar>(
        &self,
        step: &Step,
        [distances, indices]: [u64; 2],
        upstream: (u64, i64),
        wanted: [u64; 2],
    ) -> Result<(), Error> {
        let value = ValueGradient {
            reduction: self.reduction,
            plain: self.plain,
            upstream,
            extremes: self.extremes::<T>(distances),
        };
        let wanted = DeviceGradients {
            pairs: self.pairs_at::<T>(step, distances, indices),
            grads: [None; 2],
            gradients: wanted.map(given),
            value: Some(value),
            scratch: given(step.scratch).map(|address| (address, self.scratch.1)),
        };
        let stream = self.stream(step.stream);
        // SAFETY: the Python half allocated what is described and keeps it in stream order; indices and
        // distances are those that `forward` wrote.
        unsafe { self.gpu.enqueue_gradients(&self.job, &stream, &wanted) }
    }
}
