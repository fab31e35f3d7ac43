//! MCAP bags: `farpoint sample` of every message of some topics, and `farpoint info`.
//!
//! `choose` samples one message, `pace` keeps times, `write` writes the output, `report` and `info` print.

mod choose;
mod info;
mod pace;
mod report;
mod write;

pub(crate) use info::info;

use crate::args::{self, Device, Reading};
use crate::check;
use crate::interrupt;
use anyhow::{Result, anyhow, bail, ensure};
use choose::Chooser;
use farpoint_io::ReadOptions;
use farpoint_io::bag::{Bag, bag_files, refuse_other_bag};
use pace::Pace;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// First bytes of an MCAP file.
const MAGIC: &[u8] = b"\x89MCAP0\r\n";

/// A bag: its files in order.
pub(crate) struct BagInput {
    path: PathBuf,
    files: Vec<PathBuf>,
    /// True if it is a folder with a list of the files.
    folder: bool,
}

/// Error of a run in which some messages could not be read and were copied unchanged.
#[derive(Debug)]
struct UnreadMessages {
    messages: u64,
    total: u64,
}

impl fmt::Display for UnreadMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} messages could not be read and were copied unchanged",
            self.messages, self.total
        )
    }
}

impl std::error::Error for UnreadMessages {}

/// Returns whether the error is that some messages were copied unread.
pub(crate) fn is_partial(error: &anyhow::Error) -> bool {
    error.is::<UnreadMessages>()
}

/// Returns whether a folder is a bag.
pub(crate) fn is_folder(path: &Path) -> Result<bool> {
    Ok(bag_files(path)?.is_some())
}

/// Returns the bag at `path`, or `None` if the options select one message of it.
pub(crate) fn find(path: &Path, reading: &Reading) -> Result<Option<BagInput>> {
    if reading.bag.message.is_some() {
        return Ok(None);
    }
    let bag_input = |files, folder| BagInput { path: path.to_owned(), files, folder };
    if let Some(files) = bag_files(path)? {
        return Ok(Some(bag_input(files, true)));
    }
    // Pipes can be read once only.
    if reading.file_option().is_some() || !path.is_file() {
        return Ok(None);
    }
    if !starts_as_mcap(path) {
        refuse_other_bag(path)?;
        return Ok(None);
    }
    Ok(Some(bag_input(vec![path.to_owned()], false)))
}

/// Like [`find`], or `None` unless it is the only input and goes into one output.
pub(crate) fn find_only(
    path: &Path,
    reading: &Reading,
    many: &args::Many,
) -> Result<Option<BagInput>> {
    match many.output_dir.is_some() || many.one.is_some() || !many.more.is_empty() {
        true => Ok(None),
        false => find(path, reading),
    }
}

/// Returns whether a file starts with [`MAGIC`]; read errors are left to the reader.
fn starts_as_mcap(path: &Path) -> bool {
    let mut start = [0; 8];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// Samples every message of some topics, and copies everything else.
pub(crate) fn sample(args: &args::Sample, bag_input: &BagInput) -> Result<()> {
    let output = checked(args, bag_input)?;
    let bags = bag_input.files.iter().map(|file| Bag::open(file)).collect::<Result<Vec<_>, _>>()?;
    let stop = interrupt::defer_exit();
    let request = args.request_of(ReadOptions::default())?;
    let chooser = Chooser::new(&request);
    let names = &args.input.reading.bag.topic;
    let summary = write::write_all(names, bag_input, &bags, output, &chooser, stop)?;
    let Some(summary) = summary else { interrupt::end() };
    report::print(args, bag_input, output, &summary)?;
    match summary.total(Pace::unread) {
        0 => Ok(()),
        messages => Err(UnreadMessages { messages, total: summary.total(Pace::messages) }.into()),
    }
}

/// Checks the options before anything is read, and returns the output.
fn checked<'a>(args: &'a args::Sample, bag_input: &BagInput) -> Result<&'a Path> {
    let gpu = args.place.device.kind == Device::Cuda || args.place.gpu.is_some();
    ensure!(!gpu, "messages are sampled in parallel on the CPU; leave out --device cuda and --gpu");
    check::sample_options(args)?;
    let remedy = "is for one message; add --message K, or remove it";
    let unsupported = [
        (args.output.indices.is_some(), "--indices"),
        (args.stats, "--stats"),
        (args.limits.spool.is_some(), "--spool"),
        (args.limits.resume, "--resume"),
    ];
    if let Some((_, option)) = unsupported.into_iter().find(|(is_set, _)| *is_set) {
        bail!("{option} {remedy}");
    }
    if let Some(option) = args.output.writing.set_option() {
        bail!("{option} {remedy}: a bag is written as a bag");
    }
    if let Some(option) = args.many.set_option() {
        bail!("{option} is for several files; add --output-dir, or remove it");
    }
    let Some(output) = &args.output.output else {
        bail!(
            "no output is given; add -o OUT.mcap for all messages, or --message K to sample one of them"
        );
    };
    match bag_input.folder {
        true => write::check_folder(output)?,
        false => {
            let is_bag = output.extension().is_some_and(|end| end.eq_ignore_ascii_case("mcap"));
            let checked = check::file("--output", output, &["mcap"]);
            checked.map_err(|error| match is_bag {
                true => error,
                false => anyhow!("{error}; --message K writes one of its messages as any format"),
            })?
        }
    }
    check::stdout_once(output, &args.report)?;
    let inputs: Vec<_> =
        bag_input.files.iter().chain([&bag_input.path]).map(PathBuf::as_path).collect();
    let own = [("--output", Some(output.as_path()))];
    check::outputs(&args.report, &own, &inputs, &[args.filters.file()])?;
    Ok(output)
}
