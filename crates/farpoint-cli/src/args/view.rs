//! The arguments of `farpoint view`.

use super::{Count, Filters, Input, Report, Run, Where};
use crate::picture::Up;
use std::path::PathBuf;

/// Write a page on which a browser shows the cloud: one file, no server, no network.
///
/// The page holds the first points in farthest-first order with their attributes. Its slider goes
/// through all prefixes, each an even sample whose covering radius is shown; points can be colored by
/// any attribute, clicked and measured.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  farpoint view scan.laz -o scan.html\n  farpoint view room.ply -o \
                        room.html --points 200k"
)]
pub(crate) struct View {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// Write the page here.
    #[arg(short, long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// How many points the page holds at most, up to 5,000,000; each takes 12 to 20 bytes and more.
    #[arg(long, value_name = "COUNT", default_value = "1M", help_heading = "Output")]
    pub(crate) points: Count,
    /// Which axis points up [default: guessed from the form of the cloud].
    #[arg(long, value_name = "AXIS", help_heading = "Output")]
    pub(crate) up: Option<Up>,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) run: Run,
    #[command(flatten)]
    pub(crate) place: Where,
}

/// Default number of points of a page.
const POINTS: Count = Count(1_000_000);

/// A page beside what else a command writes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Shown {
    /// Also write a page on which a browser shows the result: one file, no server, no network.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) view: Option<PathBuf>,
    /// How many points the page of --view holds at most, up to 5,000,000 [default: 1M].
    #[arg(long, value_name = "COUNT", requires = "view")]
    points: Option<Count>,
}

impl Shown {
    /// Returns the greatest number of points of the page.
    pub(crate) fn most(&self) -> Count {
        self.points.unwrap_or(POINTS)
    }
}
