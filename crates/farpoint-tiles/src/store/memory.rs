//! A store in memory.

use super::{Pages, Store, StoreError};
use crate::{Column, Corners};
use farpoint::Scalar;
use farpoint::backend::memory;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// A tile in memory. Clones share points, distances and log, so that a tile can restart from its store as
/// from a file.
#[derive(Debug, Clone)]
pub struct MemoryStore<T>(Arc<Inner<T>>);

#[derive(Debug)]
struct Inner<T> {
    columns: [Column; 3],
    /// Encoded coordinates by axis.
    at: [Vec<u8>; 3],
    rows: Vec<u64>,
    page_points: usize,
    boxes: Vec<Corners<T>>,
    values: Mutex<Vec<T>>,
    log: Mutex<Vec<Vec<u8>>>,
}

impl<T: Scalar> MemoryStore<T> {
    /// Creates a store of points in page order: bytes of coordinates by axis, and their rows.
    ///
    /// # Panics
    /// If lists have different lengths or `page_points` is no multiple of 64.
    pub fn new(columns: [Column; 3], at: [Vec<u8>; 3], rows: Vec<u64>, page_points: usize) -> Self {
        assert!(
            page_points > 0 && page_points.is_multiple_of(64),
            "{page_points} is no multiple of 64"
        );
        for (column, at) in columns.iter().zip(&at) {
            assert_eq!(at.len(), column.size() * rows.len(), "a coordinate for each row");
        }
        let mut axes: [Vec<T>; 3] = Default::default();
        for ((column, at), axis) in columns.iter().zip(&at).zip(&mut axes) {
            column.decode(at, axis);
        }
        let mut boxes = vec![Corners::none(); rows.len().div_ceil(page_points)];
        for k in 0..rows.len() {
            boxes[k / page_points].add([0, 1, 2].map(|a| axes[a][k]));
        }
        let values = Mutex::default();
        let log = Mutex::default();
        Self(Arc::new(Inner { columns, at, rows, page_points, boxes, values, log }))
    }

    fn range(&self, pages: Range<usize>) -> Range<usize> {
        let size = self.0.page_points;
        pages.start * size..(pages.end * size).min(self.0.rows.len())
    }
}

impl<T: Scalar> Store<T> for MemoryStore<T> {
    fn points(&self) -> usize {
        self.0.rows.len()
    }

    fn page_points(&self) -> usize {
        self.0.page_points
    }

    fn corners(&mut self) -> Result<Option<Vec<Corners<T>>>, StoreError> {
        Ok(Some(self.0.boxes.clone()))
    }

    fn read(
        &mut self,
        pages: Range<usize>,
        values: bool,
        into: &mut Pages<T>,
    ) -> Result<(), StoreError> {
        let points = self.range(pages);
        for (axis, column) in self.0.columns.iter().enumerate() {
            let bytes = column.size() * points.start..column.size() * points.end;
            column.decode(&self.0.at[axis][bytes], &mut into.at[axis]);
        }
        into.rows.extend_from_slice(&self.0.rows[points.clone()]);
        if values {
            let all = self.0.values.lock().map_err(|_| "a thread has failed")?;
            into.values.extend_from_slice(&all[points]);
        }
        Ok(())
    }

    fn write_values(&mut self, first: usize, values: &[T]) -> Result<(), StoreError> {
        let start = first * self.0.page_points;
        let mut all = self.0.values.lock().map_err(|_| "a thread has failed")?;
        memory::resize(&mut all, self.0.rows.len(), T::INFINITY);
        all[start..start + values.len()].copy_from_slice(values);
        Ok(())
    }

    fn records(&self) -> u64 {
        self.0.log.lock().map_or(0, |log| log.len() as u64)
    }

    fn append(&mut self, record: &[u8]) -> Result<(), StoreError> {
        self.0.log.lock().map_err(|_| "a thread has failed")?.push(record.to_vec());
        Ok(())
    }

    fn record(&mut self, number: u64) -> Result<Vec<u8>, StoreError> {
        let log = self.0.log.lock().map_err(|_| "a thread has failed")?;
        Ok(log.get(number as usize).ok_or_else(|| format!("there is no record {number}"))?.clone())
    }

    fn truncate(&mut self, records: u64) -> Result<(), StoreError> {
        self.0.log.lock().map_err(|_| "a thread has failed")?.truncate(records as usize);
        Ok(())
    }
}
