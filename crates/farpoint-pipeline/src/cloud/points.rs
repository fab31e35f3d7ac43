//! From a cloud to points that can be sampled, with what a user should know of them.

use crate::Notes;
use crate::text::count;
use farpoint_io::{Cloud, Coordinates};
use rayon::prelude::*;
use std::borrow::Cow;

/// A larger share of rows that are exactly (0, 0, 0) is worth a warning.
const MANY_ZEROS: f64 = 0.01;

/// Which rows are used, and in which precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Leave out rows that are exactly (0, 0, 0).
    pub drop_zeros: bool,
    /// Sample double coordinates in single precision, after subtracting their minimum corner.
    pub single: bool,
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
            $crate::Points::F32($slice) => $body,
            $crate::Points::F64($slice) => $body,
        }
    };
}

impl<'a> Points<'a> {
    /// The points as they are.
    pub fn of(cloud: &'a Cloud) -> Self {
        match cloud.coordinates() {
            Coordinates::F32(points) => Self::F32(Cow::Borrowed(points)),
            Coordinates::F64(points) => Self::F64(Cow::Borrowed(points)),
        }
    }

    /// The points in double precision.
    pub fn widened(self) -> Vec<[f64; 3]> {
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
pub(crate) trait Number: Copy {
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

pub(crate) fn finite<T: Number>(row: &[T; 3]) -> bool {
    row.iter().all(|value| value.wide().is_finite())
}

pub(crate) fn zero<T: Number>(row: &[T; 3]) -> bool {
    row.iter().all(|value| value.wide() == 0.0)
}

/// The points of a cloud as `rows` says. `name` is that of the file, for what `notes` are told.
///
/// # Errors
/// A text, if there are rows and none can be used.
pub fn prepare<'a>(
    cloud: &'a Cloud,
    name: &str,
    rows: Rows,
    notes: &mut Notes,
) -> Result<Points<'a>, String> {
    let mut points = Points::of(cloud);
    let (all, bad, zeros) = (points.len(), points.unusable(), points.zeros());
    tell_rows(name, rows.drop_zeros, [all, bad, zeros], notes);
    if rows.drop_zeros && zeros > 0 {
        each_precision!(&mut points, points => drop_zeros(points.to_mut()));
    }
    if !points.is_empty() && points.first_usable().is_none() {
        return Err(format!("{name}: none of the {} rows can be used; check the file", count(all)));
    }
    if let (true, Points::F64(wide)) = (rows.single, &points) {
        let (corner, narrow) = narrowed(wide);
        tell_narrowed(name, corner, notes);
        points = Points::F32(Cow::Owned(narrow));
    }
    Ok(points)
}

/// Tells `notes` which of `all` rows are `bad` and which are `zeros`, and what is done with them.
pub(crate) fn tell_rows(
    name: &str,
    drop_zeros: bool,
    [all, bad, zeros]: [usize; 3],
    notes: &mut Notes,
) {
    let many = zeros as f64 > MANY_ZEROS * all as f64;
    let [all, unusable, empty] = [all, bad, zeros].map(count);
    if bad > 0 {
        notes.warn(format!(
            "{name}: {unusable} of {all} rows hold NaN or infinity and are left out"
        ));
    }
    if drop_zeros && zeros > 0 {
        notes.note(format!("{name}: {empty} of {all} rows are exactly (0, 0, 0) and are left out"));
    } else if many {
        notes.warn(format!(
            "{name}: {empty} of {all} rows are exactly (0, 0, 0), which some sensors write for \
             'no return'; --drop-zeros leaves them out"
        ));
    }
}

/// Tells `notes` what was subtracted before sampling in single precision.
pub(crate) fn tell_narrowed(name: &str, [x, y, z]: [f64; 3], notes: &mut Notes) {
    notes.note(format!(
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
    narrowed_of(points, |_| true)
}

/// As [`narrowed`], with the corner of the rows that are used.
pub(crate) fn narrowed_of(
    points: &[[f64; 3]],
    used: impl Fn(usize) -> bool,
) -> ([f64; 3], Vec<[f32; 3]>) {
    let mut corner = [f64::INFINITY; 3];
    let rows = points.iter().enumerate().filter(|(row, at)| used(*row) && finite(at));
    for (_, row) in rows {
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
