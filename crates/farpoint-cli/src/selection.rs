//! Some rows of a cloud, by `--rows` or `--mask`.

use crate::args;
use crate::input;
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::{Points as _, Selected, Subset};
use farpoint_pipeline::{Chosen, Used};
use std::path::Path;

/// Those of the chosen points that the options list.
///
/// # Errors
/// If a file can't be read, and if what it holds does not fit the cloud; the text names the file.
pub(crate) fn among<'a>(chosen: Chosen<'a>, options: &args::Selection) -> Result<Chosen<'a>> {
    let listed = read(options, chosen.points.len())?;
    Ok(match listed {
        Some(listed) => chosen.among(listed),
        None => chosen,
    })
}

/// What the options say of a cloud of so many points; `None` if they say nothing.
fn read(options: &args::Selection, points: usize) -> Result<Option<Used>> {
    let (option, path) = match (&options.rows, &options.mask) {
        (Some(path), _) => ("--rows", path),
        (None, Some(path)) => ("--mask", path),
        (None, None) => return Ok(None),
    };
    let numbers = farpoint_io::read_numbers(path).map_err(|error| anyhow!("{option} {error}"))?;
    let name = |error: farpoint::Error| anyhow!("{option} {}: {error}", input::name(path));
    // Checked now, so that what is wrong is named by its file.
    if options.rows.is_none() {
        let mask = truths(&numbers, path)?;
        Selected::mask(Blank(points), &mask).map_err(name)?;
        return Ok(Some(Used::Mask(mask)));
    }
    let selected = Selected::rows(Blank(points), &numbers).map_err(name)?;
    let rows = selected.subset().map_or(&[][..], Subset::rows);
    Ok(Some(Used::Rows(rows.iter().map(|&row| row as usize).collect())))
}

fn truths(numbers: &[i64], path: &Path) -> Result<Vec<bool>> {
    let truth = |(place, &number): (usize, &i64)| match number {
        0 => Ok(false),
        1 => Ok(true),
        other => bail!(
            "--mask {}: value {other} at place {place} is neither 0 nor 1; for numbers of rows give --rows",
            input::name(path)
        ),
    };
    numbers.iter().enumerate().map(truth).collect()
}

/// Refuses the options where they can't be heeded.
///
/// # Errors
/// If one was given.
pub(crate) fn refuse(options: &args::Selection, what: &str) -> Result<()> {
    let option = options.given();
    ensure!(option.is_none(), "{} is for {what}; leave it out", option.unwrap_or_default());
    Ok(())
}

/// So many points that nothing is known of.
struct Blank(usize);

impl farpoint::Points<f32> for Blank {
    fn len(&self) -> usize {
        self.0
    }
    fn dim(&self) -> usize {
        3
    }
    fn coordinate(&self, _: usize, _: usize) -> f32 {
        0.0
    }
}
