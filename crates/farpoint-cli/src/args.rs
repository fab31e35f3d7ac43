//! The arguments of every command, and what can be said about them before any work is done.

mod algorithm;
mod demo;
mod samplers;
mod which;

pub(crate) use algorithm::{Chosen, Method};
pub(crate) use demo::{Demo, Generate, Moved};
pub(crate) use samplers::{Approximate, Compare, Estimator, Keep, NpduOrder};
pub(crate) use which::Which;

use clap::{ArgGroup, Parser, Subcommand};
use farpoint::{Amount, Level, Start};
use std::path::PathBuf;

/// Exact farthest point sampling of point clouds.
#[derive(Debug, Parser)]
#[command(name = "farpoint", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  farpoint demo                                    see what it does
  farpoint sample scan.laz -o small.laz --ratio 0.25
  farpoint sample scan.pcd -o small.ply -n 10000
  farpoint sample velodyne.bin -n 4096 --indices rows.npy --json
  farpoint order scan.ply -o ordered.ply           every prefix is a level of detail
  farpoint chamfer before.ply after.ply            how far apart two clouds are
  farpoint compare scan.ply --ratio 0.25 -o look.png    samplers side by side
  farpoint info scan.e57

Files: PLY, PCD, LAS, LAZ, E57, NPY, NPZ, KITTI and nuScenes .bin, text, OBJ, OFF; '-' is stdin
or stdout.";

/// What `--version` prints. Made only then: asking for GPUs takes the driver a while.
pub(crate) fn version() -> String {
    let levels: Vec<_> = Level::available().iter().map(|level| level.name()).collect();
    let gpus = match farpoint_cuda::Properties::all() {
        Ok(gpus) => gpus.iter().map(|gpu| format!("GPU: {gpu}\n")).collect(),
        Err(error) => format!("GPU: none ({error})\n"),
    };
    format!(
        "farpoint {}\nSIMD: {} (this machine has {})\n{gpus}",
        env!("CARGO_PKG_VERSION"),
        Level::detect(),
        levels.join(", ")
    )
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Sample(Sample),
    Order(Order),
    Chamfer(Chamfer),
    Compare(Compare),
    Info(Info),
    Generate(Generate),
    Demo(Demo),
    #[command(hide = true)]
    Bench(Moved),
    #[command(hide = true)]
    Paper(Moved),
}

/// Choose points of a file so that they cover it evenly.
#[derive(Debug, clap::Args)]
#[command(after_help = SAMPLE_EXAMPLES,
    group(ArgGroup::new("amount").required(true).args(["count", "ratio", "spacing", "cell"])))]
pub(crate) struct Sample {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Write the sampled points here, with all their attributes if the format is the input's.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How many points to choose.
    #[arg(short = 'n', long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) count: Option<usize>,
    /// Which share of the points to choose, 0 to 1.
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub(crate) ratio: Option<f64>,
    /// Choose points until every point is within this distance of a chosen one.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) spacing: Option<f64>,
    /// grid only: one point of every occupied cell of this size, however many there are.
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub(crate) cell: Option<f64>,
    #[command(flatten)]
    pub(crate) run: Run,
    /// Write the chosen rows of the input (int64, in order of choice) here.
    #[arg(long, value_name = "FILE.npy")]
    pub(crate) indices: Option<PathBuf>,
    /// Count distances, updates, boxes tested and pruned, and show counts and times.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) approximate: Approximate,
}

const SAMPLE_EXAMPLES: &str = "\
Examples:
  farpoint sample scan.laz -o small.laz --ratio 0.25
  farpoint sample scan.ply -o even.ply --spacing 0.05      at most 5 cm from any point to a sample
  farpoint sample velodyne.bin -n 4096 --indices rows.npy --json
  farpoint sample scan.ply -o thin.ply --algorithm grid --cell 0.05       approximate
  zcat scan.xyz.gz | farpoint sample - -o - -n 1000 > small.xyz";

impl Sample {
    /// How many samples; clap has seen that one of the four is given.
    pub(crate) fn amount(&self) -> Amount {
        match (self.count, self.ratio, self.cell, self.spacing) {
            (Some(count), ..) => Amount::Count(count),
            (_, Some(ratio), ..) => Amount::Ratio(ratio),
            (_, _, Some(cell), _) => Amount::Cell(cell),
            (.., spacing) => Amount::Spacing(spacing.unwrap_or(f64::NAN)),
        }
    }
}

/// Sort a file farthest first: every prefix is an even sample.
///
/// The new column 'spacing' holds the distance of each point to those before it, which is the
/// covering radius of the prefix that ends before it; it is infinite for the first point.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  farpoint order scan.ply -o ordered.ply")]
pub(crate) struct Order {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Write the points here.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) run: Run,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is read, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Input {
    /// The point cloud; '-' is stdin.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Numbers per row of a raw float32 file (KITTI has 4, nuScenes 5).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..))]
    pub(crate) columns: Option<u8>,
    /// Leave out rows that are exactly (0, 0, 0), which some sensors write for 'no return'.
    #[arg(long)]
    pub(crate) drop_zeros: bool,
    /// Sample double coordinates in single precision, after subtracting their minimum corner.
    #[arg(long)]
    pub(crate) f32: bool,
}

/// How the sampler runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) sampler: Chosen,
    /// Row to start at, several separated by commas to go on from a sample, or 'random'
    /// [default: the first row]. For exact algorithms, npdu and fastpoint.
    #[arg(long, value_name = "I|random")]
    pub(crate) start: Option<StartAt>,
    /// Seed of the random start, of random, and of grid with --keep random.
    #[arg(long, value_name = "K")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) place: Where,
}

/// Where a job runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Where {
    /// Where to run: cpu, cuda (an NVIDIA GPU) or auto (a GPU if there is one and it pays).
    #[arg(long, value_name = "D", default_value = "auto")]
    pub(crate) device: Device,
    /// Which GPU, the first being 0 [default: 0].
    #[arg(long, value_name = "N")]
    pub(crate) gpu: Option<usize>,
    /// CPU only: threads to use [default: one per core].
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// CPU only, instruction set: portable, avx2 or avx512 [default: the best of this machine].
    #[arg(long, value_name = "LEVEL")]
    pub(crate) simd: Option<Level>,
}

/// Value of `--start`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartAt {
    Rows(Vec<usize>),
    Random,
}

impl std::str::FromStr for StartAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "random" {
            return Ok(Self::Random);
        }
        let rows = text.split(',').map(|row| row.trim().parse());
        let rows: Result<_, _> = rows.collect();
        rows.map(Self::Rows).map_err(|_| "give a row number (the first is 0) or 'random'".into())
    }
}

impl StartAt {
    pub(crate) fn with_seed(&self, seed: u64) -> Start {
        match self {
            Self::Random => Start::Random(seed),
            Self::Rows(rows) if rows.len() == 1 => Start::Index(rows[0]),
            Self::Rows(rows) => Start::Indices(rows.clone()),
        }
    }
}

/// Value of `--device`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Device {
    Auto,
    Cpu,
    Cuda,
}

/// Measure how far apart two clouds are: Chamfer and Hausdorff distance, F-score.
///
/// Every point is matched with the nearest of the other cloud. 'mean squared' is the mean of the
/// squared distances, 'chamfer' the sum of both; all else is not squared.
#[derive(Debug, clap::Args)]
#[command(after_help = CHAMFER_EXAMPLES)]
pub(crate) struct Chamfer {
    /// The first point cloud; '-' is stdin.
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The second point cloud.
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Also show which share of the points is within this distance, and the F-score.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
    /// Write A with an attribute 'distance' here, and a picture of it beside, as .png.
    #[arg(long, value_name = "OUT.ply")]
    pub(crate) per_point: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Where,
    /// Numbers per row of raw float32 files (KITTI has 4, nuScenes 5).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..))]
    pub(crate) columns: Option<u8>,
    /// Leave out rows that are exactly (0, 0, 0), which some sensors write for 'no return'.
    #[arg(long)]
    pub(crate) drop_zeros: bool,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

const CHAMFER_EXAMPLES: &str = "\
Examples:
  farpoint chamfer before.ply after.ply
  farpoint chamfer made.ply truth.laz --threshold 0.05 --json
  farpoint chamfer before.bin after.bin --per-point where.ply    also draws where.png";

/// Show what is in a file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  farpoint info scan.laz --json")]
pub(crate) struct Info {
    /// The point cloud; '-' is stdin.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// Numbers per row of a raw float32 file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..))]
    pub(crate) columns: Option<u8>,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}
