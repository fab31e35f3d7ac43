//! MCAP bags: `farpoint sample` of every message of a topic, and `farpoint info`.
//!
//! `choose` samples one message, `pace` keeps times, `write` writes the output, `report` and `info` print.

mod choose;
mod info;
mod pace;
mod report;
mod write;

pub(crate) use info::info;

use crate::args::{self, Approximate, Device, Keep, Reading};
use crate::check;
use crate::interrupt;
use anyhow::{Result, bail, ensure};
use choose::Chooser;
use farpoint_io::bag::{Bag, recordings};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// First bytes of an MCAP file.
const MAGIC: &[u8] = b"\x89MCAP0\r\n";

/// A bag: its files in order.
pub(crate) struct Recording {
    path: PathBuf,
    files: Vec<PathBuf>,
    /// True if it is a folder with a list of the files.
    folder: bool,
}

/// Error of a run in which some messages could not be read and were passed on.
#[derive(Debug)]
struct Unread {
    messages: u64,
    of: u64,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} messages could not be read and were passed on as they are",
            self.messages, self.of
        )
    }
}

impl std::error::Error for Unread {}

/// Returns whether the error is that some messages were passed on unread.
pub(crate) fn is_partial(error: &anyhow::Error) -> bool {
    error.is::<Unread>()
}

/// Returns whether a folder is a bag.
pub(crate) fn is_folder(path: &Path) -> Result<bool> {
    Ok(recordings(path)?.is_some())
}

/// Returns the bag at `path`, or `None` if the options select one message of it.
pub(crate) fn recording(path: &Path, reading: &Reading) -> Result<Option<Recording>> {
    if reading.recording.message.is_some() {
        return Ok(None);
    }
    let recording = |files, folder| Recording { path: path.to_owned(), files, folder };
    if let Some(files) = recordings(path)? {
        return Ok(Some(recording(files, true)));
    }
    // Pipes can be read once only.
    if reading.of_files().is_some() || !path.is_file() || !starts_as_one(path) {
        return Ok(None);
    }
    Ok(Some(recording(vec![path.to_owned()], false)))
}

/// As [`recording`], or `None` unless it is the only input and goes into one output.
pub(crate) fn whole(
    path: &Path,
    reading: &Reading,
    many: &args::Many,
) -> Result<Option<Recording>> {
    match many.output_dir.is_some() || many.one.is_some() || !many.more.is_empty() {
        true => Ok(None),
        false => recording(path, reading),
    }
}

/// Returns whether a file starts with [`MAGIC`]; read errors are left to the reader.
fn starts_as_one(path: &Path) -> bool {
    let mut start = [0; 8];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// Samples every message of a topic, and passes everything else on.
pub(crate) fn sample(args: &args::Sample, recording: &Recording) -> Result<()> {
    let output = checked(args, recording)?;
    let bags = recording.files.iter().map(|file| Bag::open(file)).collect::<Result<Vec<_>, _>>()?;
    let stop = interrupt::gentle();
    let request = args.request()?;
    let chooser = Chooser::new(&request);
    let done = write::all(&request, recording, &bags, output, &chooser, stop)?;
    let Some(done) = done else { interrupt::end() };
    report::print(args, recording, output, &done)?;
    match done.pace.unread {
        0 => Ok(()),
        messages => Err(Unread { messages, of: done.pace.messages() }.into()),
    }
}

/// Checks the options before anything is read, and returns the output.
fn checked<'a>(args: &'a args::Sample, recording: &Recording) -> Result<&'a Path> {
    let gpu = args.place.device == Device::Cuda || args.place.gpu.is_some();
    ensure!(
        !gpu,
        "messages are sampled side by side on the CPU; leave out --device cuda and --gpu"
    );
    check::sampling(args)?;
    let Approximate { keep, .. } = &args.approximate;
    let one = "is for one message; add --message K, or leave it out";
    let refused = [
        (args.output.indices.is_some(), "--indices"),
        (args.stats, "--stats"),
        (*keep == Some(Keep::Centroid), "--keep centroid"),
        (args.spool.is_some(), "--spool"),
        (args.resume, "--resume"),
    ];
    if let Some((_, option)) = refused.into_iter().find(|(given, _)| *given) {
        bail!("{option} {one}");
    }
    if let Some(option) = args.output.writing.given() {
        bail!("{option} {one}: a recording is written as a recording");
    }
    if let Some(option) = args.many.given() {
        bail!("{option} is about several files; add --output-dir, or leave it out");
    }
    let Some(output) = &args.output.output else {
        bail!(
            "no output is given; add -o OUT.mcap for all messages, or --message K to sample one of them"
        );
    };
    match recording.folder {
        true => write::check_folder(output)?,
        false => check::file("--output", output, &["mcap"], &[&recording.path])?,
    }
    let same =
        |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
    ensure!(
        !same(output, &recording.path),
        "{}: is the input; write to another name; the input is kept",
        output.display()
    );
    check::report(&args.report, &[&recording.path, output])?;
    check::stdout_once(output, &args.report)?;
    Ok(output)
}
