//! Running a [`Searcher`]: on the CPU by its own methods, on a device by [`Searcher::on`].

use super::{Device, On};
use crate::neighbors::several::backward;
use crate::{Cpu, Error, Gradients, Neighbors, Observer, Points, Scalar, Searcher, WithinBall};

impl Searcher {
    /// This search on a device: a [`Cpu`] with its threads and instruction set, or a GPU.
    pub fn on<'a, D: ?Sized>(&'a self, device: &'a D) -> On<'a, Self, D> {
        On { job: self, device }
    }

    /// The neighbors in `y` of each point of `x`, at most `k`, on the CPU with all threads.
    ///
    /// # Errors
    /// As [`Searcher::check`]; on empty clouds, bad rows, and clouds with different numbers of
    /// coordinates.
    pub fn search<T: Scalar, X, Y>(&self, x: &X, y: &Y) -> Result<Neighbors<T>, Error>
    where
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        self.on(&Cpu::new()).search(x, y)
    }

    /// [`Searcher::search`] for many pairs of clouds, spread over all threads. A pair's result does not
    /// depend on its batch.
    ///
    /// [`crate::padded`] and [`crate::ragged`] make clouds of batches in one array.
    ///
    /// ```
    /// use farpoint::{Searcher, ragged};
    /// // Clouds of one and two points, searched for in clouds of two points and one.
    /// let (x, y) = ([0.0f32, 9.0, 5.0], [1.0f32, 2.0, 7.0]);
    /// let x = ragged(&x, 1, &[0, 1, 3])?;
    /// let y = ragged(&y, 1, &[0, 2, 3])?;
    /// let found = Searcher::nearest(2).search_batch(&x, &y)?;
    /// assert_eq!(found[0].all_indices, [0, 1]);
    /// assert_eq!(found[1].counts, [1, 1]);
    /// # Ok::<(), farpoint::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Searcher::search`], in an [`Error::InBatch`] that names the first pair at fault.
    pub fn search_batch<T: Scalar, X: Points<T>, Y: Points<T>>(
        &self,
        x: &[X],
        y: &[Y],
    ) -> Result<Vec<Neighbors<T>>, Error> {
        self.on(&Cpu::new()).search_batch(x, y)
    }

    /// All points of `y` in the ball of each point of `x`, whatever `k` is, on the CPU with all threads.
    ///
    /// # Errors
    /// As [`Searcher::check_within`]; [`Error::TooManyNeighbors`]; else as [`Searcher::search`].
    pub fn within<T: Scalar, X, Y>(&self, x: &X, y: &Y) -> Result<WithinBall<T>, Error>
    where
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        self.on(&Cpu::new()).within(x, y)
    }

    /// [`Searcher::within`] for many pairs of clouds, as [`Searcher::search_batch`].
    ///
    /// # Errors
    /// As [`Searcher::within`], in an [`Error::InBatch`] that names the first pair at fault.
    pub fn within_batch<T: Scalar, X: Points<T>, Y: Points<T>>(
        &self,
        x: &[X],
        y: &[Y],
    ) -> Result<Vec<WithinBall<T>>, Error> {
        self.on(&Cpu::new()).within_batch(x, y)
    }
}

impl<D: ?Sized> On<'_, Searcher, D> {
    /// The neighbors in `y` of each point of `x`, at most `k`.
    ///
    /// # Errors
    /// As [`Searcher::search`], and failures of the device.
    pub fn search<T: Scalar, X, Y>(&self, x: &X, y: &Y) -> Result<Neighbors<T>, D::Error>
    where
        D: Device<T>,
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        self.device.search(self.job, x, y, None)
    }

    /// [`On::search`] that reports progress to `observer`, which can cancel the search. `samples` are
    /// points whose neighbors were found, `wanted` is their number in the end; the covering radius is
    /// infinite.
    ///
    /// # Errors
    /// As [`On::search`], and [`Error::SearchCancelled`].
    pub fn search_with<T: Scalar, X, Y>(
        &self,
        x: &X,
        y: &Y,
        observer: Observer<'_>,
    ) -> Result<Neighbors<T>, D::Error>
    where
        D: Device<T>,
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        self.device.search(self.job, x, y, Some(observer))
    }

    /// [`On::search`] for many pairs of clouds; a result does not depend on its batch.
    ///
    /// # Errors
    /// As [`On::search`], naming the first pair at fault.
    pub fn search_batch<T: Scalar, X: Points<T>, Y: Points<T>>(
        &self,
        x: &[X],
        y: &[Y],
    ) -> Result<Vec<Neighbors<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.device.search_batch(self.job, x, y, None)
    }

    /// [`On::search_batch`] that reports the progress of all pairs together.
    ///
    /// # Errors
    /// As [`On::search_batch`], and [`Error::SearchCancelled`].
    pub fn search_batch_with<T: Scalar, X: Points<T>, Y: Points<T>>(
        &self,
        x: &[X],
        y: &[Y],
        observer: Observer<'_>,
    ) -> Result<Vec<Neighbors<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.device.search_batch(self.job, x, y, Some(observer))
    }

    /// All points of `y` in the ball of each point of `x`, whatever `k` is.
    ///
    /// # Errors
    /// As [`Searcher::within`], and failures of the device.
    pub fn within<T: Scalar, X, Y>(&self, x: &X, y: &Y) -> Result<WithinBall<T>, D::Error>
    where
        D: Device<T>,
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        self.device.within(self.job, x, y, None)
    }

    /// [`On::within`] that reports progress, as [`On::search_with`]. Every point counts twice: when its
    /// neighbors are counted, and when they are written.
    ///
    /// # Errors
    /// As [`On::within`], and [`Error::SearchCancelled`].
    pub fn within_with<T: Scalar, X, Y>(
        &self,
        x: &X,
        y: &Y,
        observer: Observer<'_>,
    ) -> Result<WithinBall<T>, D::Error>
    where
        D: Device<T>,
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        self.device.within(self.job, x, y, Some(observer))
    }

    /// [`On::within`] for many pairs of clouds, as [`On::search_batch`].
    ///
    /// # Errors
    /// As [`On::within`], naming the first pair at fault.
    pub fn within_batch<T: Scalar, X: Points<T>, Y: Points<T>>(
        &self,
        x: &[X],
        y: &[Y],
    ) -> Result<Vec<WithinBall<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.device.within_batch(self.job, x, y, None)
    }

    /// [`On::within_batch`] that reports the progress of all pairs together, as [`On::within_with`].
    ///
    /// # Errors
    /// As [`On::within_batch`], and [`Error::SearchCancelled`].
    pub fn within_batch_with<T: Scalar, X: Points<T>, Y: Points<T>>(
        &self,
        x: &[X],
        y: &[Y],
        observer: Observer<'_>,
    ) -> Result<Vec<WithinBall<T>>, D::Error>
    where
        D: Device<T>,
    {
        self.device.within_batch(self.job, x, y, Some(observer))
    }
}

impl On<'_, Searcher, Cpu> {
    /// The gradients of both clouds: see [`crate::neighbors::search_backward`]. The norm is that of
    /// `found`.
    ///
    /// # Errors
    /// If clouds, result and gradients do not fit each other.
    pub fn search_backward<T: Scalar, X, Y>(
        &self,
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

    /// The same through all neighbors in balls: see [`crate::neighbors::within_backward`].
    ///
    /// # Errors
    /// If clouds, result and gradients do not fit each other.
    pub fn within_backward<T: Scalar, X, Y>(
        &self,
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
