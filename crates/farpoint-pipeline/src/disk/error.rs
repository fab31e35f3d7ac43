//! Errors, with advice to the user.

use crate::text::bytes;
use farpoint_io::remedy;
use std::io;
use std::path::{Path, PathBuf};

/// Error of this module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be read, or the output not written.
    #[error(transparent)]
    File(#[from] farpoint_io::Error),
    /// The job cannot be done on this cloud.
    #[error(transparent)]
    Job(#[from] farpoint::Error),
    /// Sampling failed.
    #[error(transparent)]
    Tiles(#[from] farpoint_tiles::Error),
    /// A file of the spool cannot be read or written.
    #[error("{}: cannot be {what}: {source}; {fix}", path.display())]
    Spool {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        what: &'static str,
        /// Error of the operating system.
        source: io::Error,
        /// Advice to the user.
        fix: &'static str,
    },
    /// A spool that cannot be used: another run's, truncated, changed, or of another input.
    #[error("{}: {what}; {fix}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// Description of the problem.
        what: String,
        /// Advice to the user.
        fix: String,
    },
    /// An error in the input or the request.
    #[error("{name}: {what}; {fix}")]
    Input {
        /// The input.
        name: String,
        /// Description of the problem.
        what: String,
        /// Advice to the user.
        fix: String,
    },
    /// Fewer bytes of memory are allowed than the work needs.
    #[error("{name}: {what} needs {} MiB of memory, {} is allowed; {fix}", needed.div_ceil(1 << 20), size(*allowed))]
    Memory {
        /// The input.
        name: String,
        /// Purpose of the memory.
        what: &'static str,
        /// Bytes to allow for the whole run.
        needed: u64,
        /// Bytes that are allowed.
        allowed: u64,
        /// Advice to the user.
        fix: &'static str,
    },
    /// The request can't be fulfilled; the text says why and what to do.
    #[error("{0}")]
    Refused(String),
    /// The caller canceled the run.
    #[error("stopped")]
    Stopped,
}

/// Formats an amount of memory that may be less than a MiB.
fn size(amount: u64) -> String {
    if amount < 1 << 20 { format!("{} KiB", amount >> 10) } else { format!("{} MiB", amount >> 20) }
}

impl From<String> for Error {
    fn from(what: String) -> Self {
        Self::Refused(what)
    }
}

impl Error {
    pub(crate) fn through(name: &str, needed: u64, allowed: u64) -> Error {
        let what = "sampling through the disk";
        Error::Memory { name: name.to_owned(), what, needed, allowed, fix: "allow more" }
    }

    pub(crate) fn converting(name: &str, needed: u64, allowed: u64) -> Error {
        let what = "an output that needs all chosen points at once";
        let fix = "write the input's format, or allow more";
        Error::Memory { name: name.to_owned(), what, needed, allowed, fix }
    }

    pub(crate) fn no_space(path: &Path, needed: u64, free: u64) -> Error {
        let [needed, free] = [needed.next_multiple_of(1 << 20), free].map(bytes);
        let what = format!("sampling through the disk needs about {needed} here, {free} are free");
        let fix = "free space, or choose another folder with `spool`";
        Error::unusable(path, what, fix)
    }

    pub(crate) fn written(path: &Path, source: io::Error) -> Error {
        let fix = match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => {
                "the disk is full: free space, or choose another folder with `spool`; \
                 a run in such a folder can be resumed with `resume=True`"
            }
            _ => remedy(&source).unwrap_or("check the folder and its permissions"),
        };
        Error::Spool { path: path.to_owned(), what: "written", source, fix }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        let fix = "the spool is truncated or its disk is failing: start again without `resume`";
        let fix = remedy(&source).unwrap_or(fix);
        Error::Spool { path: path.to_owned(), what: "read", source, fix }
    }

    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Error {
        let fix = remedy(&source).unwrap_or("use the name of a folder that can be read");
        Error::Spool { path: path.to_owned(), what: "read", source, fix }
    }

    pub(crate) fn read_input(name: &str, source: io::Error) -> Error {
        Error::File(farpoint_io::Error::Read { name: name.to_owned(), source })
    }

    pub(crate) fn unusable(path: &Path, what: impl Into<String>, fix: impl Into<String>) -> Error {
        Error::Unusable { path: path.to_owned(), what: what.into(), fix: fix.into() }
    }
}
