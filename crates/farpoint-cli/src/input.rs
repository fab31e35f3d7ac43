//! Reading of points, with the warnings a user should see.

use crate::args::{self, Length, Many, Selection};
use crate::check;
use crate::messages::warn;
use crate::progress::ProgressWatch;
use anyhow::{Result, anyhow};
use farpoint_io::{Cloud, Filter, ReadOptions};
pub use farpoint_pipeline::text::name;
pub use farpoint_pipeline::{Points, each_precision, narrowed};
use farpoint_pipeline::{Rows, expand};
use std::path::{Path, PathBuf};

/// Reads a file; returns the seconds too.
///
/// # Errors
///
/// If the file can't be read; the text names it.
pub fn read(path: &Path, options: &ReadOptions) -> Result<(Cloud, f64)> {
    let filter = Filter::default();
    Ok(farpoint_pipeline::read(path, options, &filter, true, &ProgressWatch::default())?)
}

/// Returns the files of one cloud: the named one or, with `--merge`, all that are found, in sorted order.
pub(crate) fn one_cloud(first: &Path, many: &Many, selection: &Selection) -> Result<Vec<PathBuf>> {
    check::one_file(many)?;
    if !many.merge {
        return Ok(vec![first.to_owned()]);
    }
    selection.refuse("a single file")?;
    paths(first, &many.more, many.search.recursive)
}

/// Returns the named files, in sorted order.
pub(crate) fn paths(first: &Path, more: &[PathBuf], recursive: bool) -> Result<Vec<PathBuf>> {
    let inputs: Vec<PathBuf> = std::iter::once(first.to_owned()).chain(more.to_vec()).collect();
    let found = expand(&inputs, recursive, None, &ProgressWatch::default())?;
    Ok(found.into_iter().map(|found| found.path).collect())
}

/// Applies `--drop-zeros` and `--f32`, and warns of unusual rows in the file at `path`.
pub(crate) fn prepare<'a>(cloud: &'a Cloud, path: &Path, args: args::Rows) -> Result<Points<'a>> {
    let rows = Rows { drop_zeros: args.drop_zeros, single: args.f32 };
    let points = farpoint_pipeline::prepare(cloud, &name(path), rows, &ProgressWatch::default());
    points.map_err(|error| anyhow!(error))
}

/// Warns of two clouds in different units, between which distances have no meaning.
pub(crate) fn compare_units([a, b]: [(&Cloud, &Path); 2]) {
    let units = [a, b].map(|(cloud, _)| cloud.meters_per_unit());
    if let [Some(of_a), Some(of_b)] = units
        && (of_a / of_b - 1.0).abs() > 1e-5
    {
        let [a, b] = [a, b].map(|(_, path)| name(path));
        warn(&format!(
            "{a} is in units of {of_a} m and {b} in units of {of_b} m, so distances mix units; convert one first"
        ));
    }
}

/// Returns the unit of a file in meters if a length among `lengths`, such as `5cm`, has a unit of its own; the names of
/// the options are for messages.
pub(crate) fn unit(cloud: &Cloud, path: &Path, lengths: &[(&str, Option<Length>)]) -> Result<f64> {
    let unit = farpoint_pipeline::unit(cloud, &name(path), lengths, &ProgressWatch::default());
    unit.map_err(|error| anyhow!(error))
}
