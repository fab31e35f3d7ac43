//! Selection of the rows of the input that are sampled, and their coordinates.

use crate::disk::error::Error;
use farpoint_io::{Coordinates, Reader, Rows};

/// Selection of the rows that are used, and their precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// True if rows that are exactly (0, 0, 0) are left out.
    pub(crate) drop_zeros: bool,
    /// True if doubles become float32, relative to the minimum corner.
    pub(crate) narrow: bool,
}

/// Returns whether a row is neither NaN nor infinite.
pub(crate) fn finite(at: [f64; 3]) -> bool {
    at.iter().all(|x| x.is_finite())
}

impl Use {
    /// Returns whether a row is used.
    pub(crate) fn takes(self, points: &Points<'_>, row: usize) -> bool {
        finite(points.at(row)) && !(self.drop_zeros && points.is_zero(row))
    }
}

/// Storage of coordinates in the spool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stored {
    /// Float32, unchanged.
    Single,
    /// Float64, unchanged.
    Double,
    /// The integers of LAS, with scale and offset of each axis.
    Integers([(f64, f64); 3]),
    /// Doubles relative to this corner, as float32.
    Narrowed([f64; 3]),
}

impl Stored {
    /// Returns the storage for a file; `corner` is the minimum of the rows that are used.
    pub(crate) fn of(reader: &Reader, rows: Use, corner: [f64; 3]) -> Stored {
        match (reader.is_single(), rows.narrow, reader.transforms()) {
            (true, ..) => Stored::Single,
            (false, true, _) => Stored::Narrowed(corner),
            (false, false, Some(transforms)) => Stored::Integers(transforms),
            (false, false, None) => Stored::Double,
        }
    }

    /// Returns the bytes of a coordinate.
    pub(crate) fn size(self) -> usize {
        if self == Stored::Double { 8 } else { 4 }
    }

    /// Returns whether distances are float32.
    pub(crate) fn is_single(self) -> bool {
        matches!(self, Stored::Single | Stored::Narrowed(_))
    }

    /// Returns the columns of x, y and z.
    pub(crate) fn columns(self) -> [farpoint_tiles::Column; 3] {
        use farpoint_tiles::Column;
        match self {
            Stored::Single | Stored::Narrowed(_) => [Column::F32; 3],
            Stored::Double => [Column::F64; 3],
            Stored::Integers(axes) => axes.map(|(scale, offset)| Column::Integer { scale, offset }),
        }
    }
}

/// The rows of a part in all the forms that are needed.
pub(crate) struct Points<'a> {
    rows: &'a Rows<'a>,
    coordinates: Coordinates,
    integers: Option<Vec<[i32; 3]>>,
    stored: Stored,
}

impl<'a> Points<'a> {
    pub(crate) fn of(rows: &'a Rows<'a>, stored: Stored) -> Result<Points<'a>, Error> {
        let integers = match stored {
            Stored::Integers(_) => rows.integers(),
            _ => None,
        };
        Ok(Points { rows, coordinates: rows.coordinates()?, integers, stored })
    }

    pub(crate) fn len(&self) -> usize {
        self.coordinates.len()
    }

    pub(crate) fn at(&self, row: usize) -> [f64; 3] {
        self.coordinates.get(row)
    }

    /// Returns whether a row is (0, 0, 0) to its scanner.
    pub(crate) fn is_zero(&self, row: usize) -> bool {
        self.rows.is_zero(row, self.at(row))
    }

    /// Adds the bytes of a row's coordinates.
    pub(crate) fn push(&self, row: usize, out: &mut Vec<u8>) {
        match (&self.coordinates, self.stored, &self.integers) {
            (Coordinates::F32(points), ..) => {
                points[row].iter().for_each(|x| out.extend(x.to_le_bytes()));
            }
            (Coordinates::F64(_), Stored::Integers(_), Some(integers)) => {
                integers[row].iter().for_each(|n| out.extend(n.to_le_bytes()));
            }
            (Coordinates::F64(points), Stored::Narrowed(corner), _) => {
                let near = |axis: usize| (points[row][axis] - corner[axis]) as f32;
                (0..3).for_each(|axis| out.extend(near(axis).to_le_bytes()));
            }
            (Coordinates::F64(points), ..) => {
                points[row].iter().for_each(|x| out.extend(x.to_le_bytes()));
            }
        }
    }
}
