//! Telling the observer how far a search has come, from whatever thread, and passing on its wish
//! to stop.

use crate::{Error, Observer, Progress};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The observer of a search, shared by the threads that search.
pub(crate) struct Watch<'a> {
    /// `None` if nobody is to be told: then a step costs a comparison.
    observer: Option<Mutex<Observer<'a>>>,
    /// Points whose nearest is wanted.
    wanted: usize,
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl<'a> Watch<'a> {
    /// Nobody is told, nothing stops the search.
    pub(crate) fn off() -> Self {
        Self::of(None, 0)
    }

    /// The nearest of so many points are to be found.
    pub(crate) fn new(observer: Observer<'a>, wanted: usize) -> Self {
        Self::of(Some(Mutex::new(observer)), wanted)
    }

    fn of(observer: Option<Mutex<Observer<'a>>>, wanted: usize) -> Self {
        let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { observer, wanted, done, stopped }
    }

    /// The nearest of so many points more were found, or none yet; whether to go on. To be called
    /// every few milliseconds.
    #[inline]
    pub(crate) fn step(&self, points: usize) -> bool {
        match &self.observer {
            None => true,
            Some(observer) => self.tell(observer, points),
        }
    }

    #[cold]
    fn tell(&self, observer: &Mutex<Observer<'a>>, points: usize) -> bool {
        // Numbers for people: their order among threads does not matter.
        let samples = self.done.fetch_add(points, Ordering::Relaxed) + points;
        if self.stopped.load(Ordering::Relaxed) {
            return false;
        }
        // While one thread tells it, the others go on.
        if let Ok(mut observer) = observer.try_lock() {
            let covering_radius = f64::INFINITY;
            let progress = Progress { samples, wanted: self.wanted, covering_radius };
            if observer(progress) == ControlFlow::Break(()) {
                self.stopped.store(true, Ordering::Relaxed);
                return false;
            }
        }
        true
    }

    /// An error if the observer has stopped the search.
    pub(crate) fn end(&self) -> Result<(), Error> {
        match self.stopped.load(Ordering::Relaxed) {
            true => Err(Error::SearchCancelled(self.done.load(Ordering::Relaxed))),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_observer_is_told_and_can_stop() {
        let mut told = Vec::new();
        let mut observer = |progress: Progress| {
            told.push((progress.samples, progress.wanted));
            if told.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let watch = Watch::new(&mut observer, 50);
        assert!(watch.step(0) && watch.step(7));
        assert_eq!(watch.end(), Ok(()));
        assert!(!watch.step(5) && !watch.step(1));
        assert_eq!(watch.end(), Err(Error::SearchCancelled(13)));
        assert_eq!(told, [(0, 50), (7, 50), (12, 50)]);
    }

    #[test]
    fn without_an_observer_nothing_stops() {
        let watch = Watch::off();
        assert!(watch.step(1 << 40));
        assert_eq!(watch.end(), Ok(()));
    }
}
