//! Approximate sampling of clouds in device memory.

use super::fastpoint;
use super::plan::{self, Work};
use crate::fps::DeviceBatch;
use crate::fps::batch::Shape;
use crate::fps::pointers;
use crate::search::DeviceClouds;
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::approximate::Method;
use farpoint::{ApproximateSampler, DeviceKind, Sampler, Start};

/// Clouds in device memory to be sampled by an [`ApproximateSampler`], with the addresses of their samples.
///
/// # Safety
/// As for [`DeviceBatch`]; an index must be one that [`Gpu::enqueue_index`] has built over the same clouds on the same
/// GPU, or builds before this work on its stream.
#[derive(Debug, Clone, Copy)]
pub struct DeviceApproximate<T> {
    /// Clouds and results. Distances of samples are not computed, but their memory may be overwritten; scratch memory
    /// is at least [`Gpu::approximate_scratch_bytes`].
    pub batch: DeviceBatch<T>,
    /// Address and size of an index over the clouds, which saves the time to build one. It may serve searches, too
    /// ([`DeviceClouds::index`](crate::DeviceClouds::index)).
    pub index: Option<(u64, usize)>,
}

impl<T> DeviceApproximate<T> {
    fn clouds(&self) -> DeviceClouds {
        DeviceClouds {
            points: self.batch.points,
            strides: self.batch.strides,
            rows: self.batch.rows,
            offsets: self.batch.offsets,
            lengths: self.batch.lengths,
            index: self.index,
        }
    }
}

/// Approximate sampling of clouds in device memory.
impl Gpu {
    /// Queues the sampling of clouds in device memory without synchronizing, as [`Gpu::enqueue_sample`] does; see
    /// [`DeviceApproximate`]. Graphs can capture it after a first call.
    ///
    /// # Errors
    /// If the job, sizes or addresses are wrong as far as the host can tell, if GPUs do not support the method, and
    /// if the driver refuses a call.
    ///
    /// # Safety
    /// See [`DeviceApproximate`].
    pub unsafe fn enqueue_approximate<T: CudaScalar>(
        &self,
        job: &ApproximateSampler,
        stream: &Stream,
        request: &DeviceApproximate<T>,
    ) -> Result<(), Error> {
        stream.check_gpu(self)?;
        job.check(DeviceKind::Gpu)?;
        let batch = &request.batch;
        let shape = pointers::check(&exact(job), batch)?;
        if shape.clouds == 0 {
            return Ok(());
        }
        let starts = batch.starts.map_or(1, |(_, starts)| starts);
        let Some(work) = work(job, shape, starts, request.index.is_some())? else { return Ok(()) };
        let clouds = request.clouds();
        clouds.check_index::<T>(shape.clouds)?;
        let view = batch.input(shape);
        // SAFETY: what is in device memory is as `DeviceApproximate` requires, by this function's contract; what the
        // host knows was checked.
        unsafe { fastpoint::enqueue(stream, &view, &work, batch.scratch, &clouds) }
    }

    /// Returns the bytes of device memory that [`Gpu::enqueue_approximate`] uses besides input, index and result, for
    /// this many clouds of at most `rows` rows of `dims` coordinates and `samples` samples each, with an index or
    /// without one; 0 if the GPU can't run the method.
    pub fn approximate_scratch_bytes<T: CudaScalar>(
        &self,
        job: &ApproximateSampler,
        [clouds, rows, dims]: [usize; 3],
        samples: usize,
        has_index: bool,
    ) -> usize {
        let shape = Shape { clouds, rows, dims, samples };
        match work(job, shape, 1, has_index) {
            Ok(Some(work)) if job.check(DeviceKind::Gpu).is_ok() => {
                plan::scratch_bytes::<T>(self, &work)
            }
            _ => 0,
        }
    }
}

/// Returns the exact job that is checked in its place.
pub(super) fn exact(job: &ApproximateSampler) -> Sampler {
    let start = job.start.clone().unwrap_or(Start::First);
    Sampler::new(job.amount).start(start).non_finite(job.non_finite)
}

/// Returns a job on a GPU, if GPUs support its method.
pub(super) fn work(
    job: &ApproximateSampler,
    shape: Shape,
    starts: usize,
    has_index: bool,
) -> Result<Option<Work>, Error> {
    let Method::FastPoint { first, estimator } = job.method else { return Ok(None) };
    let first = plan::first_stage(first)?;
    Ok(Some(Work { first, estimator, shape, starts, has_index }))
}
