//! A cloud in memory of rows as they are stored: all rows of a file, or some.

use super::{Scan, Source, coordinates};
use crate::cloud::Cloud;
use crate::error::Error;
use crate::memory;
use crate::table::{Store, Table};
use rayon::prelude::*;

impl Scan {
    /// Reads all rows into memory.
    ///
    /// # Errors
    /// As [`Scan::read`]; [`Error::TooLarge`] if less memory is free than that takes.
    pub fn load(&self) -> Result<Cloud, Error> {
        let (layout, starts) = match &self.source {
            Source::Whole(cloud) => return Ok(cloud.clone()),
            Source::Parts { layout, starts, .. } => (layout, starts),
        };
        let stride = layout.stride;
        let place = if self.is_single() { size_of::<[f32; 3]>() } else { size_of::<[f64; 3]>() };
        memory::require(&self.name, self.len().saturating_mul((stride + place) as u64))?;
        let mut stored = vec![0; self.len() as usize * stride];
        let mut rest = stored.as_mut_slice();
        let mut parts = Vec::with_capacity(self.parts());
        for (part, rows) in starts.windows(2).enumerate() {
            let (own, others) = rest.split_at_mut((rows[1] - rows[0]) as usize * stride);
            parts.push((part, own));
            rest = others;
        }
        parts.into_par_iter().try_for_each(|(part, own)| {
            let rows = self.read(part)?;
            own.copy_from_slice(rows.records().unwrap_or_default());
            Ok::<(), Error>(())
        })?;
        self.of_stored(stored)
    }

    /// The cloud of rows that are given as they are stored, one after another.
    pub(super) fn of_stored(&self, stored: Vec<u8>) -> Result<Cloud, Error> {
        let (head, stride) = (self.head(), self.stride().expect("rows of one length"));
        let count = stored.len() / stride.max(1);
        let table = head.table.as_ref().map(|table| Table {
            slots: table.slots.clone(),
            store: Store::Records { bytes: stored.into(), stride },
            ..table.clone()
        });
        let points = table.as_ref().map(|table| coordinates(head, table, count)).transpose();
        let points = points.map_err(|fault| self.fault(fault))?;
        let points = points.unwrap_or_else(|| head.coordinates.clone());
        Ok(Cloud { table, coordinates: points, ..head.clone() })
    }
}
