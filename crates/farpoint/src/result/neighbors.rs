//! Several neighbors of each point.

use crate::{Norm, Scalar};

/// Neighbors of each row of a cloud in another: `k` places a row, filled from the first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Neighbors<T> {
    /// Distance to each neighbor as computed, before any square root; infinite in places
    /// without a neighbor. `rows * k` numbers.
    pub all_distances: Vec<T>,
    /// Row of each neighbor in the other cloud; [`Neighbors::NONE`] in places without one.
    pub all_indices: Vec<u32>,
    /// Number of neighbors of each row.
    pub counts: Vec<u32>,
    /// Places per row.
    pub k: usize,
    /// Norm of the distances.
    pub norm: Norm,
    /// Number of rows left out because they hold NaN or infinity; they have no neighbors.
    pub dropped: usize,
}

impl<T: Scalar> Neighbors<T> {
    /// Index in a place without a neighbor.
    pub const NONE: u32 = u32::MAX;

    /// Returns the number of rows, including those left out.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the neighbors of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn indices(&self, row: usize) -> &[u32] {
        &self.all_indices[row * self.k..][..self.counts[row] as usize]
    }

    /// Returns the distances of a row's neighbors as computed: squared with [`Norm::Two`].
    ///
    /// # Panics
    /// If there is no such row.
    pub fn raw_distances(&self, row: usize) -> &[T] {
        &self.all_distances[row * self.k..][..self.counts[row] as usize]
    }
}
