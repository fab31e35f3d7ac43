//! Warnings and notes on a file, besides its result: the library prints nothing.

use std::sync::{Mutex, PoisonError};

/// Severity of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The result may not be what is expected.
    Warning,
    /// Background of the result.
    Note,
}

/// Warnings and notes in the order in which they arose.
#[derive(Clone, Debug, Default)]
pub struct Notes(Vec<(Kind, String)>);

impl Notes {
    pub(crate) fn add(&mut self, kind: Kind, text: &str) {
        self.0.push((kind, text.to_owned()));
    }

    /// Iterates over all of them.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, &str)> {
        self.0.iter().map(|(kind, text)| (*kind, text.as_str()))
    }
}

/// Stage of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The files of one cloud are opened.
    Opening,
    /// A cloud is read.
    Reading,
    /// A cloud is read into a spool that is kept: if the watch stops it, what was read is recorded.
    Spooling,
    /// Rows of several files are compared.
    Comparing,
    /// Points are chosen.
    Sampling,
    /// The chosen points are written.
    Writing,
    /// Nothing that takes time.
    Between,
}

/// Receives progress, warnings and notes while a request is planned and carried out.
pub trait Watch: Sync {
    /// Called when a stage begins, which ends the one before it, with its subject.
    fn stage(&self, _stage: Stage, _what: &str) {}

    /// Called with a warning or a note.
    fn report(&self, _kind: Kind, _text: &str) {}

    /// Called with a warning.
    fn warn(&self, text: &str) {
        self.report(Kind::Warning, text);
    }

    /// Called with a note.
    fn note(&self, text: &str) {
        self.report(Kind::Note, text);
    }

    /// Called with the warnings of a file.
    fn warnings(&self, of: &str, warnings: &[String]) {
        warnings.iter().for_each(|warning| self.warn(&format!("{of}: {warning}")));
    }

    /// Called with details for verbose output: the work done, and its method.
    fn detail(&self, _what: &str, _how: &str) {}

    /// Called with the number of chosen samples, of `total`; returns whether to go on.
    fn step(&self, _samples: usize, _total: usize) -> bool {
        self.should_continue()
    }

    /// Returns whether to go on.
    fn should_continue(&self) -> bool {
        true
    }
}

/// Keeps warnings and notes.
impl Watch for Mutex<Notes> {
    fn report(&self, kind: Kind, text: &str) {
        self.lock().unwrap_or_else(PoisonError::into_inner).add(kind, text);
    }
}
