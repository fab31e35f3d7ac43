//! The coordinates of a cloud, in either precision.

use farpoint_io::{Cloud, Coordinates};
use rayon::prelude::*;
use std::borrow::Cow;

/// Selection of the rows that are used, and their precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Leave out rows that are exactly (0, 0, 0).
    pub drop_zeros: bool,
    /// Sample double coordinates in single precision, after subtracting their minimum corner.
    pub single: bool,
}

/// The coordinates to be sampled: those of the file if nothing had to be changed. Rows that are left out hold NaN.
#[derive(Debug)]
pub enum Points<'a> {
    /// Single precision.
    F32(Cow<'a, [[f32; 3]]>),
    /// Double precision.
    F64(Cow<'a, [[f64; 3]]>),
}

/// Evaluates the same expression for points of either precision.
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
    /// Returns the points unchanged.
    pub fn of(cloud: &'a Cloud) -> Self {
        match cloud.coordinates() {
            Coordinates::F32(points) => Self::F32(Cow::Borrowed(points)),
            Coordinates::F64(points) => Self::F64(Cow::Borrowed(points)),
        }
    }

    /// Returns the points in double precision.
    pub fn widened(self) -> Vec<[f64; 3]> {
        match self {
            Self::F32(points) => points.iter().map(|row| row.map(f64::from)).collect(),
            Self::F64(points) => points.into_owned(),
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        each_precision!(self, points => points.len())
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of rows with NaN or infinity.
    pub fn unusable(&self) -> usize {
        each_precision!(self, points => count_rows(points, |row| !finite(row)))
    }

    /// Returns the first row without NaN and infinity.
    pub fn first_usable(&self) -> Option<usize> {
        each_precision!(self, points => points.iter().position(finite))
    }
}

/// The numbers of either precision, as far as this module needs them.
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

/// Returns the number of rows that are exactly (0, 0, 0), to their scanner.
pub fn zeros(cloud: &Cloud) -> usize {
    let rows = (0..cloud.len()).into_par_iter().with_min_len(1 << 16);
    rows.filter(|&row| is_zero(cloud, row)).count()
}

pub(crate) fn is_zero(cloud: &Cloud, row: usize) -> bool {
    cloud.is_zero(row as u64, cloud.coordinates().get(row))
}

/// Counts the rows that match the predicate.
fn count_rows<T: Sync>(rows: &[[T; 3]], predicate: impl Fn(&[T; 3]) -> bool + Sync) -> usize {
    rows.par_chunks(1 << 16).map(|rows| rows.iter().filter(|row| predicate(row)).count()).sum()
}

pub(crate) fn finite<T: Number>(row: &[T; 3]) -> bool {
    row.iter().all(|value| value.wide().is_finite())
}
