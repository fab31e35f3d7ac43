//! Observer and deadline of a run, checked now and then.

use crate::clock::Clock;
use crate::{Error, Observer, Progress, Sampler};
use std::ops::ControlFlow;
use std::time::Duration;

/// Maximum number of samples between two calls of the observer, where the algorithm's steps allow.
const SAMPLES: usize = 1024;

/// Maximum time between two calls, where the algorithm's steps allow.
const INTERVAL: Duration = Duration::from_micros(500);

/// Maximum number of distances between two looks at the clock, for an algorithm that computes all: some 100 us.
const DISTANCES: usize = 1 << 19;

/// Limits of a run: its observer can end it, and its deadline does.
pub(super) struct Checks<'a> {
    observer: Option<Observer<'a>>,
    begin: Clock,
    deadline: Option<Duration>,
    /// True if a run that the observer ends returns the choices so far.
    partial: bool,
    /// True once the run ends: the observer is not called any more.
    ends: bool,
    /// True once the run is to return the choices so far.
    ended: bool,
    /// Maximum number of samples of the run.
    limit: usize,
    /// Samples between two looks at the clock.
    stride: usize,
    /// Number of samples at which the clock is looked at next.
    next_look: usize,
    /// Number of samples at which the observer is called at the latest, and the time of its last call.
    next_report: usize,
    reported: Duration,
}

impl<'a> Checks<'a> {
    /// Creates the checks of a run that began at `begin`, on `points` points.
    pub(super) fn new(
        sampler: &Sampler,
        begin: Clock,
        [points, limit]: [usize; 2],
        observer: Option<Observer<'a>>,
    ) -> Self {
        let checked = observer.is_some() || sampler.deadline.is_some();
        Self {
            observer,
            begin,
            deadline: sampler.deadline,
            partial: sampler.partial,
            ends: false,
            ended: false,
            limit,
            stride: (DISTANCES / points.max(1)).clamp(1, 64),
            next_look: if checked { 1 } else { usize::MAX },
            next_report: SAMPLES,
            reported: Duration::ZERO,
        }
    }

    /// Returns whether [`Self::check`] has to be called at this number of samples.
    #[inline]
    pub(super) fn are_due(&self, samples: usize) -> bool {
        samples >= self.next_look
    }

    /// Returns whether there is anything to check.
    pub(super) fn are_enabled(&self) -> bool {
        self.next_look != usize::MAX
    }

    /// Returns whether the run ends with the choices so far, not with an error.
    pub(super) fn have_ended(&self) -> bool {
        self.ended
    }

    /// Calls the observer, if it is time; returns an error if the run ends here.
    #[cold]
    pub(super) fn check(&mut self, samples: usize, covering_radius: f64) -> Result<(), Error> {
        let samples = samples.min(self.limit);
        // Tasks of a step that fails are still begun.
        if self.ends {
            return Err(Error::Cancelled(samples));
        }
        self.next_look = samples + self.stride;
        let now = self.begin.elapsed();
        let late = self.deadline.is_some_and(|deadline| now >= deadline);
        self.ends = late;
        if samples >= self.next_report || now >= self.reported + INTERVAL {
            (self.next_report, self.reported) = (samples + SAMPLES, now);
            let progress = Progress { samples, total: self.limit, covering_radius };
            if let Some(observe) = &mut self.observer {
                self.ends |= observe(progress) == ControlFlow::Break(());
            }
        }
        if !self.ends {
            return Ok(());
        }
        self.ended = late || self.partial;
        Err(Error::Cancelled(samples))
    }
}
