//! When work on a file ends early.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whether work on a file is to stop: somebody wants all work to stop, or the file has had its time.
#[derive(Debug)]
pub struct Stop<'a> {
    wanted: &'a AtomicBool,
    begin: Instant,
    limit: Option<Duration>,
}

impl<'a> Stop<'a> {
    /// The clock starts now.
    pub fn new(wanted: &'a AtomicBool, limit: Option<Duration>) -> Self {
        Self { wanted, begin: Instant::now(), limit }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// Whether to stop.
    pub fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) || self.is_late()
    }

    fn is_late(&self) -> bool {
        self.limit.is_some_and(|limit| self.begin.elapsed() > limit)
    }

    /// Why to stop, if so.
    pub(crate) fn reason(&self, name: &str) -> Option<String> {
        let limit = self.limit.filter(|_| self.is_late());
        let late = limit.map(|limit| {
            format!("{name}: took longer than {} s, the time limit", limit.as_secs_f64())
        });
        let stopped =
            || self.wanted.load(Ordering::Relaxed).then(|| format!("{name}: was stopped"));
        late.or_else(stopped)
    }

    pub(crate) fn check(&self, name: &str) -> Result<(), String> {
        self.reason(name).map_or(Ok(()), Err)
    }
}
