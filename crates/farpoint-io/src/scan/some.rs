//! A cloud of some rows of a file, which is written as the same rows of the whole cloud are.

use super::{Rows, Scan, coordinates};
use crate::cloud::Cloud;
use crate::coordinates::{bounds, is_single};
use crate::error::Error;
use crate::table::{Store, Table};
use crate::whole::{Whole, Witnesses};
use std::sync::{Arc, Mutex, PoisonError};

impl Scan {
    /// The cloud of these rows, given as they are stored, one after another. Reads the file once, on so
    /// many threads, for what a writer must know of all rows: [`crate::write()`] then writes what it
    /// would write of the same rows of the whole cloud.
    ///
    /// # Errors
    /// As [`Scan::read`].
    ///
    /// # Panics
    /// If rows differ in length, see [`Scan::stride`].
    pub fn some(&self, stored: Vec<u8>, threads: usize) -> Result<Cloud, Error> {
        let stride = self.stride().expect("rows of one length");
        let head = self.head();
        let whole = Mutex::new(Whole::default());
        self.for_each(threads, |_, rows| {
            let found = rows.whole()?;
            whole.lock().unwrap_or_else(PoisonError::into_inner).join(found);
            Ok::<(), Error>(())
        })?;
        let count = stored.len() / stride.max(1);
        let table = head.table.as_ref().map(|table| Table {
            slots: table.slots.clone(),
            store: Store::Records { bytes: stored.into(), stride },
            ..table.clone()
        });
        let points = table.as_ref().map(|table| coordinates(head, table, count)).transpose();
        let points = points.map_err(|fault| self.fault(fault))?;
        let points = points.unwrap_or_else(|| head.coordinates.clone());
        let whole = whole.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Cloud { table, coordinates: points, whole: Some(Arc::new(whole)), ..head.clone() })
    }
}

impl Rows<'_> {
    /// What these rows tell.
    fn whole(&self) -> Result<Whole, Error> {
        let points = self.coordinates()?;
        let mut whole =
            Whole { bounds: bounds(&points), single: is_single(&points), ..Whole::default() };
        let Some(table) = &self.table else { return Ok(whole) };
        let rows: Vec<usize> = (0..self.len()).collect();
        for (slot, about) in table.slots.iter().enumerate().filter(|(_, slot)| slot.count == 1) {
            // Of equal names a writer asks for the first.
            if table.xyz.contains(&slot) || whole.values.contains_key(&about.name) {
                continue;
            }
            let mut values = Witnesses::default();
            if let Some(column) = table.column(slot, 0, &rows) {
                values.add(&column);
            }
            whole.values.insert(about.name.clone(), values);
        }
        Ok(whole)
    }
}
