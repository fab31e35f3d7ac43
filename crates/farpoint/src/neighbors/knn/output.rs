//! Output arrays of searches.

use super::limits::Limits;
use crate::Scalar;
use crate::cloud::WorkingCopy;
use crate::memory::Shared;

/// Output arrays for the neighbors found by the threads of a search, each for queries of its own.
pub(super) struct Output<'a, T> {
    pub(super) queries: &'a WorkingCopy<T>,
    pub(super) targets: &'a WorkingCopy<T>,
    pub(super) limits: Limits<T>,
    /// True if a query's own row is not one of its neighbors.
    pub(super) exclude_self: bool,
    pub(super) places: Places<'a, T>,
}

/// Output arrays, by kind of result.
pub(super) enum Places<'a, T> {
    /// The number of its neighbors.
    Counts(Shared<'a, u32>),
    /// The best neighbors, `k` places a row, and their number.
    Best { distances: Shared<'a, T>, indices: Shared<'a, u32>, counts: Shared<'a, u32> },
    /// All neighbors, from the row's offset to the next.
    All { distances: Shared<'a, T>, indices: Shared<'a, u32>, offsets: &'a [usize] },
}

/// Treatment of candidates.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Task {
    /// Count them.
    Count,
    /// Keep the best.
    Choose,
    /// Keep all, in their final places: lists of keys would take many times the memory of a ball.
    Keep,
}

impl<'a, T: Scalar> Output<'a, T> {
    /// Returns the target that is the query itself and does not count.
    pub(super) fn excluded(&self, query: u32) -> Option<u32> {
        self.exclude_self.then(|| self.targets.point(self.queries.row(query)))?
    }

    /// Returns the treatment of candidates.
    pub(super) fn task(&self) -> Task {
        match self.places {
            Places::Counts(_) => Task::Count,
            Places::Best { .. } => Task::Choose,
            Places::All { .. } => Task::Keep,
        }
    }

    /// Returns the places of all neighbors of a query, as many as were counted.
    ///
    /// # Safety
    /// As long as these are used, no other thread may write what it found for this query, and there may be no
    /// other borrow of them.
    #[inline(always)]
    pub(super) unsafe fn room(&self, query: u32) -> Option<(&'a mut [T], &'a mut [u32])> {
        let Places::All { distances, indices, offsets } = self.places else { return None };
        let row = self.queries.place(query);
        let places = offsets[row]..offsets[row + 1];
        assert!(
            places.end <= distances.len() && places.end <= indices.len(),
            "offsets beyond arrays"
        );
        // SAFETY: the places are in both arrays, by the assertion, and only this thread's, as the caller
        // ensures: different queries have different rows.
        unsafe { Some((distances.part(places.clone()), indices.part(places))) }
    }

    /// Writes the neighbors of a query, by their keys in order.
    ///
    /// # Safety
    /// While this runs, no other thread may write what it found for this query.
    pub(super) unsafe fn set(&self, query: u32, keys: &[T::Key]) {
        let row = self.queries.place(query);
        let (distances, indices, first, room) = match self.places {
            // SAFETY: the row is the query's, which no other thread writes for.
            Places::Counts(_) => return unsafe { self.set_count(query, keys.len() as u32) },
            Places::Best { distances, indices, .. } => {
                // SAFETY: the row is the query's, which no other thread writes for.
                unsafe { self.set_count(query, keys.len() as u32) };
                (distances, indices, row * self.limits.k, self.limits.k)
            }
            Places::All { distances, indices, offsets } => {
                (distances, indices, offsets[row], offsets[row + 1] - offsets[row])
            }
        };
        let end = first + room;
        assert!(keys.len() <= room, "no place for these neighbors");
        assert!(end <= distances.len() && end <= indices.len(), "a query that is no row");
        for (place, &key) in (first..).zip(keys) {
            let (distance, point) = self.limits.found(key);
            // SAFETY: the place is in both arrays, by the assertions, and they are mutably borrowed for
            // as long as this lives. Different queries have different rows.
            unsafe {
                distances.write(place, distance);
                indices.write(place, self.targets.row(point) as u32);
            }
        }
    }

    /// Writes the number of neighbors of a query.
    ///
    /// # Safety
    /// While this runs, no other thread may write what it found for this query.
    pub(super) unsafe fn set_count(&self, query: u32, count: u32) {
        let (Places::Counts(counts) | Places::Best { counts, .. }) = self.places else { return };
        let row = self.queries.place(query);
        assert!(row < counts.len(), "a query that is no row");
        // SAFETY: the row is in the array, by the assertion, and different queries have different rows.
        unsafe { counts.write(row, count) };
    }
}
