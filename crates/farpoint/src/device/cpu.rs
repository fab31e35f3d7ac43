//! The CPU as a device.

use super::Device;
use crate::neighbors::run::{BothWays, OneWay};
use crate::neighbors::several::run::{All, Best};
use crate::neighbors::start;
use crate::{
    Chamfer, Cpu, Error, Gradients, Matcher, Nearest, Neighbors, Observer, Points, Sample, Sampler,
    Scalar, Searcher, WithinBall, fps, neighbors,
};

/// Searches of one pair of clouds, and of many.
macro_rules! pairs {
    ($($one:ident, $many:ident: $job:ident as $ask:ident -> $found:ident;)*) => { $(
        fn $one<X: Points<T> + ?Sized, Y: Points<T> + ?Sized>(
            &self,
            job: &$job,
            x: &X,
            y: &Y,
            observer: Option<Observer<'_>>,
        ) -> Result<$found<T>, Error> {
            start::one(self, $ask(job), x, y, observer)
        }

        fn $many<X: Points<T>, Y: Points<T>>(
            &self,
            job: &$job,
            x: &[X],
            y: &[Y],
            observer: Option<Observer<'_>>,
        ) -> Result<Vec<$found<T>>, Error> {
            start::many(self, $ask(job), x, y, observer)
        }
    )* };
}

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

    pairs! {
        nearest, nearest_batch: Matcher as OneWay -> Nearest;
        chamfer, chamfer_batch: Matcher as BothWays -> Chamfer;
        search, search_batch: Searcher as Best -> Neighbors;
        within, within_batch: Searcher as All -> WithinBall;
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
}
