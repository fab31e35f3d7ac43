//! Which rows of a file count.

use std::path::PathBuf;

/// Some rows of a file; all of them unless set.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Selection {
    /// Use only the rows that this file lists (.npy of integers, or text; the first row is 0), each once. Among
    /// equals the row listed first is taken; --start and --indices are rows of the whole input.
    #[arg(long, value_name = "FILE", help_heading = "Sampling", conflicts_with = "mask")]
    pub(crate) rows: Option<PathBuf>,
    /// Use only the rows whose value in this file is 1, or true (.npy or text, a value per row of the input).
    #[arg(long, value_name = "FILE", help_heading = "Sampling")]
    pub(crate) mask: Option<PathBuf>,
}

impl Selection {
    /// The option that was given, if one was.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match (&self.rows, &self.mask) {
            (Some(_), _) => Some("--rows"),
            (None, Some(_)) => Some("--mask"),
            (None, None) => None,
        }
    }
}
