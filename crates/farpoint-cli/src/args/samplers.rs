//! Arguments of the approximate samplers, and of the command that compares them.

use super::{Count, Input, PageOptions, Ratio, Report};
use clap::ArgGroup;
use farpoint::{Amount, approximate};
use std::path::{Path, PathBuf};

/// Options of the approximate samplers.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Approximate samplers")]
pub(crate) struct Approximate {
    /// grid: point of a cell to keep: first, random (--seed), center (nearest to it), or centroid, the mean of their
    /// positions with means of their attributes, the most frequent class, and the number of points of each cell
    /// [default: center].
    #[arg(long, value_name = "POINT", hide_possible_values = true)]
    pub(crate) keep_point: Option<Keep>,
    /// grid with --cell: leave out cells of fewer points [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) min_points: Option<u32>,
}

/// Value of `--keep-point`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Keep {
    First,
    Random,
    Center,
    Centroid,
}

impl Keep {
    /// Returns the name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Random => "random",
            Self::Center => "center",
            Self::Centroid => "centroid",
        }
    }

    /// Returns the library's choice. Centroids have a job of their own, which does not use this.
    pub(crate) fn of_cell(self, seed: u64) -> approximate::Keep {
        match self {
            Self::First => approximate::Keep::First,
            Self::Random => approximate::Keep::Random(seed),
            Self::Center | Self::Centroid => approximate::Keep::Center,
        }
    }
}

const AMOUNT: &str = "Amount, one of";
const SAMPLING: &str = "Sampling";
const OUTPUT: &str = "Output";

/// Run several samplers on one cloud: a table of how well each covers it, a picture, and a page.
///
/// Distances are in the unit of the file. 'radius' is the largest distance of a point to its
/// nearest sample, 'mean' the mean, 'p99' the 99th percentile; 'spacing' is the
/// distance of a sample to its nearest; 'chamfer' the means of the squared distances from the cloud to the sample
/// and back, added; 'unique' the fraction of distinct samples; 'ineffective' the fraction of computed distances that
/// changed nothing. Times are medians of up to three runs.
#[derive(Debug, clap::Args)]
#[command(after_help = COMPARE_EXAMPLES,
    group(ArgGroup::new("amount").required(true).args(["count", "ratio"])))]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Number of points to choose: 10000, 10,000, 10k or 1e4.
    #[arg(short = 'n', long, value_name = "COUNT", allow_negative_numbers = true,
        help_heading = AMOUNT)]
    pub(crate) count: Option<Count>,
    /// Fraction of the points to choose, 0 to 1 or in percent (25%).
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = AMOUNT)]
    pub(crate) ratio: Option<Ratio>,
    /// Samplers, separated by commas. Exact: auto, peak, tree, radius, naive, reference, one option each after a
    /// colon (radius:nvox=24). Approximate: grid (of center), grid:first, grid:random, grid:centroid, random.
    #[arg(
        long,
        value_name = "A,B,..",
        value_delimiter = ',',
        default_value = "auto,grid,grid:first,grid:centroid,random",
        help_heading = SAMPLING
    )]
    pub(crate) algorithms: Vec<super::SamplerName>,
    /// Seed of random and grid:random.
    #[arg(long, value_name = "K", default_value_t = 0, help_heading = SAMPLING)]
    pub(crate) seed: u64,
    /// Threads to use [default: one per core].
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..),
        help_heading = SAMPLING)]
    pub(crate) threads: Option<u16>,
    /// Draw a panel for each sampler here: the whole cloud and a close-up [default: farpoint-compare.png,
    /// with --view none].
    #[arg(short, long, value_name = "FILE.png|FILE.svg", help_heading = OUTPUT)]
    output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageOptions,
    /// Axis that points up in the picture and on the page [default: z with a CRS, else guessed from the shape].
    #[arg(long, value_name = "AXIS", help_heading = OUTPUT)]
    pub(crate) up: Option<crate::picture::Up>,
    /// Draw nothing.
    #[arg(long, conflicts_with = "output", help_heading = OUTPUT)]
    pub(crate) no_picture: bool,
    /// Write the table as CSV here.
    #[arg(long, value_name = "FILE.csv", help_heading = OUTPUT)]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: Report,
}

impl Compare {
    /// Returns the requested number of samples; clap ensures that one of the two is given.
    pub(crate) fn amount(&self) -> Amount {
        match self.count {
            Some(count) => Amount::Count(count.0),
            None => Amount::Ratio(self.ratio.map_or(f64::NAN, |ratio| ratio.0)),
        }
    }

    /// Returns the path of the picture, if one is drawn.
    pub(crate) fn picture(&self) -> Option<&Path> {
        match &self.output {
            _ if self.no_picture => None,
            Some(path) => Some(path),
            None => self.page.view.is_none().then_some(Path::new("farpoint-compare.png")),
        }
    }
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  farpoint compare scan.ply --ratio 0.25 -o look.png
  farpoint compare scan.bin -n 20000 --algorithms peak,tree,grid,random --csv times.csv
  farpoint compare scan.laz --ratio 1% --view samplers.html            a page to turn and zoom";
