//! Result of a search: k places per point, or ragged; as numbers and as arrays of a file.

use anyhow::Result;
use farpoint::{Neighbors, Norm, Scalar, WithinBall};
use farpoint_io::{Array, Values, write_arrays};
use std::path::Path;

/// The neighbors of each row.
pub(super) enum SearchResult<T> {
    /// At most k neighbors.
    Places(Neighbors<T>),
    /// All neighbors in a ball.
    Ragged(WithinBall<T>),
}

/// Numbers of neighbors, and the largest distance.
pub(super) struct Spread {
    /// Total over all rows.
    pub(super) neighbors: usize,
    /// Least and largest number of a row that was not left out.
    pub(super) fewest: usize,
    pub(super) most: usize,
    /// Number of rows that were not left out and have none.
    pub(super) without: usize,
    /// The largest distance; NaN without neighbors.
    pub(super) farthest: f64,
}

/// A number type whose slices a file can hold.
pub(super) trait Stored: Scalar {
    fn values(slice: &[Self]) -> Values<'_>;
}

impl Stored for f32 {
    fn values(slice: &[f32]) -> Values<'_> {
        Values::F32(slice)
    }
}

impl Stored for f64 {
    fn values(slice: &[f64]) -> Values<'_> {
        Values::F64(slice)
    }
}

impl<T: Stored> SearchResult<T> {
    /// Returns the number of rows that were left out.
    pub(super) fn dropped(&self) -> usize {
        match self {
            Self::Places(found) => found.dropped,
            Self::Ragged(found) => found.dropped,
        }
    }

    /// Replaces squared distances by their roots.
    pub(super) fn plain(&mut self) {
        let (norm, distances) = match self {
            Self::Places(found) => (found.norm, &mut found.all_distances),
            Self::Ragged(found) => (found.norm, &mut found.raw_distances),
        };
        if norm == Norm::Two {
            distances.iter_mut().for_each(|distance| *distance = distance.sqrt());
        }
    }

    fn count(&self, row: usize) -> usize {
        match self {
            Self::Places(found) => found.counts[row] as usize,
            Self::Ragged(found) => found.row(row).len(),
        }
    }

    fn distances(&self, row: usize) -> &[T] {
        match self {
            Self::Places(found) => found.raw_distances(row),
            Self::Ragged(found) => &found.raw_distances[found.row(row)],
        }
    }

    /// Summarizes the result; `rows` are those that were not left out.
    pub(super) fn spread(&self, rows: impl Iterator<Item = usize>) -> Spread {
        let empty =
            Spread { neighbors: 0, fewest: usize::MAX, most: 0, without: 0, farthest: f64::NAN };
        let spread = rows.fold(empty, |spread, row| {
            let count = self.count(row);
            let distances = self.distances(row).iter().map(|distance| distance.to_f64());
            Spread {
                neighbors: spread.neighbors + count,
                fewest: spread.fewest.min(count),
                most: spread.most.max(count),
                without: spread.without + usize::from(count == 0),
                farthest: distances.fold(spread.farthest, f64::max),
            }
        });
        Spread { fewest: spread.fewest.min(spread.most), ..spread }
    }

    /// Writes the arrays, whole or not at all.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        match self {
            Self::Places(found) => places(path, found)?,
            Self::Ragged(found) => ragged(path, found)?,
        }
        Ok(())
    }
}

fn places<T: Stored>(path: &Path, found: &Neighbors<T>) -> Result<(), farpoint_io::Error> {
    let row = |place: usize| match found.all_indices[place] {
        Neighbors::<T>::NONE => -1,
        row => i64::from(row),
    };
    let count = |place: usize| i64::from(found.counts[place]);
    let shape = [found.len(), found.k];
    write_arrays(
        path,
        &[
            Array { name: "distances", shape: &shape, values: T::values(&found.all_distances) },
            Array { name: "indices", shape: &shape, values: Values::I64(&row) },
            Array { name: "counts", shape: &shape[..1], values: Values::I64(&count) },
        ],
    )
}

fn ragged<T: Stored>(path: &Path, found: &WithinBall<T>) -> Result<(), farpoint_io::Error> {
    let row = |place: usize| i64::from(found.indices[place]);
    let offset = |place: usize| found.offsets[place] as i64;
    let (offsets, shape) = ([found.offsets.len()], [found.indices.len()]);
    write_arrays(
        path,
        &[
            Array { name: "offsets", shape: &offsets, values: Values::I64(&offset) },
            Array { name: "indices", shape: &shape, values: Values::I64(&row) },
            Array { name: "distances", shape: &shape, values: T::values(&found.raw_distances) },
        ],
    )
}
