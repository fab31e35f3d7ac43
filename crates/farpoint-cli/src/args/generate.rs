//! The arguments of `farpoint generate`.

use super::{CloudOutput, Count, Report};
use farpoint_generate::Kind;

/// Generate a point cloud, the same on every machine.
///
/// room, lidar and object are life-like; cube, sphere, clusters, lattice, line, equal and
/// duplicated are for tests.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Generate {
    /// room, lidar, object, cube, lattice, line, equal, duplicated, clusters or sphere.
    pub(crate) kind: Kind,
    /// Number of points: 10000, 10,000, 10k or 1e4.
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Cloud"
    )]
    pub(crate) count: Count,
    /// Seed of the cloud.
    #[arg(long, value_name = "K", default_value_t = 0, help_heading = "Cloud")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: CloudOutput,
    #[command(flatten)]
    pub(crate) report: Report,
}

const EXAMPLES: &str = "\
Examples:
  farpoint generate room -n 1M --seed 1 -o room.ply
  farpoint generate lidar -n 120k -o turn.npy";
