//! Facts counted from the points of a file.

use super::column;
use crate::input::{Points, each_precision};
use farpoint::Scalar;
use farpoint_io::{Cloud, Column};
use farpoint_pipeline::zeros;
use std::collections::BTreeMap;

/// Facts counted from coordinates.
pub(super) struct CoordinateFacts {
    /// Corners of the bounding box of the usable rows.
    pub(super) bounds: Option<[[f64; 3]; 2]>,
    pub(super) not_finite: usize,
    pub(super) zeros: usize,
    /// Rows whose coordinates occurred before, if requested: it takes a sort.
    pub(super) repeated: Option<usize>,
}

impl CoordinateFacts {
    pub(super) fn of(cloud: &Cloud, points: &Points<'_>, all: bool) -> Self {
        Self {
            bounds: each_precision!(points, points => bounds(points)),
            not_finite: points.unusable(),
            zeros: zeros(cloud),
            repeated: all.then(|| each_precision!(points, points => repeated(points))),
        }
    }
}

fn usable<T: Scalar>(points: &[[T; 3]]) -> impl Iterator<Item = [f64; 3]> {
    let rows = points.iter().filter(|row| row.iter().all(|value| value.is_finite()));
    rows.map(|row| row.map(Scalar::to_f64))
}

fn bounds<T: Scalar>(points: &[[T; 3]]) -> Option<[[f64; 3]; 2]> {
    usable(points).map(|row| [row, row]).reduce(|[low, high], [row, _]| {
        [
            std::array::from_fn(|axis| low[axis].min(row[axis])),
            std::array::from_fn(|axis| high[axis].max(row[axis])),
        ]
    })
}

/// Counts the usable rows whose coordinates occurred before.
fn repeated<T: Scalar>(points: &[[T; 3]]) -> usize {
    // Adding 0.0 makes -0.0 and 0.0 one.
    let mut keys: Vec<_> =
        usable(points).map(|row| row.map(|value| (value + 0.0).to_bits())).collect();
    keys.sort_unstable();
    keys.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// Facts counted from the usual attributes that are present.
#[derive(Default)]
pub(super) struct Attributes {
    /// Smallest and largest value.
    pub(super) intensity: Option<[f64; 2]>,
    /// Points of each class.
    pub(super) classes: Option<Counts>,
    /// Points of each return number.
    pub(super) returns: Option<Counts>,
}

/// Number of occurrences of each value.
pub(super) type Counts = BTreeMap<u64, usize>;

/// Maximum number of distinct values of a class attribute.
const MAX_CLASSES: usize = 256;

impl Attributes {
    pub(super) fn of(cloud: &Cloud) -> Self {
        let intensity =
            column(cloud, &["intensity", "Intensity", "scalar_Intensity", "reflectance", "i"]);
        let classes =
            column(cloud, &["classification", "Classification", "class", "scalar_Classification"]);
        let returns = column(cloud, &["return_number", "return_index"]);
        Self {
            intensity: intensity.as_ref().and_then(range),
            classes: classes.as_ref().and_then(counts),
            returns: returns.as_ref().and_then(counts),
        }
    }
}

fn values(column: &Column) -> impl Iterator<Item = f64> {
    (0..column.len()).map(|row| column.get(row)).filter(|value| value.is_finite())
}

fn range(column: &Column) -> Option<[f64; 2]> {
    values(column).map(|value| [value, value]).reduce(|[a, b], [c, _]| [a.min(c), b.max(c)])
}

/// Counts the values; `None` unless they are small whole numbers.
fn counts(column: &Column) -> Option<Counts> {
    let mut counts = Counts::new();
    for value in values(column) {
        if value < 0.0 || value.fract() != 0.0 || counts.len() > MAX_CLASSES {
            return None;
        }
        *counts.entry(value as u64).or_default() += 1;
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_counted_beyond_the_first() {
        let rows = [[0.0f32, 1.0, 2.0], [-0.0, 1.0, 2.0], [f32::NAN, 0.0, 0.0], [0.0, 1.0, 2.0]];
        assert_eq!(repeated(&rows), 2);
        assert_eq!(bounds(&rows), Some([[0.0, 1.0, 2.0]; 2]));
    }

    #[test]
    fn classes_are_counted() {
        let counted = counts(&Column::U8(vec![2, 6, 2])).unwrap();
        assert_eq!(counted.into_iter().collect::<Vec<_>>(), [(2, 2), (6, 1)]);
        assert!(counts(&Column::F32(vec![0.5])).is_none());
        assert_eq!(range(&Column::F32(vec![0.5, f32::NAN, -1.0])), Some([-1.0, 0.5]));
    }
}
