//! The CPU as a device.

use super::Device;
use crate::watch::Watch;
use crate::{
    Chamfer, Cpu, Error, Gradients, Matcher, Nearest, Neighbors, Observer, Points, Sample, Sampler,
    Scalar, Searcher, WithinBall, fps, neighbors,
};

impl<T: Scalar> Device<T> for Cpu {
    type Error = Error;

    fn sample<P: Points<T> + ?Sized>(
        &self,
        job: &Sampler,
        points: &P,
        observer: Option<Observer<'_>>,
    ) -> Result<Sample<T>, Error> {
        fps::run::sample(self, job, points, observer)
    }

    fn sample_batch<P: Points<T>>(
        &self,
        jobs: &[Sampler],
        clouds: &[P],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Sample<T>>, Error> {
        fps::batch::sample(self, jobs, clouds, observer)
    }

    fn nearest<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
        &self,
        job: &Matcher,
        a: &A,
        b: &B,
        observer: Option<Observer<'_>>,
    ) -> Result<Nearest<T>, Error> {
        let watch = Watch::new(observer, a.len());
        neighbors::run::nearest(self, job, a, b, &watch)
    }

    fn chamfer<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
        &self,
        job: &Matcher,
        a: &A,
        b: &B,
        observer: Option<Observer<'_>>,
    ) -> Result<Chamfer<T>, Error> {
        let watch = Watch::new(observer, a.len().saturating_add(b.len()));
        neighbors::run::chamfer(self, job, a, b, &watch)
    }

    fn nearest_batch<A: Points<T>, B: Points<T>>(
        &self,
        job: &Matcher,
        a: &[A],
        b: &[B],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Nearest<T>>, Error> {
        neighbors::batch::nearest(self, job, a, b, observer)
    }

    fn chamfer_batch<A: Points<T>, B: Points<T>>(
        &self,
        job: &Matcher,
        a: &[A],
        b: &[B],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Chamfer<T>>, Error> {
        neighbors::batch::chamfer(self, job, a, b, observer)
    }

    fn backward<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
        &self,
        chamfer: &Chamfer<T>,
        a: &A,
        b: &B,
        gradients: [&[T]; 2],
    ) -> Result<Gradients<T>, Error> {
        neighbors::backward::run(self.threads, chamfer, a, b, gradients)
    }

    fn search<X: Points<T> + ?Sized, Y: Points<T> + ?Sized>(
        &self,
        job: &Searcher,
        x: &X,
        y: &Y,
        observer: Option<Observer<'_>>,
    ) -> Result<Neighbors<T>, Error> {
        let watch = Watch::new(observer, x.len());
        neighbors::several::run::search(self, job, x, y, &watch)
    }

    fn search_batch<X: Points<T>, Y: Points<T>>(
        &self,
        job: &Searcher,
        x: &[X],
        y: &[Y],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Neighbors<T>>, Error> {
        neighbors::batch::search(self, job, x, y, observer)
    }

    fn within<X: Points<T> + ?Sized, Y: Points<T> + ?Sized>(
        &self,
        job: &Searcher,
        x: &X,
        y: &Y,
        observer: Option<Observer<'_>>,
    ) -> Result<WithinBall<T>, Error> {
        let watch = Watch::new(observer, x.len().saturating_mul(2));
        neighbors::several::run::within(self, job, x, y, &watch)
    }

    fn within_batch<X: Points<T>, Y: Points<T>>(
        &self,
        job: &Searcher,
        x: &[X],
        y: &[Y],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<WithinBall<T>>, Error> {
        neighbors::batch::within(self, job, x, y, observer)
    }
}
