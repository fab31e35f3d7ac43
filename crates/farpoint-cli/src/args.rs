//! Arguments of every command, and checks of them before any work is done.

mod algorithm;
mod clean;
mod convert;
mod demo;
mod files;
mod filters;
mod generate;
mod manual;
mod many;
mod neighbors;
mod numbers;
mod place;
mod sampler_name;
mod samplers;
mod view;

pub(crate) use algorithm::Method;
pub(crate) use clean::Clean;
pub(crate) use convert::Convert;
pub(crate) use demo::Demo;
pub(crate) use files::{Input, Reading, Report, Rows, Writing};
pub(crate) use filters::Filters;
pub(crate) use generate::Generate;
pub(crate) use manual::{Completions, Man};
pub(crate) use many::{FileSearch, Many};
pub(crate) use neighbors::Neighbors;
pub(crate) use numbers::{CellSize, Count, Length, Ratio, Size};
pub(crate) use place::{Device, DeviceOptions, Run, Selection, StartAt};
pub(crate) use sampler_name::SamplerName;
pub(crate) use samplers::{Approximate, Compare, Keep};
pub(crate) use view::{PageOptions, View};

use crate::hints::holds;
use crate::messages::Verbosity;
use crate::picture::Up;
use clap::{Arg, ArgGroup, CommandFactory, Parser, Subcommand};
use farpoint::Level;
use std::path::{Path, PathBuf};

/// A file with the option that names it, if it is set.
pub(crate) type Named<'a> = (&'static str, Option<&'a Path>);

/// Exact farthest point sampling of point clouds.
#[derive(Debug, Parser)]
#[command(name = "farpoint", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) messages: Messages,
}

/// Options that `-h` shows of commands with many.
const COMMON: &str = "count ratio spacing cell k radius threshold points density drop_zeros area keep output indices \
     per_point view csv map format json algorithm algorithms device output_dir";

/// Options that the help of 'sample' names at its end only.
const RARE: &str = "f32 gpu simd node_points crs_wkt";

/// Returns the arguments: of a command with many, `-h` shows the common ones in a line each, `--help` all.
pub(crate) fn command() -> clap::Command {
    Args::command().mut_subcommands(|command| {
        let (many, is_sample) =
            (command.get_arguments().count() > 15, command.get_name() == "sample");
        match many {
            true => command.mut_args(|arg| brief(arg, is_sample)),
            false => command,
        }
    })
}

/// Shortens the help of an argument that `-h` shows.
fn brief(arg: Arg, is_sample: bool) -> Arg {
    let name = arg.get_id().to_string();
    let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let long = arg.get_long_help().map_or_else(|| text.clone(), ToString::to_string);
    let ends = [". ", ": ", ", ", "; ", " ["].into_iter().filter_map(|end| text.find(end));
    let short = text[..ends.min().unwrap_or(text.len())].trim_end_matches('.').to_owned();
    let is_common = arg.is_positional() || holds(COMMON, &name);
    let arg = arg.help(short).long_help(long).hide_short_help(!is_common);
    if is_sample && holds(RARE, &name) { arg.hide_long_help(true) } else { arg }
}

/// Verbosity of messages on stderr.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Messages {
    /// Print results and errors only: no warnings, notes or progress.
    #[arg(short, long, global = true, conflicts_with = "verbose", hide_short_help = true, help_heading = None::<&str>)]
    quiet: bool,
    /// Print each stage and its time to stderr.
    #[arg(short, long, global = true, hide_short_help = true, help_heading = None::<&str>)]
    verbose: bool,
}

impl Messages {
    pub(crate) fn verbosity(self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  farpoint demo                                    see what it does
  farpoint sample scan.laz -o small.laz --ratio 0.25
  farpoint sample scan.pcd -o small.ply -n 10000
  farpoint sample velodyne.bin -n 4096 --indices rows.npy --json
  farpoint order scan.ply -o ordered.ply           every prefix is a level of detail
  farpoint order scan.laz -o scan.copc.laz         an octree for viewers of COPC
  farpoint convert scan.e57 scan.laz               into another format
  farpoint chamfer before.ply after.ply            distances between two clouds
  farpoint neighbors scan.ply -k 16 -o near.npz    the 16 nearest of each point
  farpoint compare scan.ply --ratio 0.25 -o look.png    compare samplers
  farpoint view scan.laz -o scan.html              a page for a browser
  farpoint info scan.e57                           contents of a file
  farpoint sample drive.mcap --topic /lidar -n 4096 -o out.mcap      each message of a bag

Files: PLY, PCD, LAS, LAZ, E57, NPY, NPZ, KITTI and nuScenes .bin, text, OBJ, OFF, MCAP; '-' is
stdin or stdout.";

/// Returns the text of `--version`. Computed only then: querying GPUs takes the driver a while.
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
    Sample(Box<Sample>),
    Order(Box<Order>),
    Convert(Convert),
    Chamfer(Chamfer),
    Neighbors(Box<Neighbors>),
    Compare(Compare),
    View(View),
    Info(Info),
    Generate(Generate),
    Demo(Demo),
    Clean(Clean),
    Completions(Completions),
    Man(Man),
}

/// Choose points of a file so that they cover it evenly.
#[derive(Debug, clap::Args)]
#[command(after_help = SAMPLE_EXAMPLES,
    group(ArgGroup::new("amount").required(true).args(["count", "ratio", "spacing", "cell"])))]
pub(crate) struct Sample {
    #[command(flatten)]
    pub(crate) amount: AmountArgs,
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) filters: Filters,
    #[command(flatten)]
    pub(crate) output: SampleOutput,
    #[command(flatten)]
    pub(crate) report: Report,
    /// Count distances, updates, boxes tested and pruned, and show counts and times.
    #[arg(long, help_heading = "Report")]
    pub(crate) stats: bool,
    #[command(flatten)]
    pub(crate) run: Run,
    #[command(flatten)]
    pub(crate) approximate: Approximate,
    #[command(flatten)]
    pub(crate) place: DeviceOptions,
    #[command(flatten)]
    pub(crate) many: Many,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// Limits of the memory of a run.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Memory")]
pub(crate) struct Limits {
    /// Memory limit, such as 8GiB: a cloud that needs more is sampled through the disk, with the same result. Of
    /// several files, those that fit are processed in parallel [default: free memory, half of it for several files].
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Size>,
    /// Sample through files in this folder, which are kept if the run is interrupted [default, if the cloud does
    /// not fit in memory: a folder beside the output, removed at the end, or by the next run if this one is
    /// killed].
    #[arg(long, value_name = "DIR")]
    pub(crate) spool: Option<PathBuf>,
    /// Resume the interrupted run in the folder of --spool.
    #[arg(long)]
    pub(crate) resume: bool,
}

/// Number of points to choose; clap ensures that exactly one of these is set.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Amount, one of")]
pub(crate) struct AmountArgs {
    /// Number of points to choose: 10000, 10,000, 10k or 1e4. Of several files, and with --merge, a cloud with fewer
    /// is kept whole; for a single file that is an error.
    #[arg(
        short = 'n',
        long,
        alias = "at-most",
        value_name = "COUNT",
        allow_negative_numbers = true
    )]
    pub(crate) count: Option<Count>,
    /// Fraction of the points to choose, 0 to 1 or in percent (25%).
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub(crate) ratio: Option<Ratio>,
    /// Choose until every point is this near to a chosen one: 0.05, in the unit of the file, or 5cm (also mm, m, km, ft, usft, in). Files without a unit are assumed to be in
    /// meters.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) spacing: Option<Length>,
    /// One point per occupied cell of this size, by --algorithm grid: 0.2 or 20cm, or 0.2,0.2,0.1 for cells of another
    /// height. Cells are counted from 0, so that clouds share them.
    #[arg(long, visible_alias = "voxel", value_name = "G", allow_negative_numbers = true)]
    pub(crate) cell: Option<CellSize>,
}

/// Output of 'sample'.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct SampleOutput {
    /// Write the sampled points here, with all their attributes if the format is the input's.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the chosen rows of the input here, int64 in order of choice.
    #[arg(long, value_name = "FILE.npy")]
    pub(crate) indices: Option<PathBuf>,
    /// Write the chosen points, and --indices, in the order of the input instead of that of choice: makes
    /// LAZ a quarter to a half smaller. A prefix of the file is then no sample.
    #[arg(long)]
    pub(crate) sorted: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

const SAMPLE_EXAMPLES: &str = "\
Examples:
  farpoint sample scan.laz -o small.laz --ratio 0.25
  farpoint sample scan.ply -o even.ply --spacing 5cm       at most 5 cm from any point to a sample
  farpoint sample velodyne.bin -n 4096 --indices rows.npy --json
  farpoint sample scan.ply -o thin.ply --algorithm grid --cell 5cm        approximate
  farpoint sample scans/ --output-dir thin --ratio 0.25 --recursive       a folder
  farpoint sample 'tiles/*.laz' --merge -o all.laz --spacing 0.1          tiles as one cloud
  farpoint sample scan.laz -o ground.laz --ratio 0.1 --keep classification=2
  farpoint sample country.laz -o thin.laz --ratio 0.25 --memory 8GiB      larger than memory
  farpoint sample survey.csv -o few.laz -n 10k --xyz Easting,Northing,Height
  farpoint sample drive.mcap --topic /lidar -n 4096 -o out.mcap --drop-zeros      each message
  farpoint sample drive.mcap -o out.mcap --algorithm grid --cell 20cm --keep-point centroid
  farpoint sample drive.mcap --message 3 -n 4096 -o turn.ply              one message
  zcat scan.xyz.gz | farpoint sample - -o - -n 1000 > small.xyz

Also, as in 'order': --f32, --gpu, --simd, --node-points, --crs-wkt.";

/// Sort a file farthest first: every prefix is an even sample.
///
/// The new column 'spacing' holds the distance of each point to those before it, which is the
/// covering radius of the prefix that ends before it; it is infinite for the first point. COPC (.copc.laz)
/// gets levels from these distances instead of the column.
#[derive(Debug, clap::Args)]
#[command(after_help = ORDER_EXAMPLES)]
pub(crate) struct Order {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) filters: Filters,
    #[command(flatten)]
    pub(crate) output: OrderOutput,
    #[command(flatten)]
    pub(crate) page: PageOptions,
    /// Axis that points up on the page [default: z with a CRS, else guessed from the shape].
    #[arg(long, value_name = "AXIS", requires = "view", help_heading = "Output")]
    pub(crate) up: Option<Up>,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) run: Run,
    #[command(flatten)]
    pub(crate) place: DeviceOptions,
    #[command(flatten)]
    pub(crate) many: Many,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

const ORDER_EXAMPLES: &str = "\
Examples:
  farpoint order scan.ply -o ordered.ply
  farpoint order scan.laz -o scan.copc.laz                     levels of detail for viewers, as COPC
  farpoint order scan.laz -o ordered.laz --view scan.html      and a page to look at";

/// Output of 'order'.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OrderOutput {
    /// Write the points here.
    #[arg(short, long, value_name = "FILE", required_unless_present = "output_dir")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// Output of a cloud.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CloudOutput {
    /// Write the points here.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// Measure the distance between two clouds: Chamfer and Hausdorff distance, F-score.
///
/// Every point is matched with the nearest of the other cloud. 'mean squared' is the mean of the
/// squared distances, 'chamfer' the sum of both; all else is not squared.
#[derive(Debug, clap::Args)]
#[command(after_help = CHAMFER_EXAMPLES)]
pub(crate) struct Chamfer {
    /// The first point cloud; '-' is stdin. Of two folders, files of the same name are compared.
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The second point cloud.
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    #[command(flatten)]
    pub(crate) search: FileSearch,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Leave out rows of zeros, (0, 0, 0), which some sensors write for 'no return'.
    #[arg(long, help_heading = "Input")]
    pub(crate) drop_zeros: bool,
    /// Write A with an attribute 'distance' here, and a picture beside it (.png).
    #[arg(long, value_name = "OUT", help_heading = "Output")]
    pub(crate) per_point: Option<PathBuf>,
    /// Axis that points up in the picture [default: z with a CRS, else guessed from the shape].
    #[arg(long, value_name = "AXIS", requires = "per_point", help_heading = "Output")]
    pub(crate) up: Option<Up>,
    #[command(flatten)]
    pub(crate) writing: Writing,
    /// Also show the fraction of points within this distance, and the F-score.
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Report")]
    pub(crate) threshold: Option<Length>,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) place: DeviceOptions,
}

const CHAMFER_EXAMPLES: &str = "\
Examples:
  farpoint chamfer before.ply after.ply
  farpoint chamfer made.ply truth.laz --threshold 5cm --json
  farpoint chamfer before.bin after.bin --per-point where.ply    also draws where.png
  farpoint chamfer before/ after/ --threshold 5cm                pairs of files of the same name";

/// Show the contents of a file.
///
/// For LAS, LAZ and E57, only the header is read if that is sufficient.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  farpoint info scan.laz --json\n  farpoint info scan.laz --points\
    \n  farpoint info drive.mcap\n"
)]
pub(crate) struct Info {
    /// The point cloud; '-' is stdin.
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// More inputs: files, folders, patterns such as 'scans/**/*.laz', and lists of these (@list.txt).
    #[arg(value_name = "FILE")]
    pub(crate) more: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) search: FileSearch,
    /// Show all files as one cloud.
    #[arg(long, help_heading = "Many files")]
    pub(crate) merge: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Read all points: actual bounds, intensities, classes and returns, and the numbers of rows with NaN,
    /// with zeros, and with coordinates that occurred before.
    #[arg(long, help_heading = "Report")]
    pub(crate) points: bool,
    /// Read all points and show their density in plan view, per m² (or square unit) of occupied cells, and their
    /// spacing. Cells are one meter wide, or as much wider as it takes for 10 points on average.
    #[arg(long, help_heading = "Report")]
    pub(crate) density: bool,
    /// Draw a map of the densities of all files here.
    #[arg(long, value_name = "FILE.png", requires = "density", help_heading = "Report")]
    pub(crate) map: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: Report,
}

impl Info {
    /// Returns whether the header is not enough.
    pub(crate) fn reads_points(&self) -> bool {
        self.points || self.density
    }
}
