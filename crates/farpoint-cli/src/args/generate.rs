//! The arguments of `farpoint generate`.

use super::{CloudOutput, Count, Report};
use farpoint_generate::{Kind, Setting};
use std::str::FromStr;

/// Generate a point cloud, the same on every machine.
///
/// room, lidar and object are life-like; cube, sphere, clusters, lattice, line, equal and
/// duplicated are for tests. indoor and town are scenes for segmentation: a room with colors and the
/// classes of S3DIS, a turn of a LiDAR with intensities and the classes of SemanticKITTI.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Generate {
    /// room, lidar, object, cube, lattice, line, equal, duplicated, clusters, sphere, indoor or town.
    pub(crate) kind: GeneratedKind,
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
    /// indoor and town: also write colors or intensities, and the class of each point.
    #[arg(long, help_heading = "Labels")]
    pub(crate) labels: bool,
    #[command(flatten)]
    pub(crate) output: CloudOutput,
    #[command(flatten)]
    pub(crate) report: Report,
}

const EXAMPLES: &str = "\
Examples:
  farpoint generate room -n 1M --seed 1 -o room.ply
  farpoint generate indoor -n 200k --labels -o room.ply";

/// Kinds of generated clouds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GeneratedKind {
    Cloud(Kind),
    /// A scene, with classes if requested.
    Scene(Setting),
}

impl GeneratedKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cloud(kind) => kind.name(),
            Self::Scene(setting) => setting.name(),
        }
    }

    pub(crate) fn setting(self) -> Option<Setting> {
        match self {
            Self::Cloud(_) => None,
            Self::Scene(setting) => Some(setting),
        }
    }

    /// Generates the points alone.
    pub(crate) fn points(self, count: usize, seed: u64) -> Vec<[f32; 3]> {
        match self {
            Self::Cloud(kind) => farpoint_generate::generate(kind, count, seed),
            Self::Scene(setting) => farpoint_generate::labeled(setting, count, seed).points,
        }
    }
}

impl FromStr for GeneratedKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Some(setting) = Setting::ALL.into_iter().find(|setting| setting.name() == name) {
            return Ok(Self::Scene(setting));
        }
        let scenes: Vec<_> = Setting::ALL.iter().map(|setting| setting.name()).collect();
        name.parse().map(Self::Cloud).map_err(|error: farpoint_generate::ParseKindError| {
            format!("{error}, {}", scenes.join(", "))
        })
    }
}
