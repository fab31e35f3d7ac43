//! A checked job for a backend outside this crate: the copied cloud and the request.
//! `farpoint-cuda` starts from here, so that its errors are those of the CPU, in the same words.

use super::batch;
use super::run::SMALL;
use super::selection::Request;
use crate::cloud::WorkingCopy;
use crate::points::erased;
use crate::scalar::compiled_once;
use crate::threads::{self, on_threads};
use crate::unwind::caught;
use crate::{Error, Points, Sampler, Scalar};

/// A cloud without its non-finite rows, and the request that was checked against it.
pub struct Prepared<T> {
    cloud: WorkingCopy<T>,
    request: Request,
    input_rows: usize,
    dims: usize,
}

compiled_once! {
    fn prepare<'a, T: Scalar>(
        sampler: &'a Sampler,
        points: &'a dyn Points<T>,
    ) -> Result<Prepared<T>, Error> {
        let threads = threads::count_for(points.len() >= SMALL, None)?;
        caught(|| on_threads(threads, || Prepared::with_threads(threads, sampler, points)))
    }
}

compiled_once! {
    fn prepare_each<'a, T: Scalar>(
        jobs: &'a [Sampler],
        clouds: &'a [&'a dyn Points<T>],
    ) -> Result<Vec<Prepared<T>>, Error> {
        caught(|| batch::each(None, jobs, clouds, Prepared::with_threads))
    }
}

impl<T: Scalar> Prepared<T> {
    /// Copies and checks one cloud, as [`Sampler::sample`] does.
    ///
    /// # Errors
    /// Same as [`Sampler::sample`].
    pub fn new<P: Points<T> + ?Sized>(sampler: &Sampler, points: &P) -> Result<Self, Error> {
        prepare(sampler, &points)
    }

    /// Copies and checks each cloud of a batch, by one job or by one each; the error names the first
    /// cloud at fault.
    ///
    /// # Errors
    /// Same as [`Sampler::sample_batch`].
    pub fn batch<P: Points<T>>(jobs: &[Sampler], clouds: &[P]) -> Result<Vec<Self>, Error> {
        prepare_each(jobs, &erased(clouds))
    }

    fn with_threads(
        threads: usize,
        sampler: &Sampler,
        points: &dyn Points<T>,
    ) -> Result<Self, Error> {
        let cloud = WorkingCopy::new(points, sampler.non_finite, threads)?;
        let request = Request::new(&cloud, points.len(), sampler.amount, &sampler.start)?;
        Ok(Self { cloud, request, input_rows: points.len(), dims: points.dim() })
    }

    /// Returns the number of remaining points.
    pub fn points(&self) -> usize {
        self.cloud.len
    }

    /// Returns the number of rows left out.
    pub fn dropped(&self) -> usize {
        self.input_rows - self.cloud.len
    }

    /// Returns the number of coordinates of a point.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Returns all points' coordinates on one axis.
    pub fn axis(&self, axis: usize) -> &[T] {
        &self.cloud.axes[axis][..self.cloud.len]
    }

    /// Returns the input row of a point.
    pub fn row(&self, point: usize) -> usize {
        self.cloud.row(point as u32)
    }

    /// Returns the maximum number of samples.
    pub fn max_samples(&self) -> usize {
        self.request.limit
    }

    /// Returns the covering radius to stop at.
    pub fn stop_radius(&self) -> Option<f64> {
        self.request.stop_radius
    }

    /// Returns the start points; none if no samples are requested.
    pub fn starts(&self) -> &[u32] {
        &self.request.starts
    }
}
