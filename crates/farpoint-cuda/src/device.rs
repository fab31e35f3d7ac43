//! GPUs as devices of [`farpoint`]: jobs on clouds in host memory.

use crate::{CudaScalar, Error, Gpu, Gpus, Placement, fps, neighbors, search, voxels};
use farpoint::backend::{caught, erased};
use farpoint::compiled_once;
use farpoint::{
    Chamfer, Device, Gradients, Matcher, Nearest, Neighbors, Observer, Points, Sample, Sampler,
    Searcher, VoxelDevice, VoxelGrid, Voxels, WithinBall,
};
use std::slice;

impl Gpu {
    fn as_slice(&self) -> &[Self] {
        slice::from_ref(self)
    }

    /// A cloud on a single GPU is not shared.
    fn min_shared_rows(&self) -> usize {
        usize::MAX
    }
}

impl Gpus {
    /// Returns the memory that sampling this cloud would take now, if it is shared by several GPUs or does not fit
    /// the first; `None` for any other.
    ///
    /// # Errors
    /// If the job is wrong, or neither the GPUs nor the host have room for the cloud.
    pub fn placement<T: CudaScalar, P: Points<T> + ?Sized>(
        &self,
        job: &Sampler,
        cloud: &P,
    ) -> Result<Option<Placement>, Error> {
        fps::run::placement(self.as_slice(), self.min_shared_rows(), job, &cloud)
    }
}

compiled_once! {
    fn sample_one<'a, 'b, T: CudaScalar>(
        gpus: &'a [Gpu],
        min_shared_rows: usize,
        job: &'a Sampler,
        points: &'a dyn Points<T>,
        observer: Option<Observer<'b>>,
    ) -> Result<Sample<T>, Error> {
        caught(|| Ok(fps::run::one(gpus, min_shared_rows, job, points, observer)))?
    }
}

compiled_once! {
    fn sample_many<'a, 'b, T: CudaScalar>(
        gpus: &'a [Gpu],
        jobs: &'a [Sampler],
        clouds: &'a [&'a dyn Points<T>],
        observer: Option<Observer<'b>>,
    ) -> Result<Vec<Sample<T>>, Error> {
        caught(|| Ok(fps::run::many(gpus, jobs, clouds, observer)))?
    }
}

compiled_once! {
    fn gradients_of<'a, T: CudaScalar>(
        gpu: &'a Gpu,
        chamfer: &'a Chamfer<T>,
        a: &'a dyn Points<T>,
        b: &'a dyn Points<T>,
        gradients: [&'a [T]; 2],
    ) -> Result<Gradients<T>, Error> {
        caught(|| Ok(neighbors::run::backward(gpu, chamfer, a, b, gradients)))?
    }
}

compiled_once! {
    fn voxels_of_one<'a, 'b, T: CudaScalar>(
        gpu: &'a Gpu,
        job: &'a VoxelGrid,
        points: &'a dyn Points<T>,
        observer: Option<Observer<'b>>,
    ) -> Result<Voxels<T>, Error> {
        caught(|| Ok(voxels::host::downsample(gpu, job, points, observer)))?
    }
}

compiled_once! {
    fn voxels_of_many<'a, 'b, T: CudaScalar>(
        gpus: &'a [Gpu],
        job: &'a VoxelGrid,
        clouds: &'a [&'a dyn Points<T>],
        observer: Option<Observer<'b>>,
    ) -> Result<Vec<Voxels<T>>, Error> {
        caught(|| Ok(voxels::host::downsample_batch(gpus, job, clouds, observer)))?
    }
}

/// Searches of one pair of clouds, and of many.
macro_rules! pairs {
    ($($one:ident, $many:ident: $job:ident -> $found:ident by $module:ident::$run:ident;)*) => { $(
        fn $one<X: Points<T> + ?Sized, Y: Points<T> + ?Sized>(
            &self,
            job: &$job,
            x: &X,
            y: &Y,
            observer: Option<Observer<'_>>,
        ) -> Result<$found<T>, Error> {
            compiled_once! {
                fn run<'a, 'b, T: CudaScalar>(
                    gpu: &'a Gpu,
                    job: &'a $job,
                    x: &'a dyn Points<T>,
                    y: &'a dyn Points<T>,
                    observer: Option<Observer<'b>>,
                ) -> Result<$found<T>, Error> {
                    caught(|| Ok($module::$run::$one(gpu, job, x, y, observer)))?
                }
            }
            run(&self.as_slice()[0], job, &x, &y, observer)
        }

        fn $many<X: Points<T>, Y: Points<T>>(
            &self,
            job: &$job,
            x: &[X],
            y: &[Y],
            observer: Option<Observer<'_>>,
        ) -> Result<Vec<$found<T>>, Error> {
            compiled_once! {
                fn run<'a, 'b, T: CudaScalar>(
                    gpus: &'a [Gpu],
                    job: &'a $job,
                    x: &'a [&'a dyn Points<T>],
                    y: &'a [&'a dyn Points<T>],
                    observer: Option<Observer<'b>>,
                ) -> Result<Vec<$found<T>>, Error> {
                    caught(|| Ok($module::$run::$many(gpus, job, x, y, observer)))?
                }
            }
            run(self.as_slice(), job, &erased(x), &erased(y), observer)
        }
    )* };
}

/// Implements the traits for one GPU and several: a single job runs on the first one.
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
                sample_one(self.as_slice(), self.min_shared_rows(), job, &points, observer)
            }

            fn sample_batch<P: Points<T>>(
                &self,
                jobs: &[Sampler],
                clouds: &[P],
                observer: Option<Observer<'_>>,
            ) -> Result<Vec<Sample<T>>, Error> {
                sample_many(self.as_slice(), jobs, &erased(clouds), observer)
            }

            pairs! {
                nearest, nearest_batch: Matcher -> Nearest by neighbors::run;
                chamfer, chamfer_batch: Matcher -> Chamfer by neighbors::run;
                search, search_batch: Searcher -> Neighbors by search::run;
                within, within_batch: Searcher -> WithinBall by search::run;
            }

            fn backward<A: Points<T> + ?Sized, B: Points<T> + ?Sized>(
                &self,
                chamfer: &Chamfer<T>,
                a: &A,
                b: &B,
                gradients: [&[T]; 2],
            ) -> Result<Gradients<T>, Error> {
                gradients_of(&self.as_slice()[0], chamfer, &a, &b, gradients)
            }
        }

        impl<T: CudaScalar> VoxelDevice<T> for $device {
            type Error = Error;

            fn downsample<P: Points<T> + ?Sized>(
                &self,
                job: &VoxelGrid,
                points: &P,
                observer: Option<Observer<'_>>,
            ) -> Result<Voxels<T>, Error> {
                voxels_of_one(&self.as_slice()[0], job, &points, observer)
            }

            fn downsample_batch<P: Points<T>>(
                &self,
                job: &VoxelGrid,
                clouds: &[P],
                observer: Option<Observer<'_>>,
            ) -> Result<Vec<Voxels<T>>, Error> {
                voxels_of_many(self.as_slice(), job, &erased(clouds), observer)
            }
        }
    };
}

device! {
    /// An observer is called before each launch and when its kernels are done, and in between only by
    /// [`farpoint::Algorithm::Radius`], every few hundred samples; a batch is usually one launch. A canceled run ends
    /// at the next of these calls: a kernel that has started runs to its end, which takes milliseconds up to a few
    /// million points. The covering radius that is reported is infinite.
    Gpu
}

device! {
    /// Observers are called as on one [`Gpu`], by all devices in turn; canceling ends the run on all of
    /// them.
    Gpus
}
