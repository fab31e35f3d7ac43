//! The end of a run: the cut within the last band, the covering radius, duplicates, samples in order.

use super::calls::{After, unexpected};
use super::{Conductor, Mode, Outcome};
use crate::message::{Counted, Reply, Request};
use crate::{Error, Key, TileId, Transport};
use farpoint::Scalar;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Returns the number of keys per call: small in a sweep, to save memory; large in rounds, to save calls.
fn keys_per_call(mode: Mode) -> u64 {
    match mode {
        Mode::Rounds => 1 << 20,
        Mode::Sweep => 1 << 16,
    }
}

impl<T: Scalar> Conductor<T> {
    pub(super) fn end(&mut self, samples: u64, squared_covering_radius: T) {
        self.outcome = Some(Outcome { samples, squared_covering_radius, bands: self.finished });
    }

    /// Ends the run if the amount was reached in the bands so far.
    pub(super) fn check_end(&mut self, transport: &mut dyn Transport<T>) -> Result<(), Error> {
        if self.samples > self.limit {
            let (band, ids) = (self.finished - 1, self.ids());
            let mut before = 0;
            for (_, reply) in self.chosen_counts(transport, band)? {
                before += reply;
            }
            // The first point of the last band that exceeds the amount.
            let place = self.limit - (self.samples - before);
            let (key, _) = self.select(transport, &ids, Counted::Facts, place)?;
            self.end(self.limit, key.value());
            return Ok(());
        }
        let stops = self.stop.is_some_and(|stop| self.largest() <= stop.value());
        if self.samples == self.limit || stops {
            let largest = self.exact_largest(transport)?;
            self.end(self.samples, largest);
        }
        Ok(())
    }

    /// Returns the number of points of each tile that were chosen in a finished band.
    fn chosen_counts(
        &mut self,
        transport: &mut dyn Transport<T>,
        band: u64,
    ) -> Result<Vec<(TileId, u64)>, Error> {
        let floor = Key::LAST;
        let make =
            move |_: &mut Self, _| Request::Finish { band, floor, solved: false, facts: vec![] };
        let replies = self.call_tiles(transport, &self.ids(), After::Begin, &make)?;
        let count = |(tile, reply)| match reply {
            Reply::Finished { chosen, .. } => Ok((tile, chosen)),
            _ => Err(unexpected(tile, "Finish")),
        };
        replies.into_iter().map(count).collect()
    }

    fn exact_largest(&mut self, transport: &mut dyn Transport<T>) -> Result<T, Error> {
        let make = |_: &mut Self, _| Request::Largest;
        let mut max = T::ZERO;
        for (tile, reply) in self.call_tiles(transport, &self.ids(), After::Begin, &make)? {
            let Reply::Largest { largest } = reply else {
                return Err(unexpected(tile, "Largest"));
            };
            max = if largest > max { largest } else { max };
        }
        Ok(max)
    }

    /// Selects the key of rank `place`, from 0, among all keys that the tiles count, digit by digit. Also returns the rank
    /// within the last 16 bits.
    pub(super) fn select(
        &mut self,
        transport: &mut dyn Transport<T>,
        tiles: &[TileId],
        of: Counted,
        mut place: u64,
    ) -> Result<(Key, u64), Error> {
        let band = if of == Counted::Facts { self.finished - 1 } else { self.finished };
        let after = if of == Counted::Candidates { After::Prepare } else { After::Begin };
        let mut prefix = 0u128;
        for bits in (0..128).step_by(16) {
            let make = move |_: &mut Self, _| Request::Count { band, of, prefix, bits };
            let mut counts = vec![0u64; 1 << 16];
            for (tile, reply) in self.call_tiles(transport, tiles, after, &make)? {
                let Reply::Counts(found) = reply else {
                    return Err(unexpected(tile, "Count"));
                };
                found.iter().for_each(|&(digit, count)| counts[usize::from(digit)] += count);
            }
            let mut digit = 0;
            while digit < counts.len() && place >= counts[digit] {
                place -= counts[digit];
                digit += 1;
            }
            if digit == counts.len() {
                return Err(Error::Mismatch(format!(
                    "the counts of the tiles are {place} keys short"
                )));
            }
            prefix |= (digit as u128) << (112 - bits);
        }
        Ok((Key::from_bits(prefix), place))
    }

    /// Chooses duplicates of chosen points, in the order of their rows.
    pub(super) fn fill(&mut self, transport: &mut dyn Transport<T>) -> Result<(), Error> {
        let missing = self.limit - self.samples;
        let ids = self.ids();
        let (last, _) = self.select(transport, &ids, Counted::Rest, missing - 1)?;
        let (band, floor) = (self.finished, Key::new(T::ZERO, last.index() + 1));
        let make = move |_: &mut Self, _| Request::Fill { band, floor };
        let replies = self.call_tiles(transport, &ids, After::Begin, &make)?;
        self.take_finished(replies)?;
        if self.samples != self.limit {
            let Self { samples, limit, .. } = self;
            return Err(Error::Mismatch(format!("{samples} samples, expected {limit}")));
        }
        Ok(())
    }

    /// Calls `each` with all samples in order of choice, the start points first: their rows and squared
    /// selection distances.
    ///
    /// # Errors
    /// If the run is not done, if tiles do not answer, and what `each` returns.
    pub fn chosen(
        &mut self,
        transport: &mut dyn Transport<T>,
        each: &mut dyn FnMut(Key) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(Outcome { mut samples, bands, .. }) = self.outcome else {
            return Err(Error::Mismatch("the run is not done".into()));
        };
        for start in self.plan.starts.iter().take(samples as usize) {
            each(Key::new(T::INFINITY, start.index))?;
        }
        samples -= samples.min(self.plan.starts.len() as u64);
        for band in 1..bands {
            if samples == 0 {
                break;
            }
            samples -= self.merge_chosen(transport, band, samples, each)?;
        }
        Ok(())
    }

    /// Merges the samples of all tiles in one band, `limit` at most; returns their number.
    fn merge_chosen(
        &mut self,
        transport: &mut dyn Transport<T>,
        band: u64,
        max_candidates: u64,
        each: &mut dyn FnMut(Key) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let tiles = self.tiles.len();
        let (mut keys, mut from) = (vec![VecDeque::new(); tiles], vec![0u64; tiles]);
        let mut heap = BinaryHeap::new();
        let mut empty = self.ids();
        let mut count = 0;
        let call_limit = keys_per_call(self.plan.mode).min(max_candidates);
        loop {
            if !empty.is_empty() {
                let starts = from.clone();
                let make = move |_: &mut Self, tile: TileId| Request::Chosen {
                    band,
                    from: starts[tile as usize],
                    max_keys: call_limit,
                };
                for (tile, reply) in self.call_tiles(transport, &empty, After::Begin, &make)? {
                    let Reply::Chosen(found) = reply else {
                        return Err(unexpected(tile, "Chosen"));
                    };
                    let k = tile as usize;
                    from[k] += found.len() as u64;
                    keys[k] = found.into();
                    heap.extend(keys[k].pop_front().map(|key| Reverse((key, tile))));
                }
                empty.clear();
            }
            let Some(Reverse((key, tile))) = heap.pop() else { return Ok(count) };
            if count == max_candidates {
                return Ok(count);
            }
            each(key)?;
            count += 1;
            match keys[tile as usize].pop_front() {
                Some(key) => heap.push(Reverse((key, tile))),
                None => empty.push(tile),
            }
        }
    }
}
