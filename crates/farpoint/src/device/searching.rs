//! Gradients of a [`Searcher`].

use super::On;
use crate::neighbors::knn::backward;
use crate::{Cpu, Error, Gradients, Neighbors, Points, Scalar, Searcher, WithinBall};

impl Searcher {
    /// Runs this search on a device: a [`Cpu`] with its threads and instruction set, or a GPU.
    pub fn on<'a, D: ?Sized>(&'a self, device: &'a D) -> On<'a, Self, D> {
        On::new(self, device)
    }
}

impl On<'_, Searcher, Cpu> {
    /// Returns the gradients of both clouds: see [`crate::neighbors::search_backward`]. The norm is that of
    /// `found`.
    ///
    /// # Errors
    /// If clouds, result and gradients do not fit each other.
    pub fn search_backward<T: Scalar, X, Y>(
        self,
        found: &Neighbors<T>,
        x: &X,
        y: &Y,
        gradients: &[T],
    ) -> Result<Gradients<T>, Error>
    where
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        backward::best(self.device.threads, found, x, y, gradients)
    }

    /// Returns the gradients through all neighbors in balls: see [`crate::neighbors::within_backward`].
    ///
    /// # Errors
    /// If clouds, result and gradients do not fit each other.
    pub fn within_backward<T: Scalar, X, Y>(
        self,
        found: &WithinBall<T>,
        x: &X,
        y: &Y,
        gradients: &[T],
    ) -> Result<Gradients<T>, Error>
    where
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        backward::all(self.device.threads, found, x, y, gradients)
    }
}
