//! Nearest points of clouds in device memory, and gradients of their distances. Python passes the addresses
//! and allocates the outputs.

use super::job;
use crate::device::{Input, non_null};
use crate::error::cuda as failed;
use farpoint::Matcher;
use farpoint_cuda::{CudaScalar, DeviceGradients, DevicePairs, DeviceSide, Gpu, Stream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::marker::PhantomData;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cuda_match, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_match_backward, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_match_scratch_bytes, module)?)
}

/// Addresses of distances and indices of either side; 0 for none.
#[derive(FromPyObject)]
struct MatchOutput {
    distances: [u64; 2],
    indices: [u64; 2],
    scratch: (u64, usize),
}

/// Addresses for either side: the indices found, the gradients of its distances (0 for both if it has none),
/// and the gradients of its coordinates, dense.
#[derive(FromPyObject)]
struct Gradients {
    indices: [u64; 2],
    grads: [u64; 2],
    gradients: [u64; 2],
    scratch: (u64, usize),
}

/// Both clouds of a batch of pairs.
struct Pair([Input; 2]);

impl Pair {
    /// Refuses clouds that are no pairs.
    fn new(x: Input, y: Input) -> PyResult<Self> {
        let pair = Self([x, y]);
        let [x, y] = &pair.0;
        if x.wide != y.wide || x.device != y.device || x.stream != y.stream {
            let text = "both clouds must have the same type, device and stream";
            return Err(PyTypeError::new_err(format!("{text} ({})", pair.about())));
        }
        if x.shape[0] != y.shape[0] || x.shape[2] != y.shape[2] {
            let text = "both must be batches (B, N, D) of the same B and D";
            return Err(PyValueError::new_err(format!("{text} ({})", pair.about())));
        }
        Ok(pair)
    }

    fn open(&self) -> Result<(Gpu, Stream), farpoint_cuda::Error> {
        self.0[0].open()
    }

    fn wide(&self) -> bool {
        self.0[0].wide
    }

    fn about(&self) -> String {
        format!("{} and {}", self.0[0].about(), self.0[1].about())
    }

    fn pairs<T: CudaScalar>(&self, distances: [u64; 2], indices: [u64; 2]) -> DevicePairs<T> {
        let side = |index: usize| {
            let input = &self.0[index];
            DeviceSide {
                points: input.points,
                strides: input.strides,
                rows: input.shape[1],
                offsets: non_null(input.offsets),
                lengths: non_null(input.lengths),
                distances: non_null(distances[index]),
                indices: non_null(indices[index]),
            }
        };
        let [pairs, _, dims] = self.0[0].shape;
        let sides = [side(0), side(1)];
        DevicePairs { sides, dims, pairs, scratch: None, precision: PhantomData }
    }
}

fn scratch((address, bytes): (u64, usize)) -> Option<(u64, usize)> {
    non_null(address).map(|address| (address, bytes))
}

/// Queues a search for nearest points. Nothing waits, nothing is copied to the host.
///
/// The Python half passes addresses of arrays that it keeps alive in stream order, sized as
/// [`DevicePairs`] says.
#[pyfunction]
fn cuda_match(py: Python<'_>, x: Input, y: Input, output: MatchOutput, norm: u8) -> PyResult<()> {
    let (pair, job) = (Pair::new(x, y)?, job(norm)?);
    let result = py.detach(|| match pair.wide() {
        false => search::<f32>(&job, &pair, &output),
        true => search::<f64>(&job, &pair, &output),
    });
    result.map_err(|error| failed(error, &pair.about()))
}

fn search<T: CudaScalar>(
    job: &Matcher,
    pair: &Pair,
    output: &MatchOutput,
) -> Result<(), farpoint_cuda::Error> {
    let (gpu, stream) = pair.open()?;
    let pairs = pair.pairs::<T>(output.distances, output.indices);
    let pairs = DevicePairs { scratch: scratch(output.scratch), ..pairs };
    // SAFETY: the Python half allocated what the pairs describe, with lengths held within the clouds,
    // and keeps it in stream order.
    unsafe { gpu.enqueue_nearest(job, &stream, &pairs) }
}

/// Queues the gradients of both clouds, by the indices that `cuda_match` has found.
#[pyfunction]
fn cuda_match_backward(
    py: Python<'_>,
    x: Input,
    y: Input,
    gradients: Gradients,
    norm: u8,
) -> PyResult<()> {
    let (pair, job) = (Pair::new(x, y)?, job(norm)?);
    let result = py.detach(|| match pair.wide() {
        false => backward::<f32>(&job, &pair, &gradients),
        true => backward::<f64>(&job, &pair, &gradients),
    });
    result.map_err(|error| failed(error, &pair.about()))
}

fn backward<T: CudaScalar>(
    job: &Matcher,
    pair: &Pair,
    record: &Gradients,
) -> Result<(), farpoint_cuda::Error> {
    let (gpu, stream) = pair.open()?;
    let gradients = DeviceGradients {
        pairs: pair.pairs::<T>([0; 2], record.indices),
        grads: record.grads.map(non_null),
        gradients: record.gradients.map(non_null),
        value: None,
        scratch: scratch(record.scratch),
    };
    // SAFETY: the Python half allocated what the gradients describe and keeps it in stream order; the
    // indices are those that `search` found for the same pairs, within their clouds.
    unsafe { gpu.enqueue_gradients(job, &stream, &gradients) }
}

/// Returns the bytes of scratch memory of a search, of `y`'s nearest points too with `both`; with
/// `backward` those of the gradients.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python's wrapper names them")]
fn cuda_match_scratch_bytes(
    py: Python<'_>,
    device: usize,
    wide: bool,
    pairs: usize,
    rows: [usize; 2],
    dims: usize,
    both: bool,
    norm: u8,
    backward: bool,
) -> PyResult<usize> {
    let job = job(norm)?;
    let y_distances = Some(256).filter(|_| both);
    py.detach(|| {
        let gpu = Gpu::new(device)?;
        Ok(match wide {
            false => {
                let sizes = DevicePairs::<f32>::padded([0; 2], pairs, rows, dims);
                bytes(&job, &gpu, &sizes.outputs([Some(256), y_distances], [None; 2]), backward)
            }
            true => {
                let sizes = DevicePairs::<f64>::padded([0; 2], pairs, rows, dims);
                bytes(&job, &gpu, &sizes.outputs([Some(256), y_distances], [None; 2]), backward)
            }
        })
    })
    .map_err(|error| failed(error, "scratch"))
}

fn bytes<T: CudaScalar>(job: &Matcher, gpu: &Gpu, sizes: &DevicePairs<T>, backward: bool) -> usize {
    match backward {
        false => gpu.nearest_scratch_bytes(job, sizes),
        true => gpu.gradients_scratch_bytes(sizes),
    }
}
