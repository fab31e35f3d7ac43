//! The log of a tile: the facts of each finished band, own and received ones.
//!
//! A record is a message of kind 129: precision, tile, band, the band's floor, whether it is the band's last
//! record, and facts in order. A band without its last record is not finished: the tile was stopped
//! while it was written.

use super::store_error;
use crate::wire::{Reader, Writer};
use crate::{Entry, Error, Key, Store, StoreError, TileId};
use farpoint::Scalar;
use farpoint::backend::memory;

const RECORD: u8 = 129;
const KIND_NAME: &str = "a record of a log";

/// Maximum number of facts in a record.
const MAX_FACTS: usize = 1 << 14;

/// Index of a tile's log.
#[derive(Debug, Default)]
pub(super) struct Log {
    tile: TileId,
    bands: Vec<LoggedBand>,
    /// Records of the unfinished band.
    unfinished: Option<LoggedBand>,
}

#[derive(Debug)]
struct LoggedBand {
    first: u64,
    /// Number of own facts in each record.
    own: Vec<u64>,
    /// Number of leading records whose own facts are in order, and the key of the last of these.
    ordered: usize,
    last: Key,
    floor: Key,
}

impl LoggedBand {
    fn new(first: u64) -> Self {
        Self { first, own: Vec::new(), ordered: 0, last: Key::FIRST, floor: Key::LAST }
    }

    /// Adds the facts of its next record.
    fn add<T: Scalar>(&mut self, tile: TileId, facts: &[Entry<T>]) {
        let before = facts.iter().filter(|fact| fact.tile == tile);
        let (mut count, mut last, mut sorted) = (0, self.last, self.ordered == self.own.len());
        for key in before.map(Entry::key) {
            sorted &= last <= key;
            last = key;
            count += 1;
        }
        self.own.push(count);
        if sorted {
            (self.ordered, self.last) = (self.own.len(), last);
        }
    }
}

struct Record<T> {
    tile: TileId,
    band: u64,
    floor: Key,
    last: bool,
    facts: Vec<Entry<T>>,
}

impl Log {
    /// Reads the log; removes bands from `finished` on, and an incomplete one.
    pub(super) fn open<T: Scalar>(
        store: &mut impl Store<T>,
        tile: TileId,
        finished: u64,
    ) -> Result<Self, StoreError> {
        let mut log = Self { tile, bands: Vec::new(), unfinished: None };
        let (mut band, mut complete) = (LoggedBand::new(0), 0);
        for number in 0..store.records() {
            if log.bands.len() as u64 == finished {
                break;
            }
            let record = Record::<T>::decode(&store.record(number)?).map_err(store_error)?;
            if record.tile != tile || record.band != log.bands.len() as u64 {
                let Record { tile: of, band, .. } = record;
                let text = format!(
                    "record {number} is out of order: it belongs to tile {of}, band {band}"
                );
                return Err(text.into());
            }
            band.add(tile, &record.facts);
            if record.last {
                band.floor = record.floor;
                complete = number + 1;
                log.bands.push(std::mem::replace(&mut band, LoggedBand::new(complete)));
            }
        }
        if complete < store.records() {
            store.truncate(complete)?;
        }
        Ok(log)
    }

    /// Returns the number of finished bands.
    pub(super) fn bands(&self) -> u64 {
        self.bands.len() as u64
    }

    /// Returns the number of own points chosen in a band.
    pub(super) fn chosen(&self, band: u64) -> u64 {
        self.bands[band as usize].own.iter().sum()
    }

    /// Returns the floor of the last band.
    pub(super) fn floor(&self) -> Option<Key> {
        self.bands.last().map(|band| band.floor)
    }

    /// Writes facts of the next band, in order; with `last`, the band is finished.
    pub(super) fn append<T: Scalar>(
        &mut self,
        store: &mut impl Store<T>,
        floor: Key,
        facts: &[Entry<T>],
        last: bool,
    ) -> Result<(), StoreError> {
        let (tile, number) = (self.tile, self.bands());
        let mut band = self.unfinished.take().unwrap_or_else(|| LoggedBand::new(store.records()));
        let count = facts.len().div_ceil(MAX_FACTS).max(usize::from(last));
        for part in 0..count {
            let facts = &facts[part * MAX_FACTS..((part + 1) * MAX_FACTS).min(facts.len())];
            band.add(tile, facts);
            let is_last = last && part + 1 == count;
            let out = Writer::new(RECORD).u8(size_of::<T>() as u8).u32(tile).u64(number);
            store.append(&out.key(floor).u8(u8::from(is_last)).entries(facts).end())?;
        }
        if last {
            store.sync()?;
            self.bands.push(LoggedBand { floor, ..band });
        } else {
            self.unfinished = Some(band);
        }
        Ok(())
    }

    /// Returns the number of a band's own facts that are in order; others were decided elsewhere and written later.
    pub(super) fn ordered_count(&self, band: u64) -> u64 {
        let LoggedBand { own, ordered, .. } = &self.bands[band as usize];
        own[..*ordered].iter().sum()
    }

    /// Returns whether there are records of an unfinished band.
    pub(super) fn has_unfinished(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Returns the rows of own points in the records of the unfinished band, sorted.
    pub(super) fn unfinished_rows<T: Scalar>(
        &self,
        store: &mut impl Store<T>,
    ) -> Result<Vec<u64>, StoreError> {
        let mut rows = Vec::new();
        if let Some(LoggedBand { first, own, .. }) = &self.unfinished {
            for number in (*first..).take(own.len()) {
                let record = Record::<T>::decode(&store.record(number)?).map_err(store_error)?;
                let own = record.facts.iter().filter(|fact| fact.tile == self.tile);
                memory::extend(&mut rows, own.map(|fact| fact.index));
            }
        }
        rows.sort_unstable();
        Ok(rows)
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

    /// Returns up to `limit` own facts of a band in the order of writing, from number `from` on.
    pub(super) fn own<T: Scalar>(
        &self,
        store: &mut impl Store<T>,
        band: u64,
        from: u64,
        limit: u64,
    ) -> Result<Vec<Entry<T>>, StoreError> {
        let LoggedBand { first, own, .. } = &self.bands[band as usize];
        let (mut before, mut found) = (0, Vec::new());
        for (number, &count) in (*first..).zip(own) {
            if before + count > from && (found.len() as u64) < limit {
                let record = Record::decode(&store.record(number)?).map_err(store_error)?;
                let own = record.facts.into_iter().filter(|fact| fact.tile == self.tile);
                memory::extend(&mut found, own.skip(from.saturating_sub(before) as usize));
            }
            before += count;
        }
        found.truncate(limit as usize);
        Ok(found)
    }
}

impl<T: Scalar> Record<T> {
    fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let (kind, mut from) = Reader::new(bytes, KIND_NAME)?;
        if kind != RECORD {
            return Err(from.error("wrong kind of record"));
        }
        if usize::from(from.u8()?) != size_of::<T>() {
            return Err(from.error("wrong precision"));
        }
        let (tile, band, floor) = (from.u32()?, from.u64()?, from.key()?);
        let record = Self { tile, band, floor, last: from.u8()? != 0, facts: from.entries()? };
        from.end().map(|()| record)
    }
}
