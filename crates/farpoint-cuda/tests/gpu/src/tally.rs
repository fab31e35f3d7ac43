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
    may_reject: bool,
}

/// Maximum number of failures listed per check.
const MAX_FAILURES: usize = 4;

impl Tally {
    /// Creates the tally of a part of a group. `persistent` does not take every cloud; the others do.
    pub(crate) fn new(part: &str) -> Self {
        Self { may_reject: part == "persistent", ..Self::default() }
    }

    /// Counts a comparison.
    pub(crate) fn check(&mut self, label: impl Display, result: Result<(), String>) {
        self.runs += 1;
        if let Err(reason) = result {
            self.fail(label, reason);
        }
    }

    /// Counts a comparison of a condition that must be true.
    pub(crate) fn is(&mut self, label: impl Display, truth: bool) {
        self.check(label, if truth { Ok(()) } else { Err("no".into()) });
    }

    pub(crate) fn fail(&mut self, label: impl Display, reason: impl Display) {
        self.failed += 1;
        if self.failures.len() < MAX_FAILURES {
            self.failures.push(format!("{label}: {reason}"));
        }
    }

    pub(crate) fn note(&mut self, label: impl Display) {
        self.notes.push(label.to_string());
    }

    pub(crate) fn refuse(&mut self, label: impl Display) {
        let label = label.to_string();
        if self.refusals.len() < MAX_FAILURES && !self.refusals.contains(&label) {
            self.refusals.push(label);
        }
    }

    /// Records the error of a call that should have succeeded.
    pub(crate) fn error(&mut self, label: impl Display, error: &Error) {
        if let (true, Error::Unsupported(reason)) = (self.may_reject, error) {
            return self.refuse(reason);
        }
        self.runs += 1;
        self.fail(label, error);
    }

    /// Adds the results of another tally.
    pub(crate) fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.failed += other.failed;
        let remaining = MAX_FAILURES - self.failures.len();
        self.failures.extend(other.failures.into_iter().take(remaining));
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
    pub(crate) fn take<V>(&mut self, label: impl Display, result: Result<V, Error>) -> Option<V> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(label, &error);
                None
            }
        }
    }

    /// Compares with the first `m` samples of the reference.
    pub(crate) fn prefix<T: CudaScalar>(
        &mut self,
        label: impl Display,
        found: Result<Sample<T>, Error>,
        truth: &Truth<T>,
        m: usize,
    ) {
        if let Some(found) = self.take(&label, found) {
            self.check(label, truth.compare(&found, m));
        }
    }

    /// Compares with a sample of the CPU.
    pub(crate) fn sample<T: CudaScalar>(
        &mut self,
        label: impl Display,
        found: Result<Sample<T>, Error>,
        truth: &Sample<T>,
    ) {
        if let Some(found) = self.take(&label, found) {
            self.check(label, same(&found, truth));
        }
    }

    /// Compares a batch with samples of the CPU, cloud by cloud.
    pub(crate) fn batch<T: CudaScalar>(
        &mut self,
        label: impl Display,
        found: Result<Vec<Sample<T>>, Error>,
        truth: &[Sample<T>],
    ) {
        let Some(found) = self.take(&label, found) else { return };
        let result = match found.len() == truth.len() {
            false => Err(format!("{} clouds, not {}", found.len(), truth.len())),
            true => found.iter().zip(truth).enumerate().try_for_each(|(cloud, (found, truth))| {
                same(found, truth).map_err(|reason| format!("cloud {cloud}: {reason}"))
            }),
        };
        self.check(label, result);
    }
}
