//! From a file to points that can be sampled, with the warnings a user should see.

use crate::args::Rows;
use crate::messages::{note, warn};
use crate::output::count;
use crate::progress::Progress;
use anyhow::{Result, anyhow};
use farpoint_io::{Cloud, Coordinates, Format, ReadOptions};
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

/// A larger share of rows that are exactly (0, 0, 0) is worth a warning.
const MANY_ZEROS: f64 = 0.01;

/// Reads a file; returns the seconds too.
///
/// # Errors
///
/// If the file can't be read; the text names it.
pub fn read(path: &Path, options: &ReadOptions) -> Result<(Cloud, f64)> {
    let name = name(path);
    let progress = Progress::start("reading", &name);
    let start = Instant::now();
    let cloud = farpoint_io::read(path, options)?;
    let seconds = start.elapsed().as_secs_f64();
    drop(progress);
    unused_options(&name, &cloud, options);
    cloud.warnings().iter().for_each(|warning| warn(&format!("{name}: {warning}")));
    Ok((cloud, seconds))
}

/// Warns of options that mean nothing to the format.
fn unused_options(name: &str, cloud: &Cloud, options: &ReadOptions) {
    let Some(format) = cloud.format() else { return };
    let xyz = options.xyz.is_some() && !matches!(format, Format::Text | Format::Raw);
    let columns = options.columns.is_some() && format != Format::Raw;
    for (unused, option, kind) in
        [(xyz, "--xyz", "text and raw files"), (columns, "--columns", "raw files")]
    {
        if unused {
            warn(&format!("{name}: {option} is for {kind} and changes nothing in {format}"));
        }
    }
}

/// What to call a path in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// The coordinates to be sampled: those of the file where nothing had to be changed. Rows
/// that are to be left out hold NaN.
#[derive(Debug)]
pub enum Points<'a> {
    /// Single precision.
    F32(Cow<'a, [[f32; 3]]>),
    /// Double precision.
    F64(Cow<'a, [[f64; 3]]>),
}

/// Runs the same expression on points of either precision.
#[macro_export]
macro_rules! each_precision {
    ($points:expr, $slice:ident => $body:expr) => {
        match $points {
            $crate::input::Points::F32($slice) => $body,
            $crate::input::Points::F64($slice) => $body,
        }
    };
}
pub use each_precision;

impl<'a> Points<'a> {
    /// The points as they are.
    pub fn of(cloud: &'a Cloud) -> Self {
        match cloud.coordinates() {
            Coordinates::F32(points) => Self::F32(Cow::Borrowed(points)),
            Coordinates::F64(points) => Self::F64(Cow::Borrowed(points)),
        }
    }

    /// The points in double precision.
    pub(crate) fn widened(self) -> Vec<[f64; 3]> {
        match self {
            Self::F32(points) => points.iter().map(|row| row.map(f64::from)).collect(),
            Self::F64(points) => points.into_owned(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        each_precision!(self, points => points.len())
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows with NaN or infinity.
    pub fn unusable(&self) -> usize {
        each_precision!(self, points => counted(points, |row| !finite(row)))
    }

    /// Number of rows that are exactly (0, 0, 0).
    pub fn zeros(&self) -> usize {
        each_precision!(self, points => counted(points, zero))
    }

    /// The first row without NaN and infinity.
    pub fn first_usable(&self) -> Option<usize> {
        each_precision!(self, points => points.iter().position(finite))
    }
}

/// The numbers of either precision, as far as this module looks at them.
trait Number: Copy {
    fn wide(self) -> f64;
}
impl Number for f32 {
    fn wide(self) -> f64 {
        f64::from(self)
    }
}
impl Number for f64 {
    fn wide(self) -> f64 {
        self
    }
}

/// How many rows are so.
fn counted<T: Sync>(rows: &[[T; 3]], so: impl Fn(&[T; 3]) -> bool + Sync) -> usize {
    rows.par_chunks(1 << 16).map(|rows| rows.iter().filter(|row| so(row)).count()).sum()
}

fn finite<T: Number>(row: &[T; 3]) -> bool {
    row.iter().all(|value| value.wide().is_finite())
}

fn zero<T: Number>(row: &[T; 3]) -> bool {
    row.iter().all(|value| value.wide() == 0.0)
}

/// Applies `--drop-zeros` and `--f32`, and warns of what a user may not expect in the file at `path`.
pub(crate) fn prepare<'a>(cloud: &'a Cloud, path: &Path, args: Rows) -> Result<Points<'a>> {
    let mut points = Points::of(cloud);
    let name = name(path);
    let (all, bad, zeros) = (points.len(), points.unusable(), points.zeros());
    tell(&name, args, [all, bad, zeros]);
    if args.drop_zeros && zeros > 0 {
        each_precision!(&mut points, points => drop_zeros(points.to_mut()));
    }
    if !points.is_empty() && points.first_usable().is_none() {
        return Err(anyhow!("{name}: none of the {} rows can be used; check the file", count(all)));
    }
    if let (true, Points::F64(wide)) = (args.f32, &points) {
        let (corner, narrow) = narrowed(wide);
        tell_narrowed(&name, corner);
        points = Points::F32(Cow::Owned(narrow));
    }
    Ok(points)
}

/// Says which of all rows are bad, which are zeros, and what is done with them.
pub(crate) fn tell(name: &str, args: Rows, [all, bad, zeros]: [usize; 3]) {
    if bad > 0 {
        let (bad, all) = (count(bad), count(all));
        warn(&format!("{name}: {bad} of {all} rows hold NaN or infinity and are left out"));
    }
    if args.drop_zeros && zeros > 0 {
        let (zeros, all) = (count(zeros), count(all));
        note(&format!("{name}: {zeros} of {all} rows are exactly (0, 0, 0) and are left out"));
    } else if zeros as f64 > MANY_ZEROS * all as f64 {
        let (zeros, all) = (count(zeros), count(all));
        warn(&format!(
            "{name}: {zeros} of {all} rows are exactly (0, 0, 0), which some sensors write for \
             'no return'; --drop-zeros leaves them out"
        ));
    }
}

/// Says what was subtracted.
pub(crate) fn tell_narrowed(name: &str, [x, y, z]: [f64; 3]) {
    note(&format!(
        "{name}: sampled in single precision, after subtracting the minimum corner ({x}, {y}, {z}); what is \
         written keeps its coordinates"
    ));
}

/// Makes rows of zeros unusable.
fn drop_zeros<T: Number + From<f32>>(points: &mut [[T; 3]]) {
    points.iter_mut().filter(|row| zero(row)).for_each(|row| *row = [f32::NAN.into(); 3]);
}

/// The minimum corner, and the points relative to it in single precision.
pub fn narrowed(points: &[[f64; 3]]) -> ([f64; 3], Vec<[f32; 3]>) {
    let mut corner = [f64::INFINITY; 3];
    for row in points.iter().filter(|row| finite(row)) {
        corner = std::array::from_fn(|axis| corner[axis].min(row[axis]));
    }
    let shift = |row: &[f64; 3]| std::array::from_fn(|axis| (row[axis] - corner[axis]) as f32);
    (corner, points.iter().map(shift).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowing_subtracts_first() {
        let rows = [[637_000.015_625, -2.0, 5.0], [637_000.0, 2.0, 5.25], [f64::NAN, 0.0, 0.0]];
        let (corner, narrow) = narrowed(&rows);
        assert_eq!(corner, [637_000.0, -2.0, 5.0]);
        assert_eq!(narrow[..2], [[0.015_625, 0.0, 0.0], [0.0, 4.0, 0.25]]);
        assert!(narrow[2][0].is_nan());
    }

    #[test]
    fn zeros_become_unusable() {
        let mut rows = [[0.0f32, -0.0, 0.0], [0.0, 0.0, 1.0]];
        drop_zeros(&mut rows);
        assert!(rows[0][0].is_nan());
        assert_eq!(rows[1], [0.0, 0.0, 1.0]);
    }
}
