//! From a cloud to points that can be sampled, with what a user should know of them.

use crate::Notes;
use crate::text::count;
use farpoint_io::{Cloud, Coordinates, Filter};
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

/// Some points of a cloud.
#[derive(Debug)]
pub struct Chosen<'a> {
    /// All of them.
    pub points: Points<'a>,
    /// Which are used, unless all are; of these, rows with NaN or infinity are still to be left out.
    pub used: Option<Used>,
    /// Out of so many rows: all, or those that were listed.
    pub of: usize,
}

/// Which rows of a cloud are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Used {
    /// Those that are true, of one value per row.
    Mask(Vec<bool>),
    /// These, each once; ties go to the row listed first.
    Rows(Vec<usize>),
}

impl Used {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Mask(mask) => mask.iter().filter(|used| **used).count(),
            Self::Rows(rows) => rows.len(),
        }
    }

    fn has(&self, row: usize) -> bool {
        match self {
            Self::Mask(mask) => mask.get(row) == Some(&true),
            Self::Rows(rows) => rows.contains(&row),
        }
    }

    /// Those of `listed`, in its order, that are used here too.
    fn and(&self, listed: Self) -> Self {
        match listed {
            Self::Mask(mask) => {
                let both = mask.iter().enumerate().map(|(row, used)| *used && self.has(row));
                Self::Mask(both.collect())
            }
            Self::Rows(rows) => Self::Rows(rows.into_iter().filter(|&row| self.has(row)).collect()),
        }
    }
}

/// Runs the same expression on points of either precision, `$some` being those that are used, `$all` the
/// slice of all. The expression is a `Result` whose error is made from [`farpoint::Error`].
#[macro_export]
macro_rules! each_chosen {
    ($chosen:expr, $all:ident, $some:ident => $body:expr) => {
        $crate::each_precision!(&$chosen.points, all => {
            let $all = &all[..];
            match &$chosen.used {
                None => {
                    let $some = $all;
                    $body
                }
                Some(used) => {
                    let selected = match used {
                        $crate::Used::Mask(mask) => farpoint::Selected::mask($all, mask),
                        $crate::Used::Rows(rows) => farpoint::Selected::rows($all, rows),
                    };
                    match selected {
                        Ok(some) => {
                            let $some = &some;
                            $body
                        }
                        Err(error) => Err(error.into()),
                    }
                }
            }
        })
    };
}

impl Chosen<'_> {
    /// Rows that are left out by choice.
    pub fn left_out(&self) -> usize {
        self.used.as_ref().map_or(0, |used| self.of - used.count())
    }

    /// Whether a row is used and holds neither NaN nor infinity; `None` if there is no such row.
    pub fn is_usable(&self, row: usize) -> Option<bool> {
        let chosen = self.used.as_ref().is_none_or(|used| used.has(row));
        each_precision!(&self.points, points => points.get(row).map(|at| chosen && finite(at)))
    }

    /// How many rows are used and hold neither NaN nor infinity.
    pub fn usable(&self) -> usize {
        match &self.used {
            None => self.points.len() - self.points.unusable(),
            Some(Used::Rows(rows)) => each_precision!(&self.points, points => {
                rows.iter().filter(|row| points.get(**row).is_some_and(finite)).count()
            }),
            Some(Used::Mask(mask)) => each_precision!(&self.points, points => {
                points.iter().zip(mask).filter(|(row, used)| **used && finite(row)).count()
            }),
        }
    }

    /// The first row that is used and holds neither NaN nor infinity.
    pub fn first_usable(&self) -> Option<usize> {
        match &self.used {
            None => self.points.first_usable(),
            Some(Used::Mask(_)) => {
                (0..self.points.len()).find(|&row| self.is_usable(row) == Some(true))
            }
            Some(Used::Rows(rows)) => each_precision!(&self.points, points => {
                rows.iter().copied().find(|&row| points.get(row).is_some_and(finite))
            }),
        }
    }

    /// The listed rows of these, each of which is a row of the cloud.
    pub fn among(self, listed: Used) -> Self {
        let of = listed.count();
        let used = match &self.used {
            None => listed,
            Some(used) => used.and(listed),
        };
        Self { used: Some(used), of, ..self }
    }
}

/// The rows of a cloud that are written when it is converted: those with NaN and infinity too.
///
/// # Errors
/// A text, if the filter asks for a field that is not there.
pub fn converted(
    cloud: &Cloud,
    name: &str,
    drop_zeros: bool,
    filter: &Filter,
    notes: &mut Notes,
) -> Result<Vec<usize>, String> {
    if filter.is_empty() && !drop_zeros {
        return Ok((0..cloud.len()).collect());
    }
    let mut mask = filter.mask(cloud, name).map_err(|error| error.to_string())?;
    if drop_zeros {
        each_precision!(Points::of(cloud), points => {
            points.iter().zip(&mut mask).for_each(|(row, used)| *used &= !zero(row));
        });
    }
    let rows: Vec<usize> = (0..cloud.len()).filter(|&row| mask[row]).collect();
    tell_filtered(name, [cloud.len(), rows.len()], notes);
    Ok(rows)
}

/// Says how many of all rows a filter uses.
pub fn tell_filtered(name: &str, [all, used]: [usize; 2], notes: &mut Notes) {
    notes.note(format!("{name}: {} of {} rows are used", count(used), count(all)));
}

/// The points of a cloud that `rows` and `filter` choose. `name` is that of the file, for what `notes` are
/// told.
///
/// # Errors
/// A text, if the filter asks for a field that is not there, or if it leaves rows and none can be used.
pub fn choose<'a>(
    cloud: &'a Cloud,
    name: &str,
    rows: Rows,
    filter: &Filter,
    notes: &mut Notes,
) -> Result<Chosen<'a>, String> {
    if filter.is_empty() && !rows.drop_zeros {
        return prepare(cloud, name, rows, notes).map(|points| Chosen {
            of: points.len(),
            points,
            used: None,
        });
    }
    let points = Points::of(cloud);
    let mut mask = filter.mask(cloud, name).map_err(|error| error.to_string())?;
    let kept = mask.iter().filter(|used| **used).count();
    if !filter.is_empty() {
        tell_filtered(name, [points.len(), kept], notes);
    }
    let [bad, zeros] = each_precision!(&points, points => {
        let chosen = || points.iter().zip(&mask).filter(|(_, used)| **used).map(|(row, _)| row);
        [chosen().filter(|row| !finite(row)).count(), chosen().filter(|row| zero(row)).count()]
    });
    tell_rows(name, rows.drop_zeros, [kept, bad, zeros], notes);
    if rows.drop_zeros && zeros > 0 {
        each_precision!(&points, points => {
            points.iter().zip(&mut mask).for_each(|(row, used)| *used &= !zero(row));
        });
    }
    if kept > 0 && bad == kept {
        return Err(format!(
            "{name}: none of the {} rows can be used; check the file",
            count(kept)
        ));
    }
    let points = match points {
        Points::F64(wide) if rows.single => {
            let used = |row: usize| mask[row];
            let (corner, narrow) = narrowed_of(&wide, used);
            tell_narrowed(name, corner, notes);
            Points::F32(Cow::Owned(narrow))
        }
        points => points,
    };
    Ok(Chosen { points, of: mask.len(), used: Some(Used::Mask(mask)) })
}

/// Tells `notes` which of `all` rows are `bad` and which are `zeros`, and what is done with them.
pub fn tell_rows(name: &str, drop_zeros: bool, [all, bad, zeros]: [usize; 3], notes: &mut Notes) {
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
pub fn tell_narrowed(name: &str, [x, y, z]: [f64; 3], notes: &mut Notes) {
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
fn narrowed_of(points: &[[f64; 3]], used: impl Fn(usize) -> bool) -> ([f64; 3], Vec<[f32; 3]>) {
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
