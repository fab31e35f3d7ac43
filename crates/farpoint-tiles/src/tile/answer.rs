//! Requests that only read, and the last one: duplicates of chosen points.

use super::Tile;
use crate::message::{Counted, Reply};
use crate::slab::Samples;
use crate::{Entry, Key, Store, StoreError};
use farpoint::Scalar;
use farpoint::backend::memory;
use std::collections::BTreeMap;

/// Keys that are skipped at a time.
const SKIP_BATCH: u64 = 1 << 14;

/// Position in the tile's own facts of a band.
pub(super) struct Reading {
    band: u64,
    /// Number of facts read.
    from: u64,
    /// Number of facts read of those written in order.
    ordered: u64,
    /// Facts that were written later.
    late: Vec<Key>,
    next: usize,
}

impl<T: Scalar, S: Store<T>> Tile<T, S> {
    pub(super) fn largest(&mut self) -> Result<Reply<T>, StoreError> {
        let largest = self.points.exact_largest(&mut self.store, &self.log)?;
        Ok(Reply::Largest { largest })
    }

    pub(super) fn chosen(
        &mut self,
        band: u64,
        from: u64,
        limit: u64,
    ) -> Result<Reply<T>, StoreError> {
        if band >= self.log.bands() {
            return self.behind();
        }
        let position = match self.reading.take() {
            Some(reading) if (reading.band, reading.from) == (band, from) => reading,
            _ => self.read_from(band, from)?,
        };
        let (keys, reading) = self.merged(position, limit)?;
        self.reading = (!keys.is_empty()).then_some(reading);
        Ok(Reply::Chosen(keys))
    }

    /// Starts reading the own facts of a band at number `from`.
    fn read_from(&mut self, band: u64, from: u64) -> Result<Reading, StoreError> {
        let ordered = self.log.ordered_count(band);
        // Facts that other tiles decided were written later.
        let facts = self.log.own::<T>(&mut self.store, band, ordered, u64::MAX)?;
        let mut late: Vec<Key> = facts.iter().map(Entry::key).collect();
        drop(facts);
        late.sort_unstable();
        let mut reading = Reading { band, from: 0, ordered: 0, late, next: 0 };
        while reading.from < from {
            let limit = SKIP_BATCH.min(from - reading.from);
            let (keys, next) = self.merged(reading, limit)?;
            reading = next;
            if keys.is_empty() {
                break;
            }
        }
        Ok(reading)
    }

    /// Reads up to `limit` keys from there on: ordered and late ones, merged.
    fn merged(
        &mut self,
        mut position: Reading,
        limit: u64,
    ) -> Result<(Vec<Key>, Reading), StoreError> {
        let remaining = self.log.ordered_count(position.band) - position.ordered;
        let ordered = match limit.min(remaining) {
            0 => Vec::new(),
            limit => self.log.own::<T>(&mut self.store, position.band, position.ordered, limit)?,
        };
        let mut ordered = ordered.iter().map(Entry::key).peekable();
        let mut keys = Vec::new();
        while (keys.len() as u64) < limit {
            let late = position.late.get(position.next);
            match ordered.next_if(|key| late.is_none_or(|late| key < late)) {
                Some(key) => {
                    position.ordered += 1;
                    memory::push(&mut keys, key);
                }
                None => {
                    let Some(&late) = late else { break };
                    position.next += 1;
                    memory::push(&mut keys, late);
                }
            }
        }
        position.from += keys.len() as u64;
        Ok((keys, position))
    }

    pub(super) fn count(
        &mut self,
        band: u64,
        of: Counted,
        prefix: u128,
        bits: u32,
    ) -> Result<Reply<T>, StoreError> {
        let mut counts = BTreeMap::new();
        let mut count = |key: Key| {
            let key = key.bits();
            if bits == 0 || key >> (128 - bits) == prefix >> (128 - bits) {
                *counts.entry((key >> (112 - bits)) as u16).or_insert(0) += 1;
            }
        };
        match of {
            Counted::Candidates => {
                let Some(keys) = self.band.as_ref().and_then(|state| state.candidate_keys(band))
                else {
                    return self.behind();
                };
                keys.for_each(count);
            }
            Counted::Facts if band >= self.log.bands() => return self.behind(),
            Counted::Facts => {
                let facts = self.log.own::<T>(&mut self.store, band, 0, u64::MAX)?;
                facts.iter().for_each(|fact| count(fact.key()));
            }
            Counted::Rest => {
                let chosen = self.all_chosen()?;
                let rest = |row: u64| chosen.binary_search(&row).is_err();
                let key = |row| Key::new(T::ZERO, row);
                let each = |row, _| {
                    if rest(row) {
                        count(key(row))
                    }
                };
                self.points.each(&mut self.store, each)?;
            }
        }
        Ok(Reply::Counts(counts.into_iter().collect()))
    }

    /// Returns the rows of all chosen points of the tile, sorted.
    fn all_chosen(&mut self) -> Result<Vec<u64>, StoreError> {
        let (mut rows, tile) = (Vec::new(), self.id);
        self.log.replay(&mut self.store, |facts: &[Entry<T>]| {
            rows.extend(facts.iter().filter(|fact| fact.tile == tile).map(|fact| fact.index));
        })?;
        rows.sort_unstable();
        Ok(rows)
    }

    pub(super) fn fill(&mut self, band: u64, floor: Key) -> Result<Reply<T>, StoreError> {
        if band < self.log.bands() {
            return self.finished(band);
        }
        if band > self.log.bands() {
            return self.behind();
        }
        let chosen = self.all_chosen()?;
        let (tile, mut facts) = (self.id, Vec::new());
        self.points.each(&mut self.store, |index, at| {
            let fact = Entry { at, value: T::ZERO, index, tile };
            if fact.key() < floor && chosen.binary_search(&index).is_err() {
                facts.push(fact);
            }
        })?;
        facts.sort_unstable_by_key(Entry::key);
        self.log.append(&mut self.store, floor, &facts, true)?;
        self.points.apply(&Samples::new(), T::ZERO, false);
        self.finished(band)
    }
}
