//! Early end of the work on a file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Stop condition of the work on a file: all work is canceled, or the file has exceeded its time limit.
#[derive(Debug)]
pub struct Stop<'a> {
    canceled: &'a AtomicBool,
    begin: Instant,
    limit: Option<Duration>,
}

impl<'a> Stop<'a> {
    /// Starts the clock.
    pub fn new(canceled: &'a AtomicBool, limit: Option<Duration>) -> Self {
        Self { canceled, begin: Instant::now(), limit }
    }

    /// Returns the seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// Returns whether to stop.
    pub fn is_wanted(&self) -> bool {
        self.canceled.load(Ordering::Relaxed) || self.is_timed_out()
    }

    fn is_timed_out(&self) -> bool {
        self.limit.is_some_and(|limit| self.begin.elapsed() > limit)
    }

    /// Returns the reason to stop, if there is one.
    pub(crate) fn reason(&self, name: &str) -> Option<String> {
        let limit = self.limit.filter(|_| self.is_timed_out());
        let late = limit.map(|limit| {
            format!("{name}: took longer than {} s, the time limit", limit.as_secs_f64())
        });
        let stopped =
            || self.canceled.load(Ordering::Relaxed).then(|| format!("{name}: was stopped"));
        late.or_else(stopped)
    }

    pub(crate) fn check(&self, name: &str) -> Result<(), String> {
        self.reason(name).map_or(Ok(()), Err)
    }
}
