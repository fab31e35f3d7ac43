//! Gradients of a [`Matcher`], and free functions for the default search.

use super::{Device, On};
use crate::{Chamfer, Cpu, Error, Gradients, Matcher, Nearest, Points, Scalar};

impl Matcher {
    /// Runs this search on a device: a [`Cpu`] with its threads and instruction set, or a GPU.
    pub fn on<'a, D: ?Sized>(&'a self, device: &'a D) -> On<'a, Self, D> {
        On::new(self, device)
    }

    /// Returns the gradients of both clouds: see [`crate::neighbors::backward()`].
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
    /// Returns the gradients of both clouds: see [`crate::neighbors::backward()`]. The norm is that of
    /// `chamfer`.
    ///
    /// # Errors
    /// If clouds, result and gradients do not fit each other, and failures of the device.
    pub fn backward<T: Scalar, A, B>(
        self,
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

/// Returns squared distance and index of the nearest point in `b` of each point of `a`.
///
/// [`Matcher`] has the options.
///
/// # Errors
/// Same as [`Matcher::nearest`].
pub fn nearest<T: Scalar, A, B>(a: &A, b: &B) -> Result<Nearest<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    Matcher::new().nearest(a, b)
}

/// Returns the nearest points in both directions, from which the measures are computed.
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
/// Same as [`Matcher::nearest`].
pub fn chamfer<T: Scalar, A, B>(a: &A, b: &B) -> Result<Chamfer<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    Matcher::new().chamfer(a, b)
}
