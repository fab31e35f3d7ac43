//! How far a long run has come, and how it is canceled.

use std::ops::ControlFlow;

/// How far a long run has come.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Samples chosen so far, or points whose nearest was found; of all clouds of a batch.
    pub samples: usize,
    /// How many there will be, at most; for a spacing, the number of points.
    pub wanted: usize,
    /// Covering radius of the samples so far; infinite while it is not known, and for batches.
    pub covering_radius: f64,
}

impl Progress {
    /// Progress as a device outside this crate reports it.
    pub fn new(samples: usize, wanted: usize, covering_radius: f64) -> Self {
        Self { samples, wanted, covering_radius }
    }
}

/// Called with the progress of a run now and then; `ControlFlow::Break(())` cancels the run.
pub type Observer<'a> = &'a mut (dyn FnMut(Progress) -> ControlFlow<()> + Send);
