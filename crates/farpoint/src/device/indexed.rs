//! Searches of an [`Index`], on the CPU with all threads. For other threads, batches or an
//! observer, pass it to a job in place of a cloud.

use crate::{Error, Index, Matcher, Nearest, Neighbors, Points, Scalar, Searcher, WithinBall};

impl<T: Scalar> Index<T> {
    /// Returns at most `k` neighbors in this cloud of each point of `x`: [`Searcher::search`].
    ///
    /// # Errors
    /// Same as [`Searcher::search`].
    pub fn search<X>(&self, job: &Searcher, x: &X) -> Result<Neighbors<T>, Error>
    where
        X: Points<T> + ?Sized,
    {
        job.search(x, self)
    }

    /// Returns the neighbors of each point of this cloud in itself.
    ///
    /// # Errors
    /// Same as [`Searcher::check`].
    pub fn search_self(&self, job: &Searcher) -> Result<Neighbors<T>, Error> {
        job.search(self, self)
    }

    /// Returns all points of this cloud in the ball of each point of `x`: [`Searcher::within`].
    ///
    /// # Errors
    /// Same as [`Searcher::within`].
    pub fn within<X>(&self, job: &Searcher, x: &X) -> Result<WithinBall<T>, Error>
    where
        X: Points<T> + ?Sized,
    {
        job.within(x, self)
    }

    /// Returns all points of this cloud in the ball of each of them.
    ///
    /// # Errors
    /// Same as [`Searcher::check_within`], and [`Error::TooManyNeighbors`].
    pub fn within_self(&self, job: &Searcher) -> Result<WithinBall<T>, Error> {
        job.within(self, self)
    }

    /// Returns the nearest point in this cloud of each point of `x`: [`Matcher::nearest`].
    ///
    /// # Errors
    /// Same as [`Matcher::nearest`].
    pub fn nearest<X>(&self, job: &Matcher, x: &X) -> Result<Nearest<T>, Error>
    where
        X: Points<T> + ?Sized,
    {
        job.nearest(x, self)
    }
}
