//! Devices that find voxels.

use super::run;
use crate::points::erased;
use crate::{Cpu, Error, Observer, On, Points, Scalar, VoxelGrid, Voxels};

/// A device for voxel downsampling of numbers of type `T`. Every device returns the same results.
///
/// Users call it through [`VoxelGrid::on`].
pub trait VoxelDevice<T: Scalar> {
    /// Error of this device.
    type Error: From<Error>;

    /// Finds the voxels of one cloud in host memory.
    ///
    /// # Errors
    /// The errors of [`VoxelGrid::downsample`], and failures of the device.
    fn downsample<P: Points<T> + ?Sized>(
        &self,
        job: &VoxelGrid,
        points: &P,
        observer: Option<Observer<'_>>,
    ) -> Result<Voxels<T>, Self::Error>;

    /// [`VoxelDevice::downsample`] for many clouds.
    ///
    /// # Errors
    /// As [`VoxelDevice::downsample`], naming the first cloud at fault.
    fn downsample_batch<P: Points<T>>(
        &self,
        job: &VoxelGrid,
        clouds: &[P],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Voxels<T>>, Self::Error>;
}

impl<T: Scalar> VoxelDevice<T> for Cpu {
    type Error = Error;

    fn downsample<P: Points<T> + ?Sized>(
        &self,
        job: &VoxelGrid,
        points: &P,
        observer: Option<Observer<'_>>,
    ) -> Result<Voxels<T>, Error> {
        run::downsample(self, job, &points, observer)
    }

    fn downsample_batch<P: Points<T>>(
        &self,
        job: &VoxelGrid,
        clouds: &[P],
        observer: Option<Observer<'_>>,
    ) -> Result<Vec<Voxels<T>>, Error> {
        run::downsample_batch(self, job, &erased(clouds), observer)
    }
}

impl VoxelGrid {
    /// This job on a device: a [`Cpu`] with its threads and instruction set, or a GPU.
    pub fn on<'a, D: ?Sized>(&'a self, device: &'a D) -> On<'a, Self, D> {
        On::new(self, device)
    }

    /// Finds the voxels of one cloud, on the CPU with all threads. A cloud without points has none.
    ///
    /// # Errors
    /// On non-finite rows, on sizes and origins that are out of range or not as many as axes, and on cells that do not fit in
    /// 32 bits.
    pub fn downsample<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
    ) -> Result<Voxels<T>, Error> {
        self.on(&Cpu::new()).downsample(points)
    }

    /// [`VoxelGrid::downsample`] for many clouds, spread over all threads. A cloud's result does not depend on its
    /// batch.
    ///
    /// # Errors
    /// As [`VoxelGrid::downsample`], in an [`Error::InBatch`] that names the first cloud at fault.
    pub fn downsample_batch<T: Scalar, P: Points<T>>(
        &self,
        clouds: &[P],
    ) -> Result<Vec<Voxels<T>>, Error> {
        self.on(&Cpu::new()).downsample_batch(clouds)
    }
}

impl<D: ?Sized> On<'_, VoxelGrid, D> {
    /// Finds the voxels of one cloud. An observer is called a few times.
    ///
    /// # Errors
    /// As [`VoxelGrid::downsample`], and failures of the device.
    pub fn downsample<T: Scalar, P: Points<T> + ?Sized>(
        self,
        points: &P,
    ) -> Result<Voxels<T>, D::Error>
    where
        D: VoxelDevice<T>,
    {
        self.device.downsample(self.job, points, self.observer)
    }

    /// Finds the voxels of many clouds.
    ///
    /// # Errors
    /// As [`VoxelGrid::downsample_batch`], and failures of the device.
    pub fn downsample_batch<T: Scalar, P: Points<T>>(
        self,
        clouds: &[P],
    ) -> Result<Vec<Voxels<T>>, D::Error>
    where
        D: VoxelDevice<T>,
    {
        self.device.downsample_batch(self.job, clouds, self.observer)
    }
}
