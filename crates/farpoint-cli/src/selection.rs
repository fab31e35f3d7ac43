//! Some rows of a cloud, by `--rows` or `--mask`.

use crate::args;
use crate::input;
use anyhow::{Result, anyhow, bail, ensure};
use farpoint::{Scalar, Selected};
use std::path::Path;

/// Which rows count.
pub(crate) enum Selection {
    Rows(Vec<i64>),
    Mask(Vec<bool>),
}

impl Selection {
    /// What the options say of a cloud of so many points; `None` if they say nothing.
    ///
    /// # Errors
    /// If a file can't be read, and if what it holds does not fit the cloud; the text names the file.
    pub(crate) fn read(options: &args::Selection, points: usize) -> Result<Option<Self>> {
        let (option, path) = match (&options.rows, &options.mask) {
            (Some(path), _) => ("--rows", path),
            (None, Some(path)) => ("--mask", path),
            (None, None) => return Ok(None),
        };
        let numbers =
            farpoint_io::read_numbers(path).map_err(|error| anyhow!("{option} {error}"))?;
        let name = |error: farpoint::Error| anyhow!("{option} {}: {error}", input::name(path));
        let found = match options.rows {
            Some(_) => Self::Rows(numbers),
            None => Self::Mask(truths(&numbers, path)?),
        };
        // Checked now, so that what is wrong is named by its file.
        match &found {
            Self::Rows(rows) => Selected::rows(Blank(points), rows).map(drop),
            Self::Mask(mask) => Selected::mask(Blank(points), mask).map(drop),
        }
        .map_err(name)?;
        Ok(Some(found))
    }

    /// Rows that count.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Mask(mask) => mask.iter().filter(|selected| **selected).count(),
        }
    }

    /// These of a cloud's points.
    ///
    /// # Errors
    /// If they do not fit the cloud.
    pub(crate) fn of<'a, T: Scalar>(
        &self,
        points: &'a [[T; 3]],
    ) -> Result<Selected<&'a [[T; 3]]>, farpoint::Error> {
        match self {
            Self::Rows(rows) => Selected::rows(points, rows),
            Self::Mask(mask) => Selected::mask(points, mask),
        }
    }
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
