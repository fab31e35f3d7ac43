//! Approximate sampling on a device: the CPU.

use super::{ApproximateSample, ApproximateSampler, Centroids, run};
use crate::{Cpu, Error, On, Points, Scalar};

impl On<'_, ApproximateSampler, Cpu> {
    /// Samples one cloud. No samples are reported to an observer before all are chosen by a grid.
    ///
    /// # Errors
    /// Same as [`ApproximateSampler::sample`].
    pub fn sample<T: Scalar, P: Points<T> + ?Sized>(
        self,
        points: &P,
    ) -> Result<ApproximateSample, Error> {
        run::sample(self.device, self.job, &points, self.observer)
    }

    /// Returns centroids of occupied cells in place of points of the cloud, as in PCL and KPConv:
    /// [`Grid`](super::Method::Grid) only, whose `keep` is not used. A count is an upper bound: the number of
    /// centroids is the largest that bisection on the cell size finds.
    ///
    /// # Errors
    /// Same as [`ApproximateSampler::sample`].
    pub fn centroids<T: Scalar, P: Points<T> + ?Sized>(
        self,
        points: &P,
    ) -> Result<Centroids<T>, Error> {
        run::centroids(self.device, self.job, &points, self.observer)
    }
}
