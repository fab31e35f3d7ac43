//! Running a [`Searcher`].

use super::On;
use crate::neighbors::several::run;
use crate::watch::Watch;
use crate::{Cpu, Error, Neighbors, Observer, Points, Scalar, Searcher};

impl Searcher {
    /// This search on a device.
    pub fn on<'a, D: ?Sized>(&'a self, device: &'a D) -> On<'a, Self, D> {
        On { job: self, device }
    }

    /// The neighbors in `y` of each point of `x`, on the CPU with all threads.
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
}

impl On<'_, Searcher, Cpu> {
    /// The neighbors in `y` of each point of `x`.
    ///
    /// # Errors
    /// As [`Searcher::search`].
    pub fn search<T: Scalar, X, Y>(&self, x: &X, y: &Y) -> Result<Neighbors<T>, Error>
    where
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        run::search(self.device, self.job, x, y, &Watch::off())
    }

    /// [`On::search`] that reports progress to `observer`, which can cancel the search.
    ///
    /// # Errors
    /// As [`Searcher::search`], and [`Error::SearchCancelled`].
    pub fn search_with<T: Scalar, X, Y>(
        &self,
        x: &X,
        y: &Y,
        observer: Observer<'_>,
    ) -> Result<Neighbors<T>, Error>
    where
        X: Points<T> + ?Sized,
        Y: Points<T> + ?Sized,
    {
        run::search(self.device, self.job, x, y, &Watch::new(Some(observer), x.len()))
    }
}
