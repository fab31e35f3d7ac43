//! The CPU as a device.

use super::Device;
use crate::neighbors::knn::run as knn;
use crate::neighbors::run;
use crate::points::erased;
use crate::{
    Chamfer, Cpu, Error, Gradients, Matcher, Nearest, Neighbors, Observer, Points, Sample, Sampler,
    Scalar, Searcher, WithinBall, fps, neighbors,
};
use std::mem;

/// Implements the searches of one pair of clouds and of many.
macro_rules! pairs {
    ($($module:ident: $job:ident -> $found:ident as $one:ident, $many:ident;)*) => { $(
        fn $one<X: Points<T> + ?Sized, Y: Points<T> + ?Sized>(
            &self,
            job: &$job,
            x: &X,
            y: &Y,
            observer: Option<Observer<'_>>,
        ) -> Result<$found<T>, Error> {
            $module::$one(self, job, &x, &y, observer)
        }

        fn $many<X: Points<T>, Y: Points<T>>(
            &self,
            job: &$job,
            x: &[X],
            y: &[Y],
            observer: Option<Observer<'_>>,
        ) -> Result<Vec<$found<T>>, Error> {
            $module::$many(self, job, &erased(x), &erased(y), observer)
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
        fps::run::sample(self, job, &points, observer, Default::default())
    }

    fn sample_into<P: Points<T> + ?Sized>(
        &self,
        job: &Sampler,
        points: &P,
        observer: Option<Observer<'_>>,
        sample: &mut Sample<T>,
    ) -> Result<(), Error> {
        let arrays = (mem::take(&mut sample.indices), mem::take(&mut sample.squared_distances));
        *sample = fps::run::sample(self, job, &points, observer, arrays)?;
        Ok(())
    }

    fn sample_batch<P: Points<T>>(
        &self,
        jobs: &[Sampler],
        clouds: &[P],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Sample<T>>, Error> {
        fps::batch::sample(self, jobs, &erased(clouds), observer)
    }

    pairs! {
        run: Matcher -> Nearest as nearest, nearest_batch;
        run: Matcher -> Chamfer as chamfer, chamfer_batch;
        knn: Searcher -> Neighbors as search, search_batch;
        knn: Searcher -> WithinBall as within, within_batch;
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
