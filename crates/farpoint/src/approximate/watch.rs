//! Progress of a run on one thread: reported to an observer, which can cancel it.

use crate::{Error, Observer, Progress, Scalar};
use std::ops::ControlFlow;

/// The observer, what is wanted, and how much was done since it was last called.
pub(super) struct Watch<'a> {
    observer: Option<Observer<'a>>,
    /// Samples wanted; for a cell size, the number of points.
    wanted: usize,
    looked_at: usize,
}

/// The observer is called whenever so many points were visited: hundredths of a second.
pub(super) const EVERY: usize = 1 << 18;

impl<'a> Watch<'a> {
    pub(super) fn new(observer: Option<Observer<'a>>, wanted: usize) -> Self {
        Self { observer, wanted, looked_at: 0 }
    }

    /// So many points more were looked at, and there are so many samples, from which no point is
    /// known to be farther than `squared_radius` tells.
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

    /// So many points were looked at, and none is chosen yet.
    pub(super) fn pass(&mut self, looked_at: usize) -> Result<(), Error> {
        self.step(looked_at, 0, f64::INFINITY)
    }

    /// Calls the observer at once. How many samples are wanted is known here, not to the caller.
    pub(super) fn tell(&mut self, progress: Progress) -> ControlFlow<()> {
        let progress = Progress { wanted: self.wanted, ..progress };
        self.observer.as_mut().map_or(ControlFlow::Continue(()), |observer| observer(progress))
    }
}
