//! Progress of a run on one thread: reported to an observer, which can cancel it.

use crate::{Error, Observer, Progress, Scalar};
use std::ops::ControlFlow;

/// The observer, the total, and the number of points visited since its last call.
pub(super) struct Watch<'a> {
    observer: Option<Observer<'a>>,
    /// Number of samples; for a cell size, the number of points.
    wanted: usize,
    looked_at: usize,
}

/// Points visited between two calls of the observer: hundredths of a second.
pub(super) const EVERY: usize = 1 << 18;

impl<'a> Watch<'a> {
    pub(super) fn new(observer: Option<Observer<'a>>, wanted: usize) -> Self {
        Self { observer, wanted, looked_at: 0 }
    }

    /// Reports `looked_at` more points visited, and `samples` samples, from which no point is
    /// known to be farther than the root of `squared_radius`.
    #[inline]
    pub(super) fn step<T: Scalar>(
        &mut self,
        looked_at: usize,
        samples: usize,
        squared_radius: T,
    ) -> Result<(), Error> {
        self.looked_at += looked_at;
        if self.looked_at < EVERY {
            return Ok(());
        }
        self.looked_at = 0;
        let covering_radius = squared_radius.to_f64().max(0.0).sqrt();
        match self.tell(Progress { samples, wanted: self.wanted, covering_radius }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled(samples)),
        }
    }

    /// Reports points visited before any is chosen.
    pub(super) fn pass(&mut self, looked_at: usize) -> Result<(), Error> {
        self.step(looked_at, 0, f64::INFINITY)
    }

    /// Calls the observer at once. The total is known here, not to the caller.
    pub(super) fn tell(&mut self, progress: Progress) -> ControlFlow<()> {
        let progress = Progress { wanted: self.wanted, ..progress };
        self.observer.as_mut().map_or(ControlFlow::Continue(()), |observer| observer(progress))
    }
}
