//! Running a [`Matcher`]: on the CPU by its own methods, on a device by [`Matcher::on`].

use super::{Device, On};
use crate::{Chamfer, Cpu, Error, Gradients, Matcher, Nearest, Observer, Points, Scalar};

impl Matcher {
    /// This search on a device: a [`Cpu`] with its threads and instruction set, or a GPU.
    pub fn on<'a, D: ?Sized>(&'a self, device: &'a D) -> On<'a, Self, D> {
        On { job: self, device }
    }

    /// For each point of `a` the nearest of `b`, on the CPU with all threads.
    ///
    /// # Errors
    /// On empty clouds, bad rows, and clouds with different numbers of coordinates.
    pub fn nearest<T: Scalar, A, B>(&self, a: &A, b: &B) -> Result<Nearest<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.on(&Cpu::new()).nearest(a, b)
    }

    /// [`Matcher::nearest`] with progress and canceling: see [`On::nearest_with`].
    ///
    /// # Errors
    /// As [`Matcher::nearest`], and [`Error::SearchCancelled`].
    pub fn nearest_with<T: Scalar, A, B>(
        &self,
        a: &A,
        b: &B,
        observer: Observer<'_>,
    ) -> Result<Nearest<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.on(&Cpu::new()).nearest_with(a, b, observer)
    }

    /// Both directions: for each point of either cloud the nearest of the other.
    ///
    /// # Errors
    /// As [`Matcher::nearest`].
    pub fn chamfer<T: Scalar, A, B>(&self, a: &A, b: &B) -> Result<Chamfer<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.on(&Cpu::new()).chamfer(a, b)
    }

    /// [`Matcher::chamfer`] with progress and canceling: see [`On::nearest_with`].
    ///
    /// # Errors
    /// As [`Matcher::nearest_with`].
    pub fn chamfer_with<T: Scalar, A, B>(
        &self,
        a: &A,
        b: &B,
        observer: Observer<'_>,
    ) -> Result<Chamfer<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.on(&Cpu::new()).chamfer_with(a, b, observer)
    }

    /// [`Matcher::nearest`] for many pairs of clouds, spread over all threads. A pair's result does
    /// not depend on its batch.
    ///
    /// [`crate::padded`] and [`crate::ragged`] make clouds of batches in one array.
    ///
    /// # Errors
    /// As [`Matcher::nearest`], in an [`Error::InBatch`] that names the first pair at fault.
    pub fn nearest_batch<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Nearest<T>>, Error> {
        self.on(&Cpu::new()).nearest_batch(a, b)
    }

    /// [`Matcher::chamfer`] for many pairs of clouds, as [`Matcher::nearest_batch`].
    ///
    /// ```
    /// use farpoint::{Matcher, padded};
    /// // Two pairs of one and two points; the last row of `a` is padding.
    /// let (a, b) = ([0.0f32, 9.0, 5.0, 0.0], [1.0f32, 2.0, 7.0, 4.0]);
    /// let a = padded(&a, [2, 2, 1], Some(&[2, 1]))?;
    /// let b = padded(&b, [2, 2, 1], None)?;
    /// let chamfers = Matcher::new().chamfer_batch(&a, &b)?;
    /// assert_eq!(chamfers[0].a_to_b.raw_distances, [1.0, 49.0]);
    /// assert_eq!(chamfers[1].a_to_b.raw_distances, [1.0]);
    /// # Ok::<(), farpoint::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Matcher::nearest_batch`].
    pub fn chamfer_batch<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Chamfer<T>>, Error> {
        self.on(&Cpu::new()).chamfer_batch(a, b)
    }

    /// The gradients of both clouds: see [`crate::neighbors::backward()`].
    ///
    /// # Errors
    /// If clouds, result and gradients do not fit each other.
    pub fn backward<T: Scalar, A, B>(
        &self,
        chamfer: &Chamfer<T>,
        a: &A,
        b: &B,
        grad_a: &[T],
        grad_b: &[T],
    ) -> Result<Gradients<T>, Error>
    where
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.on(&Cpu::new()).backward(chamfer, a, b, grad_a, grad_b)
    }
}

impl<D: ?Sized> On<'_, Matcher, D> {
    /// For each point of `a` the nearest of `b`.
    ///
    /// # Errors
    /// As [`Matcher::nearest`], and failures of the device.
    pub fn nearest<T: Scalar, A, B>(&self, a: &A, b: &B) -> Result<Nearest<T>, D::Error>
    where
        D: Device<T>,
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.device.nearest(self.job, a, b, None)
    }

    /// [`On::nearest`] that reports progress to `observer`, which can cancel the search. `samples` are
    /// points whose nearest was found, `wanted` is their number in the end; the covering radius is
    /// infinite.
    ///
    /// # Errors
    /// As [`On::nearest`], and [`crate::Error::SearchCancelled`].
    pub fn nearest_with<T: Scalar, A, B>(
        &self,
        a: &A,
        b: &B,
        observer: Observer<'_>,
    ) -> Result<Nearest<T>, D::Error>
    where
        D: Device<T>,
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.device.nearest(self.job, a, b, Some(observer))
    }

    /// Both directions: for each point of either cloud the nearest of the other.
    ///
    /// # Errors
    /// As [`On::nearest`].
    pub fn chamfer<T: Scalar, A, B>(&self, a: &A, b: &B) -> Result<Chamfer<T>, D::Error>
    where
        D: Device<T>,
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.device.chamfer(self.job, a, b, None)
    }

    /// [`On::chamfer`] that reports progress, as [`On::nearest_with`].
    ///
    /// # Errors
    /// As [`On::nearest_with`].
    pub fn chamfer_with<T: Scalar, A, B>(
        &self,
        a: &A,
        b: &B,
        observer: Observer<'_>,
    ) -> Result<Chamfer<T>, D::Error>
    where
        D: Device<T>,
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.device.chamfer(self.job, a, b, Some(observer))
    }

    /// [`On::nearest`] for many pairs of clouds; a result does not depend on its batch.
    ///
    /// # Errors
    /// As [`On::nearest`], naming the first pair at fault.
    pub fn nearest_batch<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Nearest<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.device.nearest_batch(self.job, a, b, None)
    }

    /// [`On::nearest_batch`] that reports the progress of all pairs together.
    ///
    /// # Errors
    /// As [`On::nearest_batch`], and [`crate::Error::SearchCancelled`].
    pub fn nearest_batch_with<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
        observer: Observer<'_>,
    ) -> Result<Vec<Nearest<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.device.nearest_batch(self.job, a, b, Some(observer))
    }

    /// [`On::chamfer`] for many pairs of clouds, as [`On::nearest_batch`].
    ///
    /// # Errors
    /// As [`On::nearest_batch`].
    pub fn chamfer_batch<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
    ) -> Result<Vec<Chamfer<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.device.chamfer_batch(self.job, a, b, None)
    }

    /// [`On::chamfer_batch`] that reports the progress of all pairs together.
    ///
    /// # Errors
    /// As [`On::nearest_batch_with`].
    pub fn chamfer_batch_with<T: Scalar, A: Points<T>, B: Points<T>>(
        &self,
        a: &[A],
        b: &[B],
        observer: Observer<'_>,
    ) -> Result<Vec<Chamfer<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.device.chamfer_batch(self.job, a, b, Some(observer))
    }

    /// The gradients of both clouds: see [`crate::neighbors::backward()`]. The norm is that of
    /// `chamfer`.
    ///
    /// # Errors
    /// If clouds, result and gradients do not fit each other, and failures of the device.
    pub fn backward<T: Scalar, A, B>(
        &self,
        chamfer: &Chamfer<T>,
        a: &A,
        b: &B,
        grad_a: &[T],
        grad_b: &[T],
    ) -> Result<Gradients<T>, D::Error>
    where
        D: Device<T>,
        A: Points<T> + ?Sized,
        B: Points<T> + ?Sized,
    {
        self.device.backward(chamfer, a, b, [grad_a, grad_b])
    }
}

/// For each point of `a` the squared distance to its nearest of `b`, and which that is.
///
/// [`Matcher`] has the options.
///
/// # Errors
/// As [`Matcher::nearest`].
pub fn nearest<T: Scalar, A, B>(a: &A, b: &B) -> Result<Nearest<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    Matcher::new().nearest(a, b)
}

/// The nearest points in both directions, and all that is computed from them.
///
/// ```
/// let (a, b) = ([[0.0f32, 0.0], [3.0, 4.0]], [[0.0f32, 1.0]]);
/// let chamfer = farpoint::chamfer(&a, &b)?;
/// assert_eq!(chamfer.sum(), (1.0 + 18.0) / 2.0 + 1.0);
/// assert_eq!(chamfer.hausdorff(), 18f32.sqrt());
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// [`Matcher`] has the options.
///
/// # Errors
/// As [`Matcher::nearest`].
pub fn chamfer<T: Scalar, A, B>(a: &A, b: &B) -> Result<Chamfer<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    Matcher::new().chamfer(a, b)
}
