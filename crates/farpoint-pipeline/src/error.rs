//! Errors that stop a run over many files before or between files. The error of one file is a text in its row.

use std::io;
use std::path::Path;

/// Reason why no file, or no further file, is worked on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument can't be used.
    #[error("{name}: {what}; {fix}")]
    Input {
        /// The path or option at fault.
        name: String,
        /// Description of the problem.
        what: String,
        /// Advice to the user.
        fix: String,
    },
    /// The system refuses.
    #[error("{name}: {source}; {fix}")]
    System {
        /// The file or folder.
        name: String,
        /// The system's reason.
        source: io::Error,
        /// Advice to the user.
        fix: &'static str,
    },
}

impl Error {
    pub(crate) fn input(name: &Path, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Input { name: name.display().to_string(), what: what.into(), fix: fix.into() }
    }

    pub(crate) fn system(name: &Path, source: io::Error, fix: &'static str) -> Self {
        let fix = farpoint_io::remedy(&source).unwrap_or(fix);
        Self::System { name: name.display().to_string(), source, fix }
    }
}
