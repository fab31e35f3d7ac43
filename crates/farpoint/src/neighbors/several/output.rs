//! Where searches write what they find.

use super::limits::Limits;
use crate::cloud::Cloud;
use crate::memory::Shared;
use crate::{Neighbors, Scalar};

/// Where the threads of a search write the neighbors that they find, each for queries of its own.
pub(super) struct Output<'a, T> {
    pub(super) queries: &'a Cloud<T>,
    pub(super) targets: &'a Cloud<T>,
    pub(super) limits: Limits<T>,
    /// Whether a query's own row is none of its neighbors.
    exclude_self: bool,
    distances: Shared<'a, T>,
    indices: Shared<'a, u32>,
    counts: Shared<'a, u32>,
    rows: usize,
}

impl<'a, T: Scalar> Output<'a, T> {
    pub(super) fn new(
        found: &'a mut Neighbors<T>,
        [queries, targets]: [&'a Cloud<T>; 2],
        limits: Limits<T>,
        exclude_self: bool,
    ) -> Self {
        let rows = found.counts.len();
        assert!(found.all_indices.len() == rows * limits.k);
        assert!(found.all_distances.len() == rows * limits.k);
        Self {
            queries,
            targets,
            limits,
            exclude_self,
            distances: Shared::new(&mut found.all_distances),
            indices: Shared::new(&mut found.all_indices),
            counts: Shared::new(&mut found.counts),
            rows,
        }
    }

    /// The target that is the query itself and does not count.
    pub(super) fn own(&self, query: u32) -> Option<u32> {
        self.exclude_self.then(|| self.targets.point(self.queries.row(query)))?
    }

    /// Writes the neighbors of a query, at most `k` keys.
    ///
    /// # Safety
    /// While this runs, no other thread may write what it found for this query.
    pub(super) unsafe fn set(&self, query: u32, keys: &[T::Key]) {
        let row = self.queries.row(query);
        assert!(row < self.rows && keys.len() <= self.limits.k, "no place for these neighbors");
        for (place, &key) in keys.iter().enumerate() {
            let (distance, point) = self.limits.found(key);
            // SAFETY: the place is one of the row's, and the row is in all arrays, which are mutably
            // borrowed for as long as this lives. Different queries have different rows.
            unsafe {
                self.distances.write(row * self.limits.k + place, distance);
                self.indices.write(row * self.limits.k + place, self.targets.row(point) as u32);
            }
        }
        // SAFETY: as above.
        unsafe { self.counts.write(row, keys.len() as u32) };
    }
}
