//! What is read: one file, or several as one cloud.

use crate::disk::Error;
use crate::notes::{Stage, Watch, noted};
use crate::text::{count, name};
use crate::{Notes, Request};
use farpoint_io::{
    Cloud, EqualRows, Filter, Format, Merged, MergedFile, ReadOptions, Scan, memory,
};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Memory for rows that may be equal, where the system does not tell what is free.
const SOME: u64 = 1 << 30;

/// What is read.
#[derive(Debug)]
pub(crate) enum Source {
    /// One file.
    File(PathBuf),
    /// Several as one cloud.
    Merged(Box<Merged>),
}

/// A cloud that was read.
#[derive(Debug)]
pub struct Read {
    /// The cloud.
    pub cloud: Cloud,
    /// What to call it in messages.
    pub name: String,
    /// How long reading took.
    pub seconds: f64,
    /// Of several files.
    pub joined: Option<Joined>,
}

/// What is told of several files that are one cloud.
#[derive(Clone, Debug)]
pub struct Joined {
    /// Each with its rows.
    pub files: Vec<MergedFile>,
    /// `None` if rows were not compared.
    pub equal: Option<EqualRows>,
}

impl Source {
    /// Reads the cloud as a request says.
    pub(crate) fn read(&self, request: &Request, watch: &dyn Watch) -> Result<Read, Error> {
        match self {
            Self::File(path) => {
                Ok(read(path, &request.reading, &request.filter, request.command, watch)?)
            }
            Self::Merged(merged) => read_merged(merged, watch),
        }
    }
}

/// Reads a file: of COPC only the nodes that the filter can use rows of. `unused` says that a warning tells which
/// options mean nothing to its format.
///
/// # Errors
/// If the file can't be read; the text names it.
pub fn read(
    path: &Path,
    options: &ReadOptions,
    filter: &Filter,
    unused: bool,
    watch: &dyn Watch,
) -> Result<Read, farpoint_io::Error> {
    let name = name(path);
    watch.stage(Stage::Reading, &name);
    let start = Instant::now();
    let cloud = farpoint_io::read_for(path, options, filter)?;
    let seconds = start.elapsed().as_secs_f64();
    watch.stage(Stage::Between, "");
    noted(watch, |notes| {
        if unused {
            unused_options(&name, &cloud, options, notes);
        }
        if let Some([read, all]) = cloud.nodes_read() {
            notes.note(format!("{name}: {read} of {all} nodes are read"));
        }
        cloud.warnings().iter().for_each(|warning| notes.warn(format!("{name}: {warning}")));
    });
    Ok(Read { cloud, name, seconds, joined: None })
}

/// Warns of options that mean nothing to the format.
fn unused_options(name: &str, cloud: &Cloud, options: &ReadOptions, notes: &mut Notes) {
    let Some(format) = cloud.format() else { return };
    let xyz = options.xyz.is_some() && !matches!(format, Format::Text | Format::Raw);
    let columns = options.columns.is_some() && format != Format::Raw;
    let other = format != Format::Mcap;
    for (unused, option, kind) in [
        (xyz, "--xyz", "text and raw files"),
        (columns, "--columns", "raw files"),
        (other && options.topic.is_some(), "--topic", "MCAP recordings"),
        (other && options.message.is_some(), "--message", "MCAP recordings"),
    ] {
        if unused {
            notes.warn(format!("{name}: {option} is for {kind} and changes nothing in {format}"));
        }
    }
}

/// Opens the files as one cloud; what can't be read in parts may take so much memory.
///
/// # Errors
/// As [`Merged::open`].
pub fn open_merged(
    paths: &[PathBuf],
    reading: &ReadOptions,
    memory: Option<u64>,
    watch: &dyn Watch,
) -> Result<Merged, farpoint_io::Error> {
    watch.stage(Stage::Opening, &format!("{} files", count(paths.len())));
    let merged = Merged::open(paths, reading, memory)?;
    watch.stage(Stage::Between, "");
    noted(watch, |notes| merged.warnings().iter().for_each(|warning| notes.warn(warning)));
    Ok(merged)
}

/// Reads all rows of several files into memory, and counts those that are equal.
///
/// # Errors
/// As [`Scan::load`].
pub fn read_merged(merged: &Merged, watch: &dyn Watch) -> Result<Read, Error> {
    let name = merged.scan().name().to_owned();
    watch.stage(Stage::Reading, &name);
    let start = Instant::now();
    let cloud = merged.scan().load()?;
    let free = memory::available().unwrap_or(SOME);
    let equal = merged.equal_rows_of(&cloud, free / 4);
    watch.stage(Stage::Between, "");
    let joined = Some(Joined::compared(merged, equal, watch));
    Ok(Read { cloud, name, seconds: start.elapsed().as_secs_f64(), joined })
}

/// The rows of several files one part after another, within so much memory.
pub(crate) fn in_parts(
    merged: Merged,
    memory: u64,
    watch: &dyn Watch,
) -> Result<(Scan, Joined), Error> {
    watch.stage(Stage::Comparing, merged.scan().name());
    let threads = (memory / 4 / merged.scan().memory_a_part().max(1)).clamp(1, 1 << 10);
    let threads = rayon::current_num_threads().min(threads as usize);
    let equal = merged.equal_rows(memory / 4, threads)?;
    watch.stage(Stage::Between, "");
    let joined = Joined::compared(&merged, equal, watch);
    Ok((merged.into_scan(), joined))
}

impl Joined {
    /// Returns what the headers alone tell.
    pub fn of_headers(merged: &Merged) -> Self {
        Self { files: merged.files().to_vec(), equal: None }
    }

    fn compared(merged: &Merged, equal: EqualRows, watch: &dyn Watch) -> Self {
        if equal.rows > 0 {
            let (name, rows) = (merged.scan().name(), equal_rows(equal));
            let what =
                format!("{name}: {rows} rows are equal to a row of an earlier file; they stay");
            noted(watch, |notes| notes.note(what));
        }
        Self { equal: Some(equal), ..Self::of_headers(merged) }
    }
}

/// Their number, as an estimate if it is one.
pub fn equal_rows(equal: EqualRows) -> String {
    format!("{}{}", if equal.about { "about " } else { "" }, count(equal.rows))
}
