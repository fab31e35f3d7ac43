//! Output arrays of searches.

use crate::cloud::WorkingCopy;
use crate::memory::Shared;
use crate::{Nearest, Scalar};

/// Output arrays for the threads of a search from one cloud to another, each for queries
/// of its own. Those of a thread are neighbors in space and lie anywhere in the result, so that
/// it cannot be split into slices.
pub(super) struct Output<'a, T> {
    pub(super) queries: &'a WorkingCopy<T>,
    pub(super) targets: &'a WorkingCopy<T>,
    distances: Shared<'a, T>,
    indices: Shared<'a, u32>,
    /// Length of both arrays.
    rows: usize,
}

impl<'a, T: Scalar> Output<'a, T> {
    pub(super) fn new(
        found: &'a mut Nearest<T>,
        queries: &'a WorkingCopy<T>,
        targets: &'a WorkingCopy<T>,
    ) -> Self {
        let rows = found.raw_distances.len().min(found.indices.len());
        let distances = Shared::new(&mut found.raw_distances);
        let indices = Shared::new(&mut found.indices);
        Self { queries, targets, distances, indices, rows }
    }

    /// Writes the result of a query.
    ///
    /// # Safety
    /// While this runs, no other thread may write what it found for this query.
    pub(super) unsafe fn set(&self, query: u32, nearest: u32, distance: T) {
        let (row, index) = (self.queries.place(query), self.targets.row(nearest) as u32);
        assert!(row < self.rows, "a query that is no row of the result");
        // SAFETY: the row is in both arrays, which are mutably borrowed for as long as this lives.
        // Different queries have different rows, so no other thread uses this one.
        unsafe {
            self.distances.write(row, distance);
            self.indices.write(row, index);
        }
    }
}
