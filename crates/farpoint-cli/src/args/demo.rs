//! The arguments of the commands that need no file: they make clouds and show what farpoint does.

use farpoint_generate::Kind;
use std::path::PathBuf;

/// Make a point cloud, the same on every machine.
///
/// room, lidar and object are life-like; cube, sphere, clusters, lattice, line, equal and
/// duplicated are for tests.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  farpoint generate room -n 1000000 --seed 1 -o room.ply")]
pub(crate) struct Generate {
    /// room, lidar, object, cube, lattice, line, equal, duplicated, clusters or sphere.
    pub(crate) kind: Kind,
    /// How many points.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: usize,
    /// Another seed, another cloud.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Write the points here.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// Sample a generated room scan and show how it compares with random sampling.
///
/// Writes farpoint-demo.ply (the sample) and farpoint-demo.png (the comparison).
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Points of the scan.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) points: usize,
    /// Share of them to choose, 0 to 1.
    #[arg(long, value_name = "R", default_value_t = 0.25)]
    pub(crate) ratio: f64,
    /// Seed of the scan and of the random sample.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for the two files.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) out_dir: PathBuf,
}

/// A command that is no longer part of `farpoint`, with whatever it was given.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Moved {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<String>,
}

impl Moved {
    /// The error that says where the command `name` went.
    pub(crate) fn error(&self, name: &str) -> anyhow::Error {
        let words: String = self.words.iter().map(|word| format!(" {word}")).collect();
        anyhow::anyhow!(
            "'farpoint {name}' has moved to the repository's laboratory; in a clone of {} run \
             'cargo xtask lab {name}{words}'",
            env!("CARGO_PKG_REPOSITORY")
        )
    }
}
