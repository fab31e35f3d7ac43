//! Progress and cancellation of long runs.

use std::ops::ControlFlow;

/// Progress of a long run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Samples chosen so far, or queries finished by a search; over all clouds of a batch.
    pub samples: usize,
    /// Total to be done, at most; for a spacing, the number of points.
    pub total: usize,
    /// Covering radius of the samples so far; infinite while unknown, and for batches.
    pub covering_radius: f64,
}

impl Progress {
    /// Creates the progress that a device outside this crate reports.
    pub fn new(samples: usize, total: usize, covering_radius: f64) -> Self {
        Self { samples, total, covering_radius }
    }
}

/// Progress callback, called now and then; return `ControlFlow::Break(())` to cancel the run.
pub type Observer<'a> = &'a mut (dyn FnMut(Progress) -> ControlFlow<()> + Send);
