//! Arguments of the command that converts files.

use super::{Filters, Many, Reading, Report, Writing};
use std::path::PathBuf;

/// Convert a file to another format, with its points in their order.
///
/// Attributes keep their values under the names of the other format; those that it can't keep print a
/// warning. Coordinates are unchanged unless --precision or --scale is given.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Convert {
    /// The point cloud; '-' is stdin.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Leave out rows of zeros, (0, 0, 0), which some sensors write for 'no return'.
    #[arg(long, help_heading = "Input")]
    pub(crate) drop_zeros: bool,
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// Write the points here [default: the last of the names without an option].
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) many: Many,
}

const EXAMPLES: &str = "\
Examples:
  farpoint convert scan.e57 scan.laz
  farpoint convert scan.xyz.gz scan.ply --keep intensity=100..
  farpoint convert scans/ --output-dir ply --to ply --recursive
  farpoint convert 'tiles/*.laz' --merge -o all.laz";
