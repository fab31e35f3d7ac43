//! A tile of the spool file, as [`farpoint_tiles`] uses it.

use crate::disk::log::Log;
use crate::disk::spool::{PAGE, Spool};
use farpoint::Scalar;
use farpoint_tiles::{Corners, Pages, Store, StoreError};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// A tile of a spool.
pub(crate) struct SpoolStore {
    spool: Arc<Spool>,
    log: Arc<Mutex<Log>>,
    tile: u32,
    /// Checksums of the distances of each page, once they are written.
    checks: Vec<u32>,
    bytes: Vec<u8>,
}

impl SpoolStore {
    pub(crate) fn new(spool: &Arc<Spool>, log: &Arc<Mutex<Log>>, tile: u32) -> SpoolStore {
        let checks = vec![0; spool.tiles[tile as usize].pages()];
        let (spool, log) = (Arc::clone(spool), Arc::clone(log));
        SpoolStore { spool, log, tile, checks, bytes: Vec::new() }
    }

    fn log(&self) -> Result<MutexGuard<'_, Log>, StoreError> {
        self.log.lock().map_err(|_| "a thread has failed".into())
    }

    /// Frees the memory of a large read.
    fn tidy(&mut self) {
        self.bytes = Vec::new();
    }
}

impl<T: Scalar> Store<T> for SpoolStore {
    fn points(&self) -> usize {
        self.spool.tiles[self.tile as usize].points as usize
    }

    fn page_points(&self) -> usize {
        PAGE
    }

    fn corners(&mut self) -> Result<Option<Vec<Corners<T>>>, StoreError> {
        Ok(Some(self.spool.corners(self.tile as usize)?))
    }

    fn read(
        &mut self,
        pages: Range<usize>,
        values: bool,
        into: &mut Pages<T>,
    ) -> Result<(), StoreError> {
        let tile = self.tile as usize;
        // A little at a time: the bytes are decoded into other memory.
        for start in pages.clone().step_by(AT_ONCE) {
            let some = start..pages.end.min(start + AT_ONCE);
            self.spool.read(tile, some.clone(), &mut self.bytes, into)?;
            if values {
                let into = &mut into.values;
                self.spool.read_values(tile, some, &mut self.bytes, &self.checks, into)?;
            }
        }
        self.tidy();
        Ok(())
    }

    fn write_values(&mut self, first: usize, values: &[T]) -> Result<(), StoreError> {
        let tile = self.tile as usize;
        for (k, some) in values.chunks(AT_ONCE * PAGE).enumerate() {
            let first = first + k * AT_ONCE;
            self.spool.write_values(tile, first, some, &mut self.bytes, &mut self.checks)?;
        }
        self.tidy();
        Ok(())
    }

    fn records(&self) -> u64 {
        self.log.lock().map_or(0, |log| log.records(self.tile))
    }

    fn append(&mut self, record: &[u8]) -> Result<(), StoreError> {
        Ok(self.log()?.append(self.tile, record)?)
    }

    fn record(&mut self, number: u64) -> Result<Vec<u8>, StoreError> {
        Ok(self.log()?.record(self.tile, number)?)
    }

    fn truncate(&mut self, records: u64) -> Result<(), StoreError> {
        Ok(self.log()?.truncate(self.tile, records)?)
    }
}

/// Pages that are read at once.
const AT_ONCE: usize = 256;
