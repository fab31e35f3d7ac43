//! The coordinates of the points.

use crate::bytes::parallel;
use crate::cloud::column::{Column, NumberType};
use std::ops::Range;

/// The x, y and z of every point, in the precision of the file: f32 stays f32; doubles, scaled
/// integers and text are f64.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Coordinates {
    F32(Vec<[f32; 3]>),
    F64(Vec<[f64; 3]>),
}

impl Coordinates {
    /// Returns the number of points.
    pub fn len(&self) -> usize {
        match self {
            Coordinates::F32(v) => v.len(),
            Coordinates::F64(v) => v.len(),
        }
    }

    /// Returns whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns point `row` as f64, which represents either precision exactly.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> [f64; 3] {
        match self {
            Coordinates::F32(v) => v[row].map(f64::from),
            Coordinates::F64(v) => v[row],
        }
    }

    /// Returns one axis of the given rows as a column.
    pub(crate) fn axis(&self, axis: usize, rows: &[usize]) -> Column {
        let count = rows.len();
        match self {
            Coordinates::F32(v) => Column::F32(parallel::values(count, |i| v[rows[i]][axis])),
            Coordinates::F64(v) => Column::F64(parallel::values(count, |i| v[rows[i]][axis])),
        }
    }

    pub(crate) fn kind(&self) -> NumberType {
        match self {
            Coordinates::F32(_) => NumberType::F32,
            Coordinates::F64(_) => NumberType::F64,
        }
    }

    /// Combines three columns. Only three f32 columns make f32 points.
    pub(crate) fn from_columns(x: &Column, y: &Column, z: &Column) -> Coordinates {
        if let (Column::F32(x), Column::F32(y), Column::F32(z)) = (x, y, z) {
            return Coordinates::F32(parallel::values(x.len(), |i| [x[i], y[i], z[i]]));
        }
        Coordinates::F64(parallel::values(x.len(), |i| [x.get(i), y.get(i), z.get(i)]))
    }
}

/// Returns the minimum and maximum finite value of each axis; `None` without a point.
pub(crate) fn bounds(coordinates: &Coordinates) -> Option<[[f64; 3]; 2]> {
    let none = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    let one = |row: usize| {
        let point = coordinates.get(row);
        match point.iter().all(|value| value.is_finite()) {
            true => [point, point],
            false => none,
        }
    };
    let join = |a: [[f64; 3]; 2], b: [[f64; 3]; 2]| {
        [
            std::array::from_fn(|axis| a[0][axis].min(b[0][axis])),
            std::array::from_fn(|axis| a[1][axis].max(b[1][axis])),
        ]
    };
    let of_block = |rows: Range<usize>| rows.map(one).fold(none, join);
    let blocks = parallel::map(parallel::blocks(coordinates.len()), of_block);
    let found = blocks.into_iter().fold(none, join);
    (found[0][0] <= found[1][0]).then_some(found)
}

/// Returns whether float32 holds all coordinates exactly.
pub(crate) fn is_single(coordinates: &Coordinates) -> bool {
    let holds = |value: &f64| f64::from(*value as f32) == *value || value.is_nan();
    match coordinates {
        Coordinates::F32(_) => true,
        Coordinates::F64(points) => parallel::all(parallel::blocks(points.len()), |rows| {
            points[rows].as_flattened().iter().all(holds)
        }),
    }
}
