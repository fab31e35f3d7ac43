//! Storage of the points of a tile, their distances and its log.

mod memory;

pub use memory::MemoryStore;

use crate::Corners;
use farpoint::Scalar;
use std::ops::Range;

/// Error of a store.
pub type StoreError = Box<dyn std::error::Error + Send + Sync>;

/// The points of one tile, with their squared distances and its log. A store never decides anything.
///
/// Points have a fixed order in which neighbors are close together: [`crate::cut::pages`] makes one. Page `k` are the
/// points from `k * page_points()` on; all pages but the last are full.
///
/// Distances are a cache: [`crate::Tile`] recomputes them from the log. It reads only values that it has written
/// with [`Store::write_values`] since it was opened, never those of a killed process, which may be incomplete. A
/// store need not write them through.
///
/// The log is authoritative. Its records are opaque bytes (each with a checksum), numbered from 0. A record must
/// survive whatever the run is to survive: for a run that can be resumed after a crash of the machine, it must be
/// on the disk when [`Store::sync`] returns.
pub trait Store<T: Scalar>: Send {
    /// Number of points.
    fn points(&self) -> usize;

    /// Points of a page, a multiple of 64.
    fn page_points(&self) -> usize;

    /// Tight boxes around the points of each page; if `None`, the tile reads all pages once.
    ///
    /// # Errors
    /// If they cannot be read.
    fn corners(&mut self) -> Result<Option<Vec<Corners<T>>>, StoreError> {
        Ok(None)
    }

    /// Adds the points of these pages to `into`, in order; also their distances if `values` is set.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read(
        &mut self,
        pages: Range<usize>,
        values: bool,
        into: &mut Pages<T>,
    ) -> Result<(), StoreError>;

    /// Writes the distances of `values.len()` points, from the first one of page `first` on.
    ///
    /// # Errors
    /// If they cannot be written.
    fn write_values(&mut self, first: usize, values: &[T]) -> Result<(), StoreError>;

    /// Number of records in the log.
    fn records(&self) -> u64;

    /// Adds a record to the log.
    ///
    /// # Errors
    /// If it cannot be written.
    fn append(&mut self, record: &[u8]) -> Result<(), StoreError>;

    /// Reads a record of the log.
    ///
    /// # Errors
    /// If it cannot be read.
    fn record(&mut self, number: u64) -> Result<Vec<u8>, StoreError>;

    /// Removes all records from number `records` on.
    ///
    /// # Errors
    /// If they cannot be removed.
    fn truncate(&mut self, records: u64) -> Result<(), StoreError>;

    /// Makes the records of a band durable; called after they were written.
    ///
    /// # Errors
    /// If they cannot be made durable.
    fn sync(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl<T: Scalar, S: Store<T> + ?Sized> Store<T> for Box<S> {
    fn points(&self) -> usize {
        (**self).points()
    }
    fn page_points(&self) -> usize {
        (**self).page_points()
    }
    fn corners(&mut self) -> Result<Option<Vec<Corners<T>>>, StoreError> {
        (**self).corners()
    }
    fn read(
        &mut self,
        pages: Range<usize>,
        values: bool,
        into: &mut Pages<T>,
    ) -> Result<(), StoreError> {
        (**self).read(pages, values, into)
    }
    fn write_values(&mut self, first: usize, values: &[T]) -> Result<(), StoreError> {
        (**self).write_values(first, values)
    }
    fn records(&self) -> u64 {
        (**self).records()
    }
    fn append(&mut self, record: &[u8]) -> Result<(), StoreError> {
        (**self).append(record)
    }
    fn record(&mut self, number: u64) -> Result<Vec<u8>, StoreError> {
        (**self).record(number)
    }
    fn truncate(&mut self, records: u64) -> Result<(), StoreError> {
        (**self).truncate(records)
    }
    fn sync(&mut self) -> Result<(), StoreError> {
        (**self).sync()
    }
}

/// Points read from a store, with one list per axis.
#[derive(Debug, Clone)]
pub struct Pages<T> {
    /// Coordinates by axis; missing axes are zeros.
    pub at: [Vec<T>; 3],
    /// Squared distances, if requested.
    pub values: Vec<T>,
    /// Distinct rows of the input, below `2^40`.
    pub rows: Vec<u64>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { at: Default::default(), values: Vec::new(), rows: Vec::new() }
    }
}

impl<T> Pages<T> {
    /// Removes all points; keeps the memory.
    pub fn clear(&mut self) {
        self.at.iter_mut().for_each(Vec::clear);
        self.values.clear();
        self.rows.clear();
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
