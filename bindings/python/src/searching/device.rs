//! Several neighbors of clouds in device memory, their gradients, and trees that are built once. Arguments shared by
//! every step, shapes above all, are passed once; a step passes nothing but addresses, 0 for none.

use super::Request;
use crate::device::{non_null, queue};
use crate::error::cuda as failed;
use crate::tensors::{Address, stream_of};
use farpoint::Searcher;
use farpoint_cuda::{
    CudaScalar, DeviceClouds, DeviceIndex, DeviceSearch, DeviceSearchGradients, DeviceWithin,
    Error, Gpu, Stream,
};
use pyo3::prelude::*;
use std::marker::PhantomData;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CudaSearch>()
}

/// A search in batches of one shape on one device. The Python half passes addresses of arrays of these sizes,
/// offsets within them, and keeps all of it in stream order.
#[pyclass(frozen)]
struct CudaSearch {
    gpu: Gpu,
    wide: bool,
    clouds: usize,
    /// Rows of a cloud of either side; of a ragged side, of all of them.
    rows: [usize; 2],
    dims: usize,
    strides: [[i64; 2]; 2],
    ragged: bool,
    narrow: bool,
    job: Searcher,
    /// Bytes of scratch memory of a search, without an index and with one.
    #[pyo3(get)]
    scratch: (usize, usize),
    /// Bytes of scratch memory of the gradients.
    #[pyo3(get)]
    backward_scratch: usize,
    /// Bytes of an index of `y`, and of scratch memory to build it.
    #[pyo3(get)]
    index_bytes: (usize, usize),
}

/// Addresses that change from step to step.
#[derive(Clone, Copy, Default)]
struct Step {
    stream: u64,
    points: [u64; 2],
    lengths: [u64; 2],
    offsets: [u64; 2],
    /// The index of `y`, and true if `x` is the same clouds.
    tree: u64,
    itself: bool,
}

#[pymethods]
impl CudaSearch {
    /// `shape` is clouds, rows of either side, coordinates; strides are of a row and of an axis.
    #[new]
    fn new(
        py: Python<'_>,
        device: usize,
        wide: bool,
        shape: [usize; 4],
        strides: [[i64; 2]; 2],
        ragged: bool,
        request: Request,
    ) -> PyResult<Self> {
        let (job, [clouds, n, m, dims]) = (request.searcher()?, shape);
        let gpu = py.detach(|| Gpu::new(device));
        let gpu = gpu.map_err(|error| failed(error, "clouds to be searched"))?;
        let mut new = Self {
            gpu,
            wide,
            clouds,
            rows: [n, m],
            dims,
            strides,
            ragged,
            narrow: request.narrow,
            job,
            scratch: (0, 0),
            backward_scratch: 0,
            index_bytes: (0, 0),
        };
        py.detach(|| match wide {
            false => new.measure::<f32>(),
            true => new.measure::<f64>(),
        });
        Ok(new)
    }

    /// Queues a search for k neighbors of each point.
    fn search(
        &self,
        py: Python<'_>,
        step: StepTuple,
        distances: u64,
        indices: u64,
        counts: u64,
        scratch: u64,
    ) -> PyResult<()> {
        self.queue_search(py, &Step::of(step), [distances, indices, counts], scratch)
    }

    /// Queues the search in clouds without offsets.
    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn search_whole(
        &self,
        py: Python<'_>,
        stream: Option<u64>,
        x: Address,
        y: Address,
        x_lengths: Address,
        y_lengths: Address,
        tree: Address,
        itself: bool,
        distances: Address,
        indices: Address,
        counts: Address,
        scratch: Address,
    ) -> PyResult<()> {
        let stream = stream_of(py, stream, self.gpu.ordinal())?;
        let (points, lengths) = ([x.0, y.0], [x_lengths.0, y_lengths.0]);
        let step = Step { stream, points, lengths, offsets: [0; 2], tree: tree.0, itself };
        self.queue_search(py, &step, [distances.0, indices.0, counts.0], scratch.0)
    }

    /// Queues the counting of all neighbors within balls.
    fn count(&self, py: Python<'_>, step: StepTuple, counts: u64, scratch: u64) -> PyResult<()> {
        let step = Step::of(step);
        self.queue(py, step.stream, |stream| match self.wide {
            false => self.enqueue_count::<f32>(stream, &step, counts, scratch),
            true => self.enqueue_count::<f64>(stream, &step, counts, scratch),
        })
    }

    /// Queues the writing of all neighbors within balls, by the running sums of the counts.
    fn fill(
        &self,
        py: Python<'_>,
        step: StepTuple,
        offsets: u64,
        distances: u64,
        indices: u64,
        scratch: u64,
    ) -> PyResult<()> {
        let (step, answers) = (Step::of(step), [distances, indices, 0]);
        self.queue(py, step.stream, |stream| match self.wide {
            false => self.enqueue_fill::<f32>(stream, &step, offsets, answers, scratch),
            true => self.enqueue_fill::<f64>(stream, &step, offsets, answers, scratch),
        })
    }

    /// Queues the gradients of both sides, dense, from those of the distances that `search` has
    /// found. Concatenated clouds are one cloud to it, whose rows are the indices.
    #[expect(clippy::too_many_arguments, reason = "Python passes numbers faster than tuples")]
    fn backward(
        &self,
        py: Python<'_>,
        stream: u64,
        x: u64,
        y: u64,
        indices: u64,
        grad: u64,
        of_x: u64,
        of_y: u64,
        scratch: u64,
    ) -> PyResult<()> {
        let step = Step { stream, points: [x, y], ..Step::default() };
        let (from, to) = ([indices, grad], [of_x, of_y]);
        self.queue(py, stream, |stream| match self.wide {
            false => self.enqueue_backward::<f32>(stream, &step, from, to, scratch),
            true => self.enqueue_backward::<f64>(stream, &step, from, to, scratch),
        })
    }

    /// Queues the building of an index of `y` in the memory of the step's `tree`.
    fn index(&self, py: Python<'_>, step: StepTuple, scratch: u64) -> PyResult<()> {
        let step = Step::of(step);
        self.queue(py, step.stream, |stream| match self.wide {
            false => self.enqueue_index::<f32>(stream, &step, scratch),
            true => self.enqueue_index::<f64>(stream, &step, scratch),
        })
    }
}

/// A step as a tuple of Python.
#[derive(FromPyObject)]
struct StepTuple(u64, [u64; 2], [u64; 2], [u64; 2], u64, bool);

impl Step {
    fn of(StepTuple(stream, points, lengths, offsets, tree, itself): StepTuple) -> Self {
        Self { stream, points, lengths, offsets, tree, itself }
    }
}

impl CudaSearch {
    fn about(&self) -> String {
        let Self { clouds, rows: [n, m], dims, .. } = self;
        let precision = if self.wide { "float64" } else { "float32" };
        let device = self.gpu.ordinal();
        format!(
            "points of shape ({clouds}, {n}, {dims}) and ({clouds}, {m}, {dims}), {precision}, cuda:{device}"
        )
    }

    fn queue(
        &self,
        py: Python<'_>,
        stream: u64,
        work: impl FnOnce(&Stream) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        queue(py, &self.gpu, stream, work, || self.about())
    }

    fn queue_search(
        &self,
        py: Python<'_>,
        step: &Step,
        answers: [u64; 3],
        scratch: u64,
    ) -> PyResult<()> {
        self.queue(py, step.stream, |stream| match self.wide {
            false => self.enqueue::<f32>(stream, step, answers, scratch),
            true => self.enqueue::<f64>(stream, step, answers, scratch),
        })
    }

    /// Returns the clouds of either side; an index of `y` is that of `x`, too, if it is the same.
    fn sides(&self, step: &Step) -> [DeviceClouds; 2] {
        let index = non_null(step.tree).map(|tree| (tree, self.index_bytes.0));
        [0, 1].map(|side| DeviceClouds {
            points: step.points[side],
            strides: self.strides[side],
            rows: self.rows[side],
            offsets: non_null(step.offsets[side]),
            lengths: non_null(step.lengths[side]),
            index: index.filter(|_| side == 1 || step.itself),
        })
    }

    fn device_search<T: CudaScalar>(
        &self,
        step: &Step,
        [distances, indices, counts]: [u64; 3],
        scratch: u64,
    ) -> DeviceSearch<T> {
        let ([x, y], indexed) = (self.sides(step), step.tree != 0);
        let bytes = if indexed { self.scratch.1 } else { self.scratch.0 };
        let search = DeviceSearch::new(x, y, self.clouds, self.dims);
        let search = search.outputs(non_null(distances), non_null(indices), non_null(counts));
        DeviceSearch {
            narrow: self.narrow,
            whole: self.ragged,
            scratch: non_null(scratch).map(|scratch| (scratch, bytes)),
            ..search
        }
    }

    /// Computes the bytes of all buffers.
    fn measure<T: CudaScalar>(&mut self) {
        let gpu = &self.gpu;
        // Only sizes are read, and if there is an index.
        let example = Step { points: [256, 512], ..Step::default() };
        let search = |step: &Step| {
            gpu.search_scratch_bytes::<T>(&self.job, &self.device_search(step, [256; 3], 0))
        };
        let (clouds, rows) = (self.clouds, self.rows[1]);
        let index_bytes =
            (gpu.index_bytes::<T>(clouds, rows), gpu.index_scratch_bytes::<T>(clouds, rows));
        let scratch = (search(&example), search(&Step { tree: 256, ..example }));
        let gradients = self.gradients::<T>(&example, [256; 2], [256; 2], 0);
        let backward_scratch = gpu.search_gradients_scratch_bytes(&gradients);
        (self.scratch, self.index_bytes) = (scratch, index_bytes);
        self.backward_scratch = backward_scratch;
    }

    fn enqueue<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &Step,
        answers: [u64; 3],
        scratch: u64,
    ) -> Result<(), Error> {
        let search = self.device_search::<T>(step, answers, scratch);
        // SAFETY: the arrays meet the plan's contract.
        unsafe { self.gpu.enqueue_search(&self.job, stream, &search) }
    }

    fn enqueue_count<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &Step,
        counts: u64,
        scratch: u64,
    ) -> Result<(), Error> {
        let search = DeviceSearch {
            narrow: false,
            ..self.device_search::<T>(step, [0, 0, counts], scratch)
        };
        // SAFETY: the arrays meet the plan's contract, the counts int64.
        unsafe { self.gpu.enqueue_search_counts(&self.job, stream, &search) }
    }

    fn enqueue_fill<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &Step,
        offsets: u64,
        answers: [u64; 3],
        scratch: u64,
    ) -> Result<(), Error> {
        let search = self.device_search::<T>(step, answers, scratch);
        // SAFETY: the arrays meet the plan's contract; answers have as many places as were counted.
        unsafe {
            self.gpu.enqueue_search_fill(&self.job, stream, &DeviceWithin { search, offsets })
        }
    }

    fn gradients<T: CudaScalar>(
        &self,
        step: &Step,
        [indices, grads]: [u64; 2],
        to: [u64; 2],
        scratch: u64,
    ) -> DeviceSearchGradients<T> {
        let [x, y] = self.sides(&Step { offsets: [0; 2], lengths: [0; 2], ..*step });
        DeviceSearchGradients {
            x,
            y,
            dims: self.dims,
            clouds: if self.ragged { 1 } else { self.clouds },
            k: self.job.k,
            offsets: None,
            indices,
            narrow: self.narrow,
            whole: false,
            norm: self.job.norm,
            grads,
            gradients: to.map(non_null),
            scratch: non_null(scratch).map(|scratch| (scratch, self.backward_scratch)),
            precision: PhantomData,
        }
    }

    fn enqueue_backward<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &Step,
        from: [u64; 2],
        to: [u64; 2],
        scratch: u64,
    ) -> Result<(), Error> {
        let gradients = self.gradients::<T>(step, from, to, scratch);
        // SAFETY: the arrays meet the plan's contract.
        unsafe { self.gpu.enqueue_search_gradients(stream, &gradients) }
    }

    fn enqueue_index<T: CudaScalar>(
        &self,
        stream: &Stream,
        step: &Step,
        scratch: u64,
    ) -> Result<(), Error> {
        let [_, of] = self.sides(step);
        let index = DeviceIndex::<T> {
            scratch: non_null(scratch).map(|scratch| (scratch, self.index_bytes.1)),
            ..DeviceIndex::new(of, self.clouds, self.dims)
        };
        // SAFETY: the arrays meet the plan's contract, the index of its size.
        unsafe { self.gpu.enqueue_index(stream, &index) }
    }
}
