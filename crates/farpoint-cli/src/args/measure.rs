//! The arguments of the commands that need no file: they make clouds, show and measure.

use super::Device;
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

/// Make the RadiusFPS paper's figures and tables anew (arXiv 2606.06255).
///
/// Measures on generated clouds of the paper's sizes and on those given. Writes a CSV and a plot
/// for each figure and report.html, which shows all of them beside the paper's own numbers. What
/// an interrupted run has measured is kept in the folder and not measured again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  farpoint paper --quick -o results
  farpoint paper --data scans --data dragon.ply -o results
  farpoint paper --data scans --device cuda -o results")]
pub(crate) struct Paper {
    /// A cloud, or a folder of clouds: of each folder below it the largest is taken, up to 8 in
    /// all; may be repeated.
    #[arg(long, value_name = "PATH")]
    pub(crate) data: Vec<PathBuf>,
    /// Where exact sampling runs: cpu, cuda (an NVIDIA GPU) or auto (a GPU if there is one).
    #[arg(long, value_name = "D", default_value = "cpu")]
    pub(crate) device: Device,
    /// Which GPU, the first being 0 [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) gpu: Option<usize>,
    /// Small clouds and few runs: seconds instead of many minutes.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these, separated by commas: figure2, figure3, table4, figure14, figure15, table5.
    #[arg(long, value_name = "FIGURES", value_delimiter = ',')]
    pub(crate) only: Vec<crate::paper::Which>,
    /// Write everything into this folder.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

/// Measure the algorithms against each other.
///
/// Prints tables; with -o also writes CSV and SVG. Times are medians of runs made side by side;
/// those marked * are computed from the time of the first samples (brute force takes equally
/// long for each). Every run is checked: all algorithms must give the same indices.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  farpoint bench -o results kitti.bin scan.laz")]
pub(crate) struct Bench {
    /// Clouds to measure besides the generated ones.
    #[arg(value_name = "CLOUDS")]
    pub(crate) clouds: Vec<PathBuf>,
    /// Small clouds and few runs: a minute instead of many.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write CSV and SVG into this folder.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Only these parts, separated by commas: algorithms, growth, threads, ties, small.
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    pub(crate) only: Vec<crate::bench::Part>,
    /// Only the given clouds, no generated ones (where a part allows).
    #[arg(long, requires = "clouds")]
    pub(crate) no_generated: bool,
    /// Points of the generated room scan [default: 1,000,000, 50,000 if --quick].
    #[arg(long, value_name = "N")]
    pub(crate) points: Option<usize>,
    /// Runs of each measurement [default: 5, 3 if --quick].
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: Option<u16>,
    /// Threads where a part uses several [default: one a core].
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Numbers a row of raw float32 files.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..))]
    pub(crate) columns: Option<u8>,
}
