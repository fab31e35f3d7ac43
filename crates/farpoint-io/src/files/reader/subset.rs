//! A cloud of some rows of a file, which is written like the same rows of the whole cloud.

use super::{Reader, Rows, coordinates};
use crate::cloud::Cloud;
use crate::cloud::coordinates::{bounds, is_single};
use crate::cloud::statistics::{Statistics, Witnesses};
use crate::cloud::table::{Store, Table};
use crate::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

impl Reader {
    /// Returns the cloud of these stored rows, one after another (each with a line feed if rows are lines). Reads the
    /// file once, on `threads` threads, for the facts about all rows that a writer needs: [`crate::write()`] then
    /// writes what it would write of the same rows of the whole cloud.
    ///
    /// # Errors
    /// Same as [`Reader::read`].
    pub fn some(&self, stored: Vec<u8>, threads: usize) -> Result<Cloud, Error> {
        let statistics = Arc::new(self.statistics(threads)?);
        Ok(Cloud { statistics: Some(statistics), ..self.stored_cloud(stored)? })
    }

    /// Returns the facts about all rows.
    pub(super) fn statistics(&self, threads: usize) -> Result<Statistics, Error> {
        let statistics = Mutex::new(Statistics::default());
        self.for_each(threads, |_, rows| {
            let found = rows.statistics()?;
            statistics.lock().unwrap_or_else(PoisonError::into_inner).join(found);
            Ok::<(), Error>(())
        })?;
        Ok(statistics.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns a cloud of stored rows, without statistics of the other rows.
    pub(super) fn stored_cloud(&self, stored: Vec<u8>) -> Result<Cloud, Error> {
        let head = self.head();
        let (store, count) = match (self.stride(), &head.table) {
            (Some(stride), _) => {
                let count = stored.len() / stride.max(1);
                (Store::Records { bytes: stored.into(), stride }, count)
            }
            (None, Some(Table { store: Store::Lines { split, .. }, .. })) => {
                let mut at = 0;
                let spans = stored.split_inclusive(|&b| b == b'\n').map(|line| {
                    at += line.len();
                    (at - line.len(), at - usize::from(line.ends_with(b"\n")))
                });
                let spans: Vec<_> = spans.collect();
                let count = spans.len();
                (Store::Lines { bytes: stored.into(), spans, split: *split }, count)
            }
            (None, _) => return Ok(head.clone()),
        };
        let table = head.table.as_ref().map(|table| Table {
            dimensions: table.dimensions.clone(),
            store,
            big_endian: table.big_endian,
            xyz: table.xyz,
        });
        let points = table.as_ref().map(|table| coordinates(head, table, count)).transpose();
        let points = points.map_err(|error| self.malformed(error))?;
        let points = points.unwrap_or_else(|| head.coordinates.clone());
        Ok(Cloud { table, coordinates: points, ..head.clone() })
    }
}

impl Rows<'_> {
    /// Returns the facts about these rows.
    fn statistics(&self) -> Result<Statistics, Error> {
        let points = self.places()?;
        let mut statistics = Statistics {
            bounds: bounds(&points),
            single: is_single(&points),
            ..Statistics::default()
        };
        let Some(table) = &self.table else { return Ok(statistics) };
        let rows: Vec<usize> = (0..self.len()).collect();
        let tokens = table.tokens(&rows);
        for (index, dimension) in table.dimensions.iter().enumerate().filter(|(_, d)| d.count == 1)
        {
            // Of equal names a writer uses the first.
            if table.xyz.contains(&index) || statistics.values.contains_key(&dimension.name) {
                continue;
            }
            let mut values = Witnesses::default();
            if let Some(column) = table.column_of(index, 0, &rows, tokens.as_deref()) {
                values.add(&column);
            }
            statistics.values.insert(dimension.name.clone(), values);
        }
        Ok(statistics)
    }
}
