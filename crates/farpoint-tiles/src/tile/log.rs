//! The log of a tile: the facts of each finished band, own ones and those it was told.
//!
//! A record is a message of kind 129: precision, tile, band, the band's floor, whether it is the band's last
//! record, and facts in order. A band without its last record is not finished: it was being
//! written when the tile was stopped.

use super::store_error;
use crate::wire::{Reader, Writer};
use crate::{Entry, Error, Key, Store, StoreError, TileId};
use farpoint::Scalar;

const RECORD: u8 = 129;
const WHAT: &str = "a record of a log";

/// Facts of a record, at most.
const FACTS: usize = 1 << 14;

/// What is in the log of a tile.
#[derive(Debug, Default)]
pub(super) struct Log {
    tile: TileId,
    bands: Vec<LoggedBand>,
}

#[derive(Debug)]
struct LoggedBand {
    first: u64,
    /// Own facts by record.
    own: Vec<u64>,
    floor: Key,
}

struct Record<T> {
    tile: TileId,
    band: u64,
    floor: Key,
    last: bool,
    facts: Vec<Entry<T>>,
}

impl Log {
    /// Looks through the log; removes bands from `finished` on, and one that is not whole.
    pub(super) fn open<T: Scalar>(
        store: &mut impl Store<T>,
        tile: TileId,
        finished: u64,
    ) -> Result<Self, StoreError> {
        let mut log = Self { tile, bands: Vec::new() };
        let (mut first, mut own, mut whole) = (0, Vec::new(), 0);
        for number in 0..store.records() {
            if log.bands.len() as u64 == finished {
                break;
            }
            let record = Record::<T>::decode(&store.record(number)?).map_err(store_error)?;
            if record.tile != tile || record.band != log.bands.len() as u64 {
                let Record { tile: of, band, .. } = record;
                let text = format!("record {number} is of tile {of}, band {band}, out of order");
                return Err(text.into());
            }
            own.push(record.facts.iter().filter(|fact| fact.tile == tile).count() as u64);
            if record.last {
                let own = std::mem::take(&mut own);
                log.bands.push(LoggedBand { first, own, floor: record.floor });
                first = number + 1;
                whole = first;
            }
        }
        if whole < store.records() {
            store.truncate(whole)?;
        }
        Ok(log)
    }

    /// Number of finished bands.
    pub(super) fn bands(&self) -> u64 {
        self.bands.len() as u64
    }

    /// Number of own points chosen in a band.
    pub(super) fn chosen(&self, band: u64) -> u64 {
        self.bands[band as usize].own.iter().sum()
    }

    /// The floor of the last band.
    pub(super) fn floor(&self) -> Option<Key> {
        self.bands.last().map(|band| band.floor)
    }

    /// Writes a band: facts in order.
    pub(super) fn append<T: Scalar>(
        &mut self,
        store: &mut impl Store<T>,
        floor: Key,
        facts: &[Entry<T>],
    ) -> Result<(), StoreError> {
        let (first, tile, band) = (store.records(), self.tile, self.bands());
        let mut own = Vec::new();
        let count = facts.len().div_ceil(FACTS).max(1);
        for part in 0..count {
            let facts = &facts[part * FACTS..((part + 1) * FACTS).min(facts.len())];
            own.push(facts.iter().filter(|fact| fact.tile == tile).count() as u64);
            let last = part + 1 == count;
            let out = Writer::new(RECORD).u8(size_of::<T>() as u8).u32(tile).u64(band);
            store.append(&out.key(floor).u8(u8::from(last)).entries(facts).end())?;
        }
        store.sync()?;
        self.bands.push(LoggedBand { first, own, floor });
        Ok(())
    }

    /// Calls `each` with the facts of all bands, record by record.
    pub(super) fn replay<T: Scalar>(
        &self,
        store: &mut impl Store<T>,
        mut each: impl FnMut(&[Entry<T>]),
    ) -> Result<(), StoreError> {
        let records = self.bands.last().map_or(0, |band| band.first + band.own.len() as u64);
        for number in 0..records {
            each(&Record::decode(&store.record(number)?).map_err(store_error)?.facts);
        }
        Ok(())
    }

    /// Own facts of a band in order, from number `from` on; about `most` of them, or all that are left.
    pub(super) fn own<T: Scalar>(
        &self,
        store: &mut impl Store<T>,
        band: u64,
        from: u64,
        most: u64,
    ) -> Result<Vec<Entry<T>>, StoreError> {
        let LoggedBand { first, own, .. } = &self.bands[band as usize];
        let (mut before, mut found) = (0, Vec::new());
        for (number, &count) in (*first..).zip(own) {
            if before + count > from && (found.len() as u64) < most {
                let record = Record::decode(&store.record(number)?).map_err(store_error)?;
                let own = record.facts.into_iter().filter(|fact| fact.tile == self.tile);
                found.extend(own.skip(from.saturating_sub(before) as usize));
            }
            before += count;
        }
        found.truncate(most as usize);
        Ok(found)
    }
}

impl<T: Scalar> Record<T> {
    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let (kind, mut from) = Reader::new(bytes, WHAT)?;
        if kind != RECORD {
            return Err(from.wrong("it is of another kind"));
        }
        if usize::from(from.u8()?) != size_of::<T>() {
            return Err(from.wrong("its numbers have another precision"));
        }
        let (tile, band, floor) = (from.u32()?, from.u64()?, from.key()?);
        let record = Self { tile, band, floor, last: from.u8()? != 0, facts: from.entries()? };
        from.end().map(|()| record)
    }
}
