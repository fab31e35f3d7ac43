//! The arguments of `farpoint demo`.

use super::{Count, Ratio, Report, Writing};
use std::path::PathBuf;

/// Sample a generated room scan and show how it compares with random sampling.
///
/// Writes farpoint-demo.ply (the sample; --format sets another format) and farpoint-demo.png (the
/// comparison).
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Number of points of the scan: 10000, 10,000, 10k or 1e4.
    #[arg(
        long,
        value_name = "N",
        default_value = "1000000",
        allow_negative_numbers = true,
        help_heading = "Cloud"
    )]
    pub(crate) points: Count,
    /// Fraction of them to choose, 0 to 1 or in percent (25%).
    #[arg(
        long,
        value_name = "R",
        default_value = "0.25",
        allow_negative_numbers = true,
        help_heading = "Sampling"
    )]
    pub(crate) ratio: Ratio,
    /// Seed of the scan and of the random sample.
    #[arg(long, value_name = "K", default_value_t = 1, help_heading = "Cloud")]
    pub(crate) seed: u64,
    /// Folder for the two files.
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Output")]
    pub(crate) out_dir: PathBuf,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) report: Report,
}
