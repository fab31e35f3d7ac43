//! Several neighbors of each point.

use crate::{Norm, Scalar};

/// For each row of a cloud its neighbors in another: `k` places a row, filled from the first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Neighbors<T> {
    /// The distance to each neighbor as it was computed, before any square root; infinite in places
    /// without a neighbor. `rows * k` numbers.
    pub all_distances: Vec<T>,
    /// The row of each neighbor in the other cloud; [`Neighbors::NONE`] in places without one.
    pub all_indices: Vec<u32>,
    /// Neighbors of each row.
    pub counts: Vec<u32>,
    /// Places of a row.
    pub k: usize,
    /// How distances are measured.
    pub norm: Norm,
    /// Rows left out because they hold NaN or infinity; they have no neighbors.
    pub dropped: usize,
}

impl<T: Scalar> Neighbors<T> {
    /// The index in a place without a neighbor.
    pub const NONE: u32 = u32::MAX;

    /// Number of rows, those left out among them.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The neighbors of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn indices(&self, row: usize) -> &[u32] {
        &self.all_indices[row * self.k..][..self.counts[row] as usize]
    }

    /// The distances of a row's neighbors as they were computed: squared with [`Norm::Two`].
    ///
    /// # Panics
    /// If there is no such row.
    pub fn raw_distances(&self, row: usize) -> &[T] {
        &self.all_distances[row * self.k..][..self.counts[row] as usize]
    }
}
