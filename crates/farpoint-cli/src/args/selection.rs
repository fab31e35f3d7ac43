//! Which rows of a file count.

use anyhow::{Result, ensure};
use farpoint_pipeline::Listed;
use std::path::PathBuf;

/// Some rows of a file; all of them unless set.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Selection {
    /// Use only the rows that this file lists (.npy of integers, or text; the first row is 0), each once. Among
    /// equals the row listed first is taken; --start and --indices are rows of the whole input.
    #[arg(long, value_name = "FILE", help_heading = "Sampling", conflicts_with = "mask")]
    rows: Option<PathBuf>,
    /// Use only the rows whose value in this file is 1, or true (.npy or text, a value per row of the input).
    #[arg(long, value_name = "FILE", help_heading = "Sampling")]
    mask: Option<PathBuf>,
}

impl Selection {
    /// The file that was given, if one was.
    pub(crate) fn listed(&self) -> Option<Listed> {
        match (&self.rows, &self.mask) {
            (Some(path), _) => Some(Listed::Rows(path.clone())),
            (None, Some(path)) => Some(Listed::Mask(path.clone())),
            (None, None) => None,
        }
    }

    /// Refuses the options where they can't be heeded.
    ///
    /// # Errors
    /// If one was given; `what` is what they are for.
    pub(crate) fn refuse(&self, what: &str) -> Result<()> {
        let option = self.listed().map(|listed| listed.option());
        ensure!(option.is_none(), "{} is for {what}; leave it out", option.unwrap_or_default());
        Ok(())
    }
}
