//! From a file to points that can be sampled, with the warnings a user should see.

use crate::args;
use crate::args::Filters;
use crate::messages::{self, note, warn};
use crate::progress::Progress;
use anyhow::{Result, anyhow};
use farpoint_io::{Cloud, Filter, Format, ReadOptions};
use farpoint_pipeline::{Chosen, Notes, Rows};
pub use farpoint_pipeline::{Points, each_precision, narrowed};
use std::path::Path;
use std::time::Instant;

/// Reads a file; returns the seconds too.
///
/// # Errors
///
/// If the file can't be read; the text names it.
pub fn read(path: &Path, options: &ReadOptions) -> Result<(Cloud, f64)> {
    read_within(path, options, &Filter::default())
}

/// As [`read`], for use with filters: of COPC only the nodes are read that these can use rows of.
pub(crate) fn read_for(
    path: &Path,
    options: &ReadOptions,
    filters: &Filters,
) -> Result<(Cloud, f64)> {
    read_within(path, options, &filters.filter().map_err(|wrong| anyhow!(wrong))?)
}

fn read_within(path: &Path, options: &ReadOptions, filter: &Filter) -> Result<(Cloud, f64)> {
    let name = name(path);
    let progress = Progress::start("reading", &name);
    let start = Instant::now();
    let cloud = farpoint_io::read_for(path, options, filter)?;
    let seconds = start.elapsed().as_secs_f64();
    drop(progress);
    unused_options(&name, &cloud, options);
    if let Some([read, all]) = cloud.nodes_read() {
        note(&format!("{name}: {read} of {all} nodes are read"));
    }
    cloud.warnings().iter().for_each(|warning| warn(&format!("{name}: {warning}")));
    Ok((cloud, seconds))
}

/// Warns of options that mean nothing to the format.
fn unused_options(name: &str, cloud: &Cloud, options: &ReadOptions) {
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
            warn(&format!("{name}: {option} is for {kind} and changes nothing in {format}"));
        }
    }
}

/// What to call a path in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Applies `--drop-zeros` and `--f32`, and warns of what a user may not expect in the file at `path`.
pub(crate) fn prepare<'a>(cloud: &'a Cloud, path: &Path, args: args::Rows) -> Result<Points<'a>> {
    let mut notes = Notes::default();
    let rows = Rows { drop_zeros: args.drop_zeros, single: args.f32 };
    let points = farpoint_pipeline::prepare(cloud, &name(path), rows, &mut notes);
    messages::pass_on(&notes);
    points.map_err(|error| anyhow!(error))
}

/// As [`prepare`], of the rows that the filters choose.
pub(crate) fn choose<'a>(
    cloud: &'a Cloud,
    path: &Path,
    args: args::Rows,
    filters: &Filters,
) -> Result<Chosen<'a>> {
    let mut notes = Notes::default();
    let rows = Rows { drop_zeros: args.drop_zeros, single: args.f32 };
    let filter = filters.filter().map_err(|wrong| anyhow!(wrong))?;
    let chosen = farpoint_pipeline::choose(cloud, &name(path), rows, &filter, &mut notes);
    messages::pass_on(&notes);
    chosen.map_err(|error| anyhow!(error))
}

/// Says which of all rows are bad, which are zeros, and what is done with them.
pub(crate) fn tell(name: &str, rows: args::Rows, counts: [usize; 3]) {
    let mut notes = Notes::default();
    farpoint_pipeline::tell_rows(name, rows.drop_zeros, counts, &mut notes);
    messages::pass_on(&notes);
}

/// Says what was subtracted.
pub(crate) fn tell_narrowed(name: &str, corner: [f64; 3]) {
    let mut notes = Notes::default();
    farpoint_pipeline::tell_narrowed(name, corner, &mut notes);
    messages::pass_on(&notes);
}
