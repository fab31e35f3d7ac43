//! Rows of a cloud that a file lists.

use crate::RowSelection;
use crate::text::name;
use farpoint::{Points as _, Selected, Subset};
use std::path::{Path, PathBuf};

/// A file that lists the rows that are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowList {
    /// Their numbers.
    Rows(PathBuf),
    /// A value for each row.
    Mask(PathBuf),
}

impl RowList {
    /// Returns the option, as in messages.
    pub fn option(&self) -> &'static str {
        match self {
            Self::Rows(_) => "`rows`",
            Self::Mask(_) => "`mask`",
        }
    }

    /// Reads the rows of a cloud of `points` points. Errors name the file.
    pub(crate) fn read(&self, points: usize) -> Result<RowSelection, String> {
        let (Self::Rows(path) | Self::Mask(path)) = self;
        let error_of_file = |what: String| format!("{} {what}", self.option());
        let invalid = |error: farpoint::Error| error_of_file(format!("{}: {error}", name(path)));
        let numbers =
            farpoint_io::read_numbers(path).map_err(|error| error_of_file(error.to_string()))?;
        match self {
            Self::Mask(_) => {
                let mask = parse_mask(&numbers, path).map_err(error_of_file)?;
                Selected::mask(Blank(points), &mask).map_err(invalid)?;
                Ok(RowSelection::Mask(mask))
            }
            Self::Rows(_) => {
                let selected = Selected::rows(Blank(points), &numbers).map_err(invalid)?;
                let rows = selected.subset().map_or(&[][..], Subset::rows);
                Ok(RowSelection::Rows(rows.iter().map(|&row| row as usize).collect()))
            }
        }
    }
}

fn parse_mask(numbers: &[i64], path: &Path) -> Result<Vec<bool>, String> {
    let truth = |(place, &number): (usize, &i64)| match number {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(format!(
            "{}: value {other} at place {place} is neither 0 nor 1; use `rows` for row numbers",
            name(path)
        )),
    };
    numbers.iter().enumerate().map(truth).collect()
}

/// This many points without known coordinates.
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
