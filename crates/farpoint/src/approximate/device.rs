//! Devices that run approximate samplers.

use super::{ApproximateSample, ApproximateSampler, Centroids, run};
use crate::{Cpu, Error, Observer, On, Points, Scalar};

/// A device for approximate sampling of numbers of type `T`. Every device returns the same results.
///
/// Users call it through [`ApproximateSampler::on`].
pub trait ApproximateDevice<T: Scalar> {
    /// Error of this device.
    type Error: From<Error>;

    /// Samples one cloud in host memory.
    ///
    /// # Errors
    /// The errors of [`ApproximateSampler::check`] and [`ApproximateSampler::sample`], and failures of the device.
    fn sample_approximate<P: Points<T> + ?Sized>(
        &self,
        job: &ApproximateSampler,
        points: &P,
        observer: Option<Observer<'_>>,
    ) -> Result<ApproximateSample, Self::Error>;
}

impl<T: Scalar> ApproximateDevice<T> for Cpu {
    type Error = Error;

    fn sample_approximate<P: Points<T> + ?Sized>(
        &self,
        job: &ApproximateSampler,
        points: &P,
        observer: Option<Observer<'_>>,
    ) -> Result<ApproximateSample, Error> {
        run::sample(self, job, &points, observer)
    }
}

impl<D: ?Sized> On<'_, ApproximateSampler, D> {
    /// Samples one cloud.
    ///
    /// A method that chooses all at the end reports no samples to an observer until then, and one
    /// that takes samples back ([`FastPoint`](super::Method::FastPoint)) fewer than before. The
    /// covering radius is infinite while unknown; that of [`Npdu`](super::Method::Npdu) is the one
    /// its windows know.
    ///
    /// # Errors
    /// Same as [`ApproximateSampler::sample`], and failures of the device.
    pub fn sample<T: Scalar, P: Points<T> + ?Sized>(
        self,
        points: &P,
    ) -> Result<ApproximateSample, D::Error>
    where
        D: ApproximateDevice<T>,
    {
        self.device.sample_approximate(self.job, points, self.observer)
    }
}

impl On<'_, ApproximateSampler, Cpu> {
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
