//! Progress of a call on clouds in host memory: reported to one observer, which can cancel it.

use crate::Error;
use farpoint::{Observer, Progress};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// An observer, shared by all launches of a call, which may be on several devices.
pub(crate) struct Watch<'a> {
    state: Option<Mutex<State<'a>>>,
    /// Makes the error of a canceled call, from the number done.
    canceled: fn(usize) -> farpoint::Error,
}

struct State<'a> {
    observer: Observer<'a>,
    done: usize,
    total: usize,
    stopped: bool,
}

impl<'a> Watch<'a> {
    /// Creates a watch for a call of this many samples or points.
    pub(crate) fn new(
        observer: Option<Observer<'a>>,
        total: usize,
        canceled: fn(usize) -> farpoint::Error,
    ) -> Self {
        let state = |observer| Mutex::new(State { observer, done: 0, total, stopped: false });
        Self { state: observer.map(state), canceled }
    }

    /// Reports `more` samples or points; an error if the observer cancels the call, now or before.
    pub(crate) fn step(&self, more: usize) -> Result<(), Error> {
        let Some(state) = &self.state else { return Ok(()) };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += more;
        let progress = Progress::new(state.done, state.total, f64::INFINITY);
        if !state.stopped {
            state.stopped = (state.observer)(progress) == ControlFlow::Break(());
        }
        match state.stopped {
            true => Err((self.canceled)(state.done).into()),
            false => Ok(()),
        }
    }

    /// Returns the part of one launch, of `total` samples or points.
    pub(crate) fn part(&self, total: usize) -> Part<'_, 'a> {
        Part { watch: self, total, done: 0 }
    }
}

/// Progress of a launch.
pub(crate) struct Part<'w, 'a> {
    watch: &'w Watch<'a>,
    total: usize,
    done: usize,
}

impl Part<'_, '_> {
    /// Returns whether there is an observer: only then is synchronizing with the GPU worthwhile.
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.state.is_some()
    }

    /// Reports that `done` of the launch's samples or points are done, or all if there are fewer.
    pub(crate) fn reach(&mut self, done: usize) -> Result<(), Error> {
        let done = done.min(self.total);
        let more = done - std::mem::replace(&mut self.done, done);
        self.watch.step(more)
    }

    /// Reports that all are done.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        self.reach(self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_reported_together_and_canceled_together() {
        let mut seen = Vec::new();
        let mut observer = |progress: Progress| {
            seen.push((progress.samples, progress.total));
            if progress.samples < 60 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let watch = Watch::new(Some(&mut observer), 100, farpoint::Error::Cancelled);
        let (mut first, mut second) = (watch.part(50), watch.part(50));
        assert!(first.is_watched() && first.reach(0).is_ok() && first.reach(20).is_ok());
        assert!(second.reach(30).is_ok());
        let canceled = |samples| Err(Error::Sampling(farpoint::Error::Cancelled(samples)));
        assert_eq!(first.reach(70), canceled(80));
        assert_eq!(second.end(), canceled(100));
        assert_eq!(seen, [(0, 100), (20, 100), (50, 100), (80, 100)]);
    }

    #[test]
    fn without_an_observer_nothing_is_reported() {
        let watch = Watch::new(None, 10, farpoint::Error::SearchCancelled);
        assert!(!watch.part(10).is_watched() && watch.part(10).end().is_ok());
    }
}
