//! All neighbors in balls around points.

use crate::{Norm, Scalar};

/// For each row of a cloud all its neighbors in a ball: ragged, one row after another.
///
/// ```
/// use farpoint::Searcher;
///
/// let (x, y) = ([[0.0f32], [9.0], [3.0]], [[1.0f32], [2.0], [-1.0]]);
/// let all = Searcher::ball(2.5, 1).within(&x, &y)?;
/// assert_eq!((all.offsets.as_slice(), all.indices.as_slice()), (&[0, 3, 3, 5][..], &[0, 1, 2, 0, 1][..]));
/// assert_eq!(all.row(2), 3..5);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WithinBall<T> {
    /// The row of each neighbor in the other cloud.
    pub indices: Vec<u32>,
    /// The distance to each neighbor as it was computed: squared with [`Norm::Two`].
    pub raw_distances: Vec<T>,
    /// Where the neighbors of each row begin, and the end of the last: one number more than rows.
    pub offsets: Vec<usize>,
    /// How distances are measured.
    pub norm: Norm,
    /// Rows left out because they hold NaN or infinity; they have no neighbors.
    pub dropped: usize,
}

impl<T: Scalar> WithinBall<T> {
    /// Number of rows, those left out among them.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a row's neighbors are in `indices` and `raw_distances`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }
}
