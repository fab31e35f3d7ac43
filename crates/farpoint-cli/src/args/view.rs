//! The arguments of `farpoint view`.

use super::{Count, DeviceOptions, Filters, Input, Report, Run};
use crate::picture::Up;
use std::path::PathBuf;

/// Write a page that shows the cloud in a browser: one file, no server, no network.
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
    /// Maximum number of points on the page, up to 5,000,000; each takes 12 to 20 bytes or more.
    #[arg(long, value_name = "COUNT", default_value = "1M", help_heading = "Output")]
    pub(crate) points: Count,
    /// Axis that points up [default: z with a CRS, else guessed from the shape].
    #[arg(long, value_name = "AXIS", help_heading = "Output")]
    pub(crate) up: Option<Up>,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) run: Run,
    #[command(flatten)]
    pub(crate) place: DeviceOptions,
}

/// Default number of points of a page.
const POINTS: Count = Count(1_000_000);

/// Options of a page written beside another output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PageOptions {
    /// Also write a page that shows the result in a browser: one file, no server, no network.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) view: Option<PathBuf>,
    /// Maximum number of points on the page of --view, up to 5,000,000 [default: 1M].
    #[arg(long, value_name = "COUNT", requires = "view")]
    points: Option<Count>,
}

impl PageOptions {
    /// Returns the maximum number of points of the page.
    pub(crate) fn max_points(&self) -> Count {
        self.points.unwrap_or(POINTS)
    }
}
