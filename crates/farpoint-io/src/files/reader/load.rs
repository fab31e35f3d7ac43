//! A cloud in memory of all rows of a file as stored.

use super::{Content, Reader};
use crate::bytes::memory;
use crate::bytes::parallel;
use crate::cloud::Cloud;
use crate::error::Error;

impl Reader {
    /// Reads all rows into memory.
    ///
    /// # Errors
    /// Same as [`Reader::read`]; [`Error::TooLarge`] if less memory is free than that takes.
    pub fn load(&self) -> Result<Cloud, Error> {
        let (layout, starts) = match &self.content {
            Content::InMemory(cloud) => return Ok(cloud.clone()),
            Content::Parts { layout, starts, .. } => (layout, starts),
        };
        if self.stride().is_none() {
            let mut stored = Vec::new();
            for part in 0..self.parts() {
                let rows = self.read(part)?;
                for row in 0..rows.len() {
                    stored.extend_from_slice(rows.stored(row));
                    stored.push(b'\n');
                }
            }
            return self.stored_cloud(stored);
        }
        let stride = layout.stride;
        let place = if self.is_single() { size_of::<[f32; 3]>() } else { size_of::<[f64; 3]>() };
        memory::require(&self.name, self.len().saturating_mul((stride + place) as u64))?;
        let mut stored = vec![0; self.len() as usize * stride];
        let mut rest = stored.as_mut_slice();
        let parts = starts.windows(2).enumerate().map(|(part, rows)| {
            (part, rest.split_off_mut(..(rows[1] - rows[0]) as usize * stride))
        });
        parallel::try_map(parts, |(part, output)| {
            let rows = self.read(part)?;
            output.unwrap_or_default().copy_from_slice(rows.records().unwrap_or_default());
            Ok::<(), Error>(())
        })?;
        self.stored_cloud(stored)
    }
}
