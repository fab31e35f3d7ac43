//! All neighbors in balls around points.

use crate::{Norm, Scalar};

/// All neighbors of each row of a cloud in a ball: ragged, one row after another.
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
    /// Row of each neighbor in the other cloud.
    pub indices: Vec<u32>,
    /// Distance to each neighbor as computed: squared with [`Norm::Two`].
    pub raw_distances: Vec<T>,
    /// Offset of the first neighbor of each row, then the total number: `rows + 1` numbers.
    pub offsets: Vec<usize>,
    /// Norm of the distances.
    pub norm: Norm,
    /// Number of rows left out because they hold NaN or infinity; they have no neighbors.
    pub dropped: usize,
}

impl<T: Scalar> WithinBall<T> {
    /// Returns the number of rows, including those left out.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the range of a row's neighbors in `indices` and `raw_distances`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }
}
