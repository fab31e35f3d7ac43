//! The log: one file that only grows, with the records of all tiles and the data that the run as a whole needs to be
//! resumed.
//!
//! A record is a head of 32 bytes, the last four of which are its own checksum, and its bytes. A record of a tile that
//! restarts states how many records before it still count.

use crate::disk::error::Error;
use crate::disk::extents::{read_at, write_at};
use farpoint::backend::memory as fallible;
use std::fs::File;
use std::path::{Path, PathBuf};

const MAGIC: u32 = u32::from_le_bytes(*b"fpsl");
const HEAD: usize = 32;
/// The number of the run's own records, after all tiles.
pub(crate) const RUN: u32 = u32::MAX;

/// A record in the file.
#[derive(Clone, Copy, Debug)]
struct Record {
    at: u64,
    length: u64,
    check: u32,
}

/// The log of a run.
pub(crate) struct Log {
    file: File,
    path: PathBuf,
    end: u64,
    tiles: Vec<Vec<Record>>,
    run: Vec<Record>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Record = 0,
    /// Its length is the number of records that still count.
    Cut = 1,
}

fn head(tile: u32, kind: Kind, length: u64, check: u32) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&MAGIC.to_le_bytes());
    head[4..8].copy_from_slice(&tile.to_le_bytes());
    head[8..12].copy_from_slice(&(kind as u32).to_le_bytes());
    head[12..20].copy_from_slice(&length.to_le_bytes());
    head[20..24].copy_from_slice(&check.to_le_bytes());
    let checksum = crc32fast::hash(&head[..HEAD - 4]);
    head[HEAD - 4..].copy_from_slice(&checksum.to_le_bytes());
    head
}

fn word(head: &[u8], at: usize) -> u32 {
    head[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

impl Log {
    /// Creates a log of `tiles` tiles.
    pub(crate) fn create(path: &Path, tiles: usize) -> Result<Log, Error> {
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path).map_err(|source| Error::written(path, source))?;
        let tiles = vec![Vec::new(); tiles];
        Ok(Log { file, path: path.to_owned(), end: 0, tiles, run: Vec::new() })
    }

    /// Opens the log of a run that was interrupted, without the record being written then.
    pub(crate) fn open(path: &Path, tiles: usize) -> Result<Log, Error> {
        let failed = |source| Error::read(path, source);
        let file = File::options().read(true).write(true).open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let tiles = vec![Vec::new(); tiles];
        let mut log = Log { file, path: path.to_owned(), end: 0, tiles, run: Vec::new() };
        while log.end + HEAD as u64 <= length {
            let mut bytes = [0; HEAD];
            read_at(&log.file, &mut bytes, log.end).map_err(failed)?;
            if !log.take(&bytes, length) {
                break;
            }
        }
        if log.end < length {
            // Half of a record.
            log.file.set_len(log.end).map_err(|source| Error::written(path, source))?;
        }
        Ok(log)
    }

    /// Indexes a record with this head; `false` if it is not whole.
    fn take(&mut self, bytes: &[u8; HEAD], length: u64) -> bool {
        let (tile, kind, check) = (word(bytes, 4), word(bytes, 8), word(bytes, 20));
        let size = u64::from(word(bytes, 12)) | u64::from(word(bytes, 16)) << 32;
        let checksum = crc32fast::hash(&bytes[..HEAD - 4]);
        if word(bytes, 0) != MAGIC || word(bytes, HEAD - 4) != checksum {
            return false;
        }
        let at = self.end + HEAD as u64;
        let list = match tile {
            RUN => Some(&mut self.run),
            tile => self.tiles.get_mut(tile as usize),
        };
        let Some(list) = list else { return false };
        if kind == Kind::Cut as u32 {
            list.truncate(size as usize);
            self.end = at;
            return true;
        }
        let Some(end) = at.checked_add(size).filter(|&end| end <= length) else { return false };
        list.push(Record { at, length: size, check });
        self.end = end;
        true
    }

    fn list(&mut self, tile: u32) -> &mut Vec<Record> {
        match tile {
            RUN => &mut self.run,
            tile => &mut self.tiles[tile as usize],
        }
    }

    /// Returns the number of a tile's records.
    pub(crate) fn records(&self, tile: u32) -> u64 {
        match tile {
            RUN => self.run.len() as u64,
            tile => self.tiles[tile as usize].len() as u64,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = write_at(&self.file, bytes, self.end);
        written.map_err(|source| Error::written(&self.path, source))?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Adds a record.
    pub(crate) fn append(&mut self, tile: u32, bytes: &[u8]) -> Result<(), Error> {
        let (length, check) = (bytes.len() as u64, crc32fast::hash(bytes));
        let mut all = head(tile, Kind::Record, length, check).to_vec();
        all.extend_from_slice(bytes);
        let at = self.end + HEAD as u64;
        self.write(&all)?;
        self.list(tile).push(Record { at, length, check });
        Ok(())
    }

    /// Reads a record.
    pub(crate) fn record(&self, tile: u32, number: u64) -> Result<Vec<u8>, Error> {
        let list = if tile == RUN { &self.run } else { &self.tiles[tile as usize] };
        let unusable = |problem: &str| {
            let problem = format!("record {number} of tile {tile} is {problem}");
            Error::unusable(&self.path, problem, "start again without `resume`")
        };
        let record = list.get(number as usize).ok_or_else(|| unusable("missing"))?;
        let mut bytes = fallible::zeros(record.length as usize);
        read_at(&self.file, &mut bytes, record.at)
            .map_err(|source| Error::read(&self.path, source))?;
        match crc32fast::hash(&bytes) == record.check {
            true => Ok(bytes),
            false => Err(unusable("damaged")),
        }
    }

    /// Drops a tile's records from number `records` on.
    pub(crate) fn truncate(&mut self, tile: u32, records: u64) -> Result<(), Error> {
        if records < self.records(tile) {
            self.write(&head(tile, Kind::Cut, records, 0))?;
            self.list(tile).truncate(records as usize);
        }
        Ok(())
    }

    /// Waits until all of it is on the disk.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(|source| Error::written(&self.path, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_last_and_cuts_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::create(&path, 3).unwrap();
        for k in 0..5u8 {
            log.append(1, &[k; 10]).unwrap();
            log.append(2, &vec![k; k as usize]).unwrap();
        }
        log.append(RUN, b"band 1").unwrap();
        log.truncate(1, 3).unwrap();
        log.append(1, b"again").unwrap();
        log.sync().unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let log = Log::open(&path, 3).unwrap();
            for tile in [0, 1, 2, RUN] {
                (0..log.records(tile)).for_each(|k| drop(log.record(tile, k).unwrap()));
            }
        }
        std::fs::write(&path, &whole).unwrap();
        let mut log = Log::open(&path, 3).unwrap();
        assert_eq!([0, 1, 2, RUN].map(|tile| log.records(tile)), [0, 4, 5, 1]);
        assert_eq!(log.record(1, 3).unwrap(), b"again");
        assert_eq!(log.record(2, 4).unwrap(), [4; 4]);
        log.append(0, b"more").unwrap();
        assert_eq!(Log::open(&path, 3).unwrap().record(0, 0).unwrap(), b"more");
    }

    #[test]
    fn a_changed_record_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::create(&path, 1).unwrap();
        log.append(0, &[7; 100]).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[HEAD + 50] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = Log::open(&path, 1).unwrap().record(0, 0).unwrap_err().to_string();
        assert!(error.contains("record 0 of tile 0 is damaged"), "{error}");
    }
}
