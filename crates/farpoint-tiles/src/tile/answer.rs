//! Requests that only read, and the last one: duplicates of chosen points.

use super::Tile;
use crate::message::{Counted, Reply};
use crate::slab::Samples;
use crate::{Entry, Key, Store, StoreError};
use farpoint::Scalar;
use std::collections::BTreeMap;

impl<T: Scalar, S: Store<T>> Tile<T, S> {
    pub(super) fn largest(&mut self) -> Result<Reply<T>, StoreError> {
        let largest = self.points.exact_largest(&mut self.store, &self.log)?;
        Ok(Reply::Largest { largest })
    }

    pub(super) fn chosen(
        &mut self,
        band: u64,
        from: u64,
        most: u64,
    ) -> Result<Reply<T>, StoreError> {
        if band >= self.log.bands() {
            return self.behind();
        }
        if self.log.is_sorted(band) {
            let facts = self.log.own::<T>(&mut self.store, band, from, most)?;
            return Ok(Reply::Chosen(facts.iter().map(Entry::key).collect()));
        }
        // What was decided elsewhere was written later.
        if self.reading.as_ref().is_none_or(|(of, _)| *of != band) {
            let facts = self.log.own::<T>(&mut self.store, band, 0, u64::MAX)?;
            let mut keys: Vec<Key> = facts.iter().map(Entry::key).collect();
            keys.sort_unstable();
            self.reading = Some((band, keys));
        }
        let (_, keys) = self.reading.as_ref().expect("read above");
        let part = keys[(from as usize).min(keys.len())..].iter().take(most as usize);
        let part: Vec<Key> = part.copied().collect();
        if part.is_empty() {
            self.reading = None;
        }
        Ok(Reply::Chosen(part))
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

    /// Rows of all chosen points of the tile, sorted.
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
