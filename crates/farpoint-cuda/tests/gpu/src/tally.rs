//! Results of a check.

use crate::truth::{Truth, same};
use farpoint::Sample;
use farpoint_cuda::{CudaScalar, Error};
use std::fmt::Display;

/// Counts comparisons and keeps the failures.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) runs: usize,
    pub(crate) failed: usize,
    /// The first few failures.
    pub(crate) failures: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// Operations that the driver or this machine does not support.
    pub(crate) refusals: Vec<String>,
    /// Set if the algorithm may refuse a shape.
    choosy: bool,
}

/// Maximum number of failures listed per check.
const LISTED: usize = 4;

impl Tally {
    /// Creates the tally of a part of a group. `persistent` does not take every cloud; the others do.
    pub(crate) fn new(part: &str) -> Self {
        Self { choosy: part == "persistent", ..Self::default() }
    }

    /// Counts a comparison.
    pub(crate) fn check(&mut self, what: impl Display, result: Result<(), String>) {
        self.runs += 1;
        if let Err(reason) = result {
            self.fail(what, reason);
        }
    }

    /// Counts a comparison of a condition that must be true.
    pub(crate) fn is(&mut self, what: impl Display, truth: bool) {
        self.check(what, if truth { Ok(()) } else { Err("no".into()) });
    }

    pub(crate) fn fail(&mut self, what: impl Display, reason: impl Display) {
        self.failed += 1;
        if self.failures.len() < LISTED {
            self.failures.push(format!("{what}: {reason}"));
        }
    }

    pub(crate) fn note(&mut self, what: impl Display) {
        self.notes.push(what.to_string());
    }

    pub(crate) fn refuse(&mut self, what: impl Display) {
        let what = what.to_string();
        if self.refusals.len() < LISTED && !self.refusals.contains(&what) {
            self.refusals.push(what);
        }
    }

    /// Records the error of a call that should have succeeded.
    pub(crate) fn error(&mut self, what: impl Display, error: &Error) {
        if let (true, Error::Unsupported(reason)) = (self.choosy, error) {
            return self.refuse(reason);
        }
        self.runs += 1;
        self.fail(what, error);
    }

    /// Adds the results of another tally.
    pub(crate) fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.failed += other.failed;
        let room = LISTED - self.failures.len();
        self.failures.extend(other.failures.into_iter().take(room));
        self.notes.extend(other.notes);
        self.refusals.extend(other.refusals);
    }

    /// Returns the failures as one text, if any.
    pub(crate) fn failure(&self) -> Option<String> {
        let more = match self.failed - self.failures.len() {
            0 => String::new(),
            more => format!("\nand {more} more"),
        };
        (self.failed > 0).then(|| self.failures.join("\n") + &more)
    }

    /// Records a failure, unless the call succeeded.
    pub(crate) fn take<V>(&mut self, what: impl Display, result: Result<V, Error>) -> Option<V> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(what, &error);
                None
            }
        }
    }

    /// Compares with the first `m` samples of the reference.
    pub(crate) fn prefix<T: CudaScalar>(
        &mut self,
        what: impl Display,
        found: Result<Sample<T>, Error>,
        truth: &Truth<T>,
        m: usize,
    ) {
        if let Some(found) = self.take(&what, found) {
            self.check(what, truth.compare(&found, m));
        }
    }

    /// Compares with a sample of the CPU.
    pub(crate) fn sample<T: CudaScalar>(
        &mut self,
        what: impl Display,
        found: Result<Sample<T>, Error>,
        truth: &Sample<T>,
    ) {
        if let Some(found) = self.take(&what, found) {
            self.check(what, same(&found, truth));
        }
    }

    /// Compares a batch with samples of the CPU, cloud by cloud.
    pub(crate) fn batch<T: CudaScalar>(
        &mut self,
        what: impl Display,
        found: Result<Vec<Sample<T>>, Error>,
        truth: &[Sample<T>],
    ) {
        let Some(found) = self.take(&what, found) else { return };
        let result = match found.len() == truth.len() {
            false => Err(format!("{} clouds, not {}", found.len(), truth.len())),
            true => found.iter().zip(truth).enumerate().try_for_each(|(cloud, (found, truth))| {
                same(found, truth).map_err(|reason| format!("cloud {cloud}: {reason}"))
            }),
        };
        self.check(what, result);
    }
}
