//! GPUs as devices of [`farpoint`]: jobs on clouds in host memory.

use crate::{CudaScalar, Error, Gpu, Gpus, fps, neighbors, search};
use farpoint::{
    Chamfer, Device, Gradients, Matcher, Nearest, Neighbors, Observer, Points, Sample, Sampler,
    Searcher, WithinBall,
};
use std::slice;

impl Gpu {
    fn as_slice(&self) -> &[Self] {
        slice::from_ref(self)
    }
}

/// The same for one GPU and several: a single job is the first one's.
macro_rules! device {
    ($(#[$about:meta])* $device:ty) => {
        $(#[$about])*
        impl<T: CudaScalar> Device<T> for $device {
            type Error = Error;

            fn sample<P: Points<T> + ?Sized>(
                &self,
                job: &Sampler,
                points: &P,
                observer: Option<Observer<'_>>,
            ) -> Result<Sample<T>, Error> {
                fps::run::one(&self.as_slice()[0], job, points, observer)
            }

            fn sample_batch<P: Points<T>>(
                &self,
                jobs: &[Sampler],
                clouds: &[P],
                observer: Option<Observer<'_>>,
            ) -> Result<Vec<Sample<T>>, Error> {
                fps::run::many(self.as_slice(), jobs, clouds, observer)
            }

            fn nearest<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
                &self,
                job: &Matcher,
                a: &A,
                b: &B,
                observer: Option<Observer<'_>>,
            ) -> Result<Nearest<T>, Error> {
                neighbors::run::nearest(&self.as_slice()[0], job, a, b, observer)
            }

            fn chamfer<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
                &self,
                job: &Matcher,
                a: &A,
                b: &B,
                observer: Option<Observer<'_>>,
            ) -> Result<Chamfer<T>, Error> {
                let (chamfer, _) =
                    neighbors::run::chamfer(&self.as_slice()[0], job, a, b, observer)?;
                Ok(chamfer)
            }

            fn nearest_batch<A: Points<T>, B: Points<T>>(
                &self,
                job: &Matcher,
                a: &[A],
                b: &[B],
                observer: Option<Observer<'_>>,
            ) -> Result<Vec<Nearest<T>>, Error> {
                neighbors::run::nearest_batch(self.as_slice(), job, a, b, observer)
            }

            fn chamfer_batch<A: Points<T>, B: Points<T>>(
                &self,
                job: &Matcher,
                a: &[A],
                b: &[B],
                observer: Option<Observer<'_>>,
            ) -> Result<Vec<Chamfer<T>>, Error> {
                neighbors::run::chamfer_batch(self.as_slice(), job, a, b, observer)
            }

            fn backward<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
                &self,
                chamfer: &Chamfer<T>,
                a: &A,
                b: &B,
                gradients: [&[T]; 2],
            ) -> Result<Gradients<T>, Error> {
                neighbors::run::backward(&self.as_slice()[0], chamfer, a, b, gradients)
            }

            fn search<X: Points<T> + ?Sized, Y: Points<T> + ?Sized>(
                &self,
                job: &Searcher,
                x: &X,
                y: &Y,
                observer: Option<Observer<'_>>,
            ) -> Result<Neighbors<T>, Error> {
                search::run::search(&self.as_slice()[0], job, x, y, observer)
            }

            fn search_batch<X: Points<T>, Y: Points<T>>(
                &self,
                job: &Searcher,
                x: &[X],
                y: &[Y],
                observer: Option<Observer<'_>>,
            ) -> Result<Vec<Neighbors<T>>, Error> {
                search::run::search_batch(self.as_slice(), job, x, y, observer)
            }

            fn within<X: Points<T> + ?Sized, Y: Points<T> + ?Sized>(
                &self,
                job: &Searcher,
                x: &X,
                y: &Y,
                observer: Option<Observer<'_>>,
            ) -> Result<WithinBall<T>, Error> {
                search::run::within(&self.as_slice()[0], job, x, y, observer)
            }

            fn within_batch<X: Points<T>, Y: Points<T>>(
                &self,
                job: &Searcher,
                x: &[X],
                y: &[Y],
                observer: Option<Observer<'_>>,
            ) -> Result<Vec<WithinBall<T>>, Error> {
                search::run::within_batch(self.as_slice(), job, x, y, observer)
            }
        }
    };
}

device! {
    /// An observer is called before each launch and when its kernels are done, and in between only by
    /// [`farpoint::Algorithm::Radius`], every few hundred samples; a batch is usually one launch. A
    /// run that is canceled ends at the next of these calls: a kernel that has started runs to its
    /// end, which takes milliseconds up to a few million points. The covering radius that is reported is
    /// infinite.
    Gpu
}

device! {
    /// Observers are called as on one [`Gpu`], by all devices in turn; what is canceled ends on all of
    /// them.
    Gpus
}
