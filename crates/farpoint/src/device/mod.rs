//! Devices that run jobs, and jobs bound to one.

mod cpu;
mod indexed;
mod matching;
mod on;
mod pairs;
mod sampling;
mod searching;

pub use matching::{chamfer, nearest};
pub use on::On;
pub use sampling::reference;

use crate::{
    Chamfer, Error, Gradients, Matcher, Nearest, Neighbors, Observer, Points, Sample, Sampler,
    Scalar, Searcher, WithinBall,
};

/// A device that runs jobs on numbers of type `T`. Every device returns the same results, bit for bit.
///
/// Users call these methods through [`Sampler::on`], [`Matcher::on`] and [`Searcher::on`]. An observer, if there
/// is one, is called now and then and can cancel the run; the device decides how often.
pub trait Device<T: Scalar> {
    /// Error of this device.
    type Error: From<Error>;

    /// Samples one cloud in host memory.
    ///
    /// # Errors
    /// The errors of [`Sampler::sample`], and failures of the device.
    fn sample<P: Points<T> + ?Sized>(
        &self,
        job: &Sampler,
        points: &P,
        observer: Option<Observer<'_>>,
    ) -> Result<Sample<T>, Self::Error>;

    /// Samples one cloud in host memory, in place of an earlier sample, whose memory is used again if the device can.
    ///
    /// # Errors
    /// Same as [`Device::sample`]; the sample is then without points, or unchanged.
    fn sample_into<P: Points<T> + ?Sized>(
        &self,
        job: &Sampler,
        points: &P,
        observer: Option<Observer<'_>>,
        sample: &mut Sample<T>,
    ) -> Result<(), Self::Error> {
        *sample = self.sample(job, points, observer)?;
        Ok(())
    }

    /// Samples many clouds: by one job, or by one each. Results do not depend on the batch.
    ///
    /// # Errors
    /// Same as [`Device::sample`], naming the first cloud at fault.
    fn sample_batch<P: Points<T>>(
        &self,
        jobs: &[Sampler],
        clouds: &[P],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Sample<T>>, Self::Error>;

    /// Finds the nearest point in `b` of each point of `a`.
    ///
    /// # Errors
    /// The errors of [`Matcher::nearest`], and failures of the device.
    fn nearest<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
        &self,
        job: &Matcher,
        a: &A,
        b: &B,
        observer: Option<Observer<'_>>,
    ) -> Result<Nearest<T>, Self::Error>;

    /// Finds the nearest points in both directions.
    ///
    /// # Errors
    /// Same as [`Device::nearest`].
    fn chamfer<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
        &self,
        job: &Matcher,
        a: &A,
        b: &B,
        observer: Option<Observer<'_>>,
    ) -> Result<Chamfer<T>, Self::Error>;

    /// [`Device::nearest`] for many pairs of clouds.
    ///
    /// # Errors
    /// Same as [`Device::nearest`], naming the first pair at fault.
    fn nearest_batch<A: Points<T>, B: Points<T>>(
        &self,
        job: &Matcher,
        a: &[A],
        b: &[B],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Nearest<T>>, Self::Error>;

    /// [`Device::chamfer`] for many pairs of clouds.
    ///
    /// # Errors
    /// Same as [`Device::nearest`], naming the first pair at fault.
    fn chamfer_batch<A: Points<T>, B: Points<T>>(
        &self,
        job: &Matcher,
        a: &[A],
        b: &[B],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Chamfer<T>>, Self::Error>;

    /// Computes the gradients of both clouds from those of the distances: see [`crate::neighbors::backward()`].
    ///
    /// # Errors
    /// If clouds, result and gradients do not fit each other, and failures of the device.
    fn backward<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
        &self,
        chamfer: &Chamfer<T>,
        a: &A,
        b: &B,
        gradients: [&[T]; 2],
    ) -> Result<Gradients<T>, Self::Error>;

    /// Finds several neighbors in `y` of each point of `x`.
    ///
    /// # Errors
    /// The errors of [`Searcher::search`], and failures of the device.
    fn search<X: Points<T> + ?Sized, Y: Points<T> + ?Sized>(
        &self,
        job: &Searcher,
        x: &X,
        y: &Y,
        observer: Option<Observer<'_>>,
    ) -> Result<Neighbors<T>, Self::Error>;

    /// [`Device::search`] for many pairs of clouds.
    ///
    /// # Errors
    /// Same as [`Device::search`], naming the first pair at fault.
    fn search_batch<X: Points<T>, Y: Points<T>>(
        &self,
        job: &Searcher,
        x: &[X],
        y: &[Y],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Neighbors<T>>, Self::Error>;

    /// Finds all neighbors in the ball of each point of `x`.
    ///
    /// # Errors
    /// The errors of [`Searcher::within`], and failures of the device.
    fn within<X: Points<T> + ?Sized, Y: Points<T> + ?Sized>(
        &self,
        job: &Searcher,
        x: &X,
        y: &Y,
        observer: Option<Observer<'_>>,
    ) -> Result<WithinBall<T>, Self::Error>;

    /// [`Device::within`] for many pairs of clouds.
    ///
    /// # Errors
    /// Same as [`Device::within`], naming the first pair at fault.
    fn within_batch<X: Points<T>, Y: Points<T>>(
        &self,
        job: &Searcher,
        x: &[X],
        y: &[Y],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<WithinBall<T>>, Self::Error>;
}
