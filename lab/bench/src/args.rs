//! Arguments of all commands.

use crate::gpu;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// farpoint's laboratory: measurements of the algorithms on this machine.
#[derive(Debug, Parser)]
#[command(name = "farpoint-lab", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Bench(Bench),
    Paper(Paper),
    Turns(Turns),
    /// Measure on a GPU.
    #[command(subcommand)]
    Gpu(gpu::Command),
}

/// Measure turns one by one at the rate of a LiDAR, also beside other work on the cores.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask lab turns 000000.bin 000001.bin --threads 1,2
  chrt -f 50 target/release/farpoint-lab turns 000000.bin --busy 1
  cargo xtask lab turns 000000.bin --hertz 0 --busy 2 --threads 1,2,4")]
pub(crate) struct Turns {
    /// Clouds, sampled in turn.
    #[arg(value_name = "CLOUDS", required = true)]
    pub(crate) clouds: Vec<PathBuf>,
    /// Number of turns for each number of threads.
    #[arg(long, value_name = "N", default_value = "300")]
    pub(crate) count: usize,
    /// Turns per second; 0: one after another.
    #[arg(long, value_name = "HZ", default_value = "10")]
    pub(crate) hertz: f64,
    /// Samples of each turn.
    #[arg(short = 'n', long, value_name = "N", default_value = "4096")]
    pub(crate) samples: usize,
    /// Numbers of threads, separated by commas.
    #[arg(long, value_name = "T", value_delimiter = ',', default_value = "1")]
    pub(crate) threads: Vec<usize>,
    /// Other processes that take a core each meanwhile.
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) busy: usize,
}

/// Value of `--device`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Device {
    Auto,
    Cpu,
    Cuda,
}

/// Measure and draw the RadiusFPS paper's figures and tables (arXiv 2606.06255).
///
/// Measures on generated clouds of the paper's sizes and on those given. Writes a CSV and plots for
/// each figure and report.html, which shows all of them beside the paper's own numbers and judges each
/// statement of the paper by a rule. Measurements of an interrupted run are kept in the folder and not
/// repeated.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask lab paper --quick -o results
  cargo xtask lab paper --data scans --data dragon.ply -o results
  cargo xtask lab paper --data scans --device cuda -o results
  cargo xtask lab paper --from results -o results")]
pub(crate) struct Paper {
    /// A cloud, or a folder of clouds: of each folder below it the largest is taken, up to 8 in
    /// all; may be repeated.
    #[arg(long, value_name = "PATH")]
    pub(crate) data: Vec<PathBuf>,
    /// Device of exact sampling: cpu, cuda (an NVIDIA GPU) or auto (a GPU if there is one).
    #[arg(long, value_name = "D", default_value = "cpu")]
    pub(crate) device: Device,
    /// Number of the GPU, the first being 0 [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) gpu: Option<usize>,
    /// Small clouds and few runs: seconds instead of many minutes.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these, separated by commas: figure2, figure3, table4, figure14, figure15, table5.
    #[arg(long, value_name = "FIGURES", value_delimiter = ',')]
    pub(crate) only: Vec<Which>,
    /// Measure nothing: draw and judge the results of an earlier run in this folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["data", "device", "gpu", "quick"])]
    pub(crate) from: Option<PathBuf>,
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
#[command(after_help = "Example:\n  cargo xtask lab bench -o results kitti.bin scan.laz")]
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
    /// Only these parts, separated by commas: algorithms, growth, threads, ties, small,
    /// operators.
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    pub(crate) only: Vec<Part>,
    /// Only the given clouds, no generated ones (where a part allows).
    #[arg(long, requires = "clouds")]
    pub(crate) no_generated: bool,
    /// Points of the generated room scan [default: 1,000,000, 50,000 if --quick].
    #[arg(long, value_name = "N")]
    pub(crate) points: Option<usize>,
    /// Runs of each measurement [default: 5, 3 if --quick].
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: Option<u16>,
    /// Threads where a part uses several [default: one per core].
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Numbers per row of raw float32 files.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..))]
    pub(crate) columns: Option<u8>,
}

/// The parts of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Every algorithm on every cloud, a quarter of its points.
    Algorithms,
    /// Ten times the points at the same ratio.
    Growth,
    /// One thread against all.
    Threads,
    /// Time of each stage of a sample, on 1, 2, 4 ... threads.
    Stages,
    /// Clouds full of ties and repeats.
    Ties,
    /// Small clouds, one by one and in batches.
    Small,
    /// Several neighbors of each point: k nearest, balls.
    Operators,
}

/// A figure or table of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Which {
    /// Spacing of farthest point samples and of random ones.
    Figure2,
    /// Share of the updates that change nothing.
    Figure3,
    /// Speed-up by each pruning (CPU) or fusion (GPU).
    Table4,
    /// Latency, memory and throughput against the sample size.
    Figure14,
    /// Speed-up against the number of voxels.
    Figure15,
    /// Quality of every sampler.
    Table5,
}
