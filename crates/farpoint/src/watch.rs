//! Progress of work on several threads: reported to one observer, which can cancel it.

use crate::{Error, Observer, Progress};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// An observer shared by the working threads.
pub(crate) struct Watch<'a> {
    /// The observer; without one a step costs a comparison.
    observer: Option<Mutex<Observer<'a>>>,
    /// Total number of points.
    total: usize,
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl<'a> Watch<'a> {
    /// Creates a watch without an observer.
    pub(crate) fn disabled() -> Self {
        Self::new(None, 0)
    }

    /// Creates a watch over work of `total` points.
    pub(crate) fn new(observer: Option<Observer<'a>>, total: usize) -> Self {
        let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { observer: observer.map(Mutex::new), total, done, stopped }
    }

    /// Returns whether there is an observer.
    pub(crate) fn is_enabled(&self) -> bool {
        self.observer.is_some()
    }

    /// Reports that `points` more are done, or none yet; returns whether to continue. To be called every few
    /// milliseconds.
    #[inline]
    pub(crate) fn step(&self, points: usize) -> bool {
        match &self.observer {
            None => true,
            Some(observer) => self.notify(observer, points),
        }
    }

    #[cold]
    fn notify(&self, observer: &Mutex<Observer<'a>>, points: usize) -> bool {
        // Numbers for people: the order among threads does not matter.
        let samples = self.done.fetch_add(points, Ordering::Relaxed) + points;
        if self.stopped.load(Ordering::Relaxed) {
            return false;
        }
        // While one thread reports, the others go on.
        if let Ok(mut observer) = observer.try_lock() {
            let covering_radius = f64::INFINITY;
            let progress = Progress { samples, total: self.total, covering_radius };
            if observer(progress) == ControlFlow::Break(()) {
                self.stopped.store(true, Ordering::Relaxed);
                return false;
            }
        }
        true
    }

    /// Returns an error, made from the number of points done, if the observer has canceled the work.
    pub(crate) fn end(&self, canceled: fn(usize) -> Error) -> Result<(), Error> {
        match self.stopped.load(Ordering::Relaxed) {
            true => Err(canceled(self.done.load(Ordering::Relaxed))),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_observer_is_called_and_can_cancel() {
        let mut reports = Vec::new();
        let mut observer = |progress: Progress| {
            reports.push((progress.samples, progress.total));
            if reports.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let watch = Watch::new(Some(&mut observer), 50);
        assert!(watch.step(0) && watch.step(7));
        assert_eq!(watch.end(Error::SearchCancelled), Ok(()));
        assert!(!watch.step(5) && !watch.step(1));
        assert_eq!(watch.end(Error::SearchCancelled), Err(Error::SearchCancelled(13)));
        assert_eq!(reports, [(0, 50), (7, 50), (12, 50)]);
    }

    #[test]
    fn without_an_observer_nothing_stops() {
        let watch = Watch::disabled();
        assert!(watch.step(1 << 40));
        assert_eq!(watch.end(Error::SearchCancelled), Ok(()));
    }
}
