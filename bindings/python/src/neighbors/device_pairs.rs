//! Pairs of clouds in device memory of known shapes: the data of plans.

use super::job;
use crate::device::non_null;
use crate::error::cuda as failed;
use farpoint::Matcher;
use farpoint_cuda::{CudaScalar, DevicePairs, Error, Gpu, Stream};
use pyo3::prelude::*;

/// Batches of one shape on one device.
pub(super) struct Plan {
    pub(super) gpu: Gpu,
    wide: bool,
    pub(super) pairs: usize,
    pub(super) rows: [usize; 2],
    dims: usize,
    strides: [[i64; 2]; 2],
    pub(super) job: Matcher,
    /// Set to search nearest points of `y`, too.
    pub(super) both: bool,
}

/// Pairs, rows of either side, coordinates; strides of a row and of an axis of either side.
pub(super) type PairLayout = ([usize; 4], [[i64; 2]; 2]);

/// Clouds, lengths and scratch memory of a step; 0 for none.
pub(super) struct Step {
    pub(super) stream: u64,
    pub(super) points: [u64; 2],
    pub(super) lengths: [u64; 2],
    pub(super) scratch: u64,
}

impl Step {
    /// A step for computing sizes.
    pub(super) const NOTHING: Self =
        Self { stream: 0, points: [0; 2], lengths: [0; 2], scratch: 0 };
}

impl Plan {
    pub(super) fn new(
        py: Python<'_>,
        device: usize,
        wide: bool,
        ([pairs, n, m, dims], strides): PairLayout,
        norm: u8,
        both: bool,
    ) -> PyResult<Self> {
        let job = job(norm)?;
        let gpu = py.detach(|| Gpu::new(device));
        let gpu = gpu.map_err(|error| failed(error, "a batch of pairs of clouds"))?;
        Ok(Self { gpu, wide, pairs, rows: [n, m], dims, strides, job, both })
    }

    /// Runs the function of the precision on the step's stream without the GIL.
    pub(super) fn queue(
        &self,
        py: Python<'_>,
        step: &Step,
        narrow: impl FnOnce(&Stream) -> Result<(), Error> + Send,
        wide: impl FnOnce(&Stream) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        // SAFETY: it is PyTorch's current stream of this device, which outlives the call.
        let stream = unsafe { Stream::borrowed(&self.gpu, step.stream) };
        let result = py.detach(|| if self.wide { wide(&stream) } else { narrow(&stream) });
        result.map_err(|error| failed(error, &self.about()))
    }

    /// Runs the function of the precision.
    pub(super) fn sized<R: Send>(
        &self,
        py: Python<'_>,
        narrow: impl FnOnce() -> R + Send,
        wide: impl FnOnce() -> R + Send,
    ) -> R {
        py.detach(|| if self.wide { wide() } else { narrow() })
    }

    fn about(&self) -> String {
        let Self { pairs, rows: [n, m], dims, .. } = self;
        let precision = if self.wide { "float64" } else { "float32" };
        let device = self.gpu.ordinal();
        format!(
            "points of shape ({pairs}, {n}, {dims}) and ({pairs}, {m}, {dims}), {precision}, cuda:{device}"
        )
    }

    /// Returns the pairs, with addresses for distances and indices of either side; 0 for none.
    pub(super) fn at<T: CudaScalar>(
        &self,
        step: &Step,
        distances: [u64; 2],
        indices: [u64; 2],
    ) -> DevicePairs<T> {
        let mut pairs = DevicePairs::padded(step.points, self.pairs, self.rows, self.dims)
            .outputs(distances.map(non_null), indices.map(non_null))
            .lengths(step.lengths.map(non_null));
        for (side, strides) in pairs.sides.iter_mut().zip(self.strides) {
            side.strides = strides;
        }
        pairs
    }
}

/// Returns scratch memory of `bytes`, if there is any.
pub(super) fn scratch(step: &Step, bytes: usize) -> Option<(u64, usize)> {
    non_null(step.scratch).map(|address| (address, bytes))
}
