//! The arguments of `farpoint clean`.

use super::Report;
use std::path::PathBuf;

/// Remove the files that killed runs left in a folder.
///
/// These are temporary files and folders (.farpoint-*), and folders of --spool that no run can resume. Files that a
/// process still uses stay, and so do runs that --resume continues.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  farpoint clean\n  farpoint clean thin --json\n")]
pub(crate) struct Clean {
    /// The folder of the outputs, or of the spool.
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) report: Report,
}
