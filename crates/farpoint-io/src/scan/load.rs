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

    /// The cloud of rows as they are stored, which knows nothing of others.
    pub(super) fn of_stored(&self, stored: Vec<u8>) -> Result<Cloud, Error> {
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
            slots: table.slots.clone(),
            store,
            big_endian: table.big_endian,
            xyz: table.xyz,
        });
        let points = table.as_ref().map(|table| coordinates(head, table, count)).transpose();
        let points = points.map_err(|fault| self.fault(fault))?;
        let points = points.unwrap_or_else(|| head.coordinates.clone());
        Ok(Cloud { table, coordinates: points, ..head.clone() })
    }
}
