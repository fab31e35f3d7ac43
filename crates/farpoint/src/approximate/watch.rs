//! Progress of a run on one thread: reported to an observer, which can cancel it.

use crate::{Error, Observer, Progress, Scalar};
use std::ops::ControlFlow;

/// The observer, the total, and the number of points visited since its last call.
pub(super) struct Watch<'a> {
    observer: Option<Observer<'a>>,
    /// Number of samples; for a cell size, the number of points.
    total: usize,
    visited: usize,
}

/// Points visited between two calls of the observer: hundredths of a second.
pub(super) const EVERY: usize = 1 << 18;

impl<'a> Watch<'a> {
    pub(super) fn new(observer: Option<Observer<'a>>, total: usize) -> Self {
        Self { observer, total, visited: 0 }
    }

    /// Reports `visited` more points visited, and `samples` samples, from which no point is
    /// known to be farther than the root of `squared_radius`.
    #[inline]
    pub(super) fn step<T: Scalar>(
        &mut self,
        visited: usize,
        samples: usize,
        squared_radius: T,
    ) -> Result<(), Error> {
        self.visited += visited;
        if self.visited < EVERY {
            return Ok(());
        }
        self.visited = 0;
        let covering_radius = squared_radius.to_f64().max(0.0).sqrt();
        match self.notify(Progress { samples, total: self.total, covering_radius }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled(samples)),
        }
    }

    /// Reports points visited before any is chosen.
    pub(super) fn pass(&mut self, visited: usize) -> Result<(), Error> {
        self.step(visited, 0, f64::INFINITY)
    }

    /// Calls the observer at once. The total is known here, not to the caller.
    pub(super) fn notify(&mut self, progress: Progress) -> ControlFlow<()> {
        let progress = Progress { total: self.total, ..progress };
        self.observer.as_mut().map_or(ControlFlow::Continue(()), |observer| observer(progress))
    }
}
