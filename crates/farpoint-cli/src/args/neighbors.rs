//! The arguments of `farpoint neighbors`.

use super::{Count, DeviceOptions, Length, Reading, Report};
use clap::ArgGroup;
use farpoint::{Method, Norm, Order};
use std::path::PathBuf;

const AMOUNT: &str = "Neighbors, one or both of";
const SEARCH: &str = "Search";

/// Find the neighbors of each point: the k nearest, or those within a radius.
///
/// Searches B, or A itself without B, for the neighbors of each point of A. The archive holds
/// 'distances' in the type of the coordinates and 'indices' (int64, rows of B, from 0), both with k
/// columns, and 'counts' (int64). Places without a neighbor have the index -1 and an infinite
/// distance. With --radius and without -k all points within the radius are written, one row after
/// the other, each row of A from its offset to the next.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES,
    group(ArgGroup::new("wanted").required(true).multiple(true).args(["k", "radius"])))]
pub(crate) struct Neighbors {
    /// Point cloud of the query points; '-' is stdin.
    #[arg(value_name = "A", help_heading = None::<&str>)]
    pub(crate) a: PathBuf,
    /// The point cloud that is searched [default: A].
    #[arg(value_name = "B", help_heading = None::<&str>)]
    pub(crate) b: Option<PathBuf>,
    /// Maximum number of neighbors: 16 or 1k.
    #[arg(short, long, value_name = "K", allow_negative_numbers = true, help_heading = AMOUNT)]
    pub(crate) k: Option<Count>,
    /// Only points nearer than this: 0.05, in the unit of the file, or 5cm (also mm, m, km, ft, usft, in).
    /// Files without a unit are assumed to be in meters.
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = AMOUNT)]
    pub(crate) radius: Option<Length>,
    /// Only points at least this far away, or at distance 0.
    #[arg(long, value_name = "R", requires = "radius", allow_negative_numbers = true,
        help_heading = SEARCH)]
    pub(crate) min_radius: Option<Length>,
    /// Include points exactly at the radius.
    #[arg(long, requires = "radius", help_heading = SEARCH)]
    pub(crate) inclusive: bool,
    /// Selection and order of the points within the radius: index (lowest first) or nearest
    /// [default: index].
    #[arg(long, value_name = "ORDER", requires = "radius", hide_possible_values = true,
        help_heading = SEARCH)]
    pub(crate) order: Option<OrderName>,
    /// Exclude each point from its own neighbors; only without B.
    #[arg(long, conflicts_with = "b", help_heading = SEARCH)]
    pub(crate) exclude_self: bool,
    /// Norm: 2 is the Euclidean distance, 1 the sum of the absolute differences.
    #[arg(long, value_name = "P", default_value = "2", value_parser = clap::value_parser!(u8).range(1..=2),
        help_heading = SEARCH)]
    norm: u8,
    /// Method: auto, tree, brute, reference (CPU) or plain (GPU); the result is the same.
    #[arg(long, value_name = "M", default_value = "auto", help_heading = SEARCH)]
    pub(crate) method: Method,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Leave out rows of zeros, (0, 0, 0), which some sensors write for 'no return'.
    #[arg(long, help_heading = "Input")]
    pub(crate) drop_zeros: bool,
    /// Write the arrays here; '-' is stdout.
    #[arg(short, long, value_name = "FILE.npz", help_heading = "Output")]
    pub(crate) output: PathBuf,
    /// Write squared distances.
    #[arg(long, help_heading = "Output")]
    pub(crate) squared: bool,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) place: DeviceOptions,
}

const EXAMPLES: &str = "\
Examples:
  farpoint neighbors scan.ply -k 16 --exclude-self -o near.npz
  farpoint neighbors centers.ply scan.ply -k 32 --radius 30cm -o balls.npz
  farpoint neighbors scan.laz --radius 5cm -o all.npz         all within 5 cm, of each point
  python -c 'import numpy; print(numpy.load(\"near.npz\")[\"indices\"])'";

impl Neighbors {
    pub(crate) fn norm(&self) -> Norm {
        if self.norm == 1 { Norm::One } else { Norm::Two }
    }

    /// Returns the order by which points within the radius are kept.
    pub(crate) fn order(&self) -> Order {
        match self.order {
            Some(OrderName::Nearest) => Order::Nearest,
            Some(OrderName::Index) | None => Order::Index,
        }
    }
}

/// Value of `--order`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OrderName {
    Index,
    Nearest,
}
