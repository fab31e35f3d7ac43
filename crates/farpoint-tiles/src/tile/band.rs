//! A band of a tile: its candidates, its decisions, and the facts for other tiles.

use super::Tile;
use crate::ahead::Ahead;
use crate::message::{Reply, Solve};
use crate::slab::{Collected, NOWHERE, Samples};
use crate::solve::{Band, Candidate, Solver};
use crate::{Bound, Corners, Entry, Key, Store, StoreError};
use farpoint::Scalar;
use farpoint::backend::memory;
use std::collections::HashSet;

/// Marks an undecided point of another tile, in place of a slot.
const OTHER: u32 = NOWHERE - 1;

/// Parameters of a deep band.
pub(super) struct Narrow {
    pub(super) floor: Key,
    /// Limit of undecided points and facts to send, see [`crate::message::Solve::room`].
    pub(super) room: u64,
    /// True to write own facts to the log meanwhile.
    pub(super) write: bool,
}

/// Counters of a call to decide.
pub(super) struct Counts {
    /// Candidates examined.
    pub(super) examined: usize,
    /// Facts made.
    pub(super) made: usize,
    /// Floor down to which it was decided.
    pub(super) floor: Key,
}

/// State of the tile's current band.
pub(super) struct BandState<T> {
    number: u64,
    /// Floor for which it was prepared.
    floor: Key,
    thin: bool,
    /// Candidates of a thin band, until they are first examined.
    collected: Collected<T>,
    /// Reply to the request to prepare: these four.
    candidates: u64,
    local: Key,
    touched: u64,
    bounds: Vec<Bound<T>>,
    /// Own candidates that were blocked; `None` before they are examined.
    pub(super) waiting: Option<Vec<Candidate<T>>>,
    /// Facts received, in order.
    pub(super) facts: Vec<Entry<T>>,
    /// Their indices.
    known: HashSet<u64>,
    /// Facts made by this tile.
    made: Vec<Entry<T>>,
    /// Facts to send to other tiles.
    outgoing: Vec<Entry<T>>,
    /// Indices of received facts that are applied to the distances in memory.
    applied: HashSet<u64>,
    /// Number of facts in `made` that are applied to them.
    applied_made: usize,
    /// Floor down to which it was decided, once all decisions are in the log and none is kept in memory.
    written: Option<Key>,
}

impl<T: Scalar> BandState<T> {
    fn new(number: u64, floor: Key, thin: bool) -> Self {
        let (collected, bounds, facts, made, outgoing) = Default::default();
        let (known, applied) = Default::default();
        Self {
            number,
            floor,
            thin,
            collected,
            candidates: 0,
            local: floor,
            touched: 0,
            bounds,
            waiting: None,
            facts,
            known,
            made,
            outgoing,
            applied,
            applied_made: 0,
            written: None,
        }
    }

    /// Adds facts that were sent to this tile.
    fn learn(&mut self, tile: u32, facts: Vec<Entry<T>>) {
        let before = self.facts.len();
        let waiting_indices: Option<HashSet<u64>> = self
            .waiting
            .as_ref()
            .map(|waiting| waiting.iter().map(|candidate| candidate.entry.index).collect());
        // A fact about an own point that does not wait was also made here.
        let new = |fact: &Entry<T>| {
            fact.tile != tile
                || waiting_indices
                    .as_ref()
                    .is_none_or(|waiting_indices| waiting_indices.contains(&fact.index))
        };
        let known = &mut self.known;
        let facts = facts.into_iter().filter(|fact| new(fact) && known.insert(fact.index));
        memory::extend(&mut self.facts, facts);
        if self.facts.len() > before {
            self.facts.sort_unstable_by_key(Entry::key);
            if let Some(waiting) = &mut self.waiting {
                waiting.retain(|candidate| !self.known.contains(&candidate.entry.index));
            }
        }
    }

    /// Removes the facts about own points that are applied to the distances in memory; returns them in order.
    pub(super) fn take_own_facts(&mut self, tile: u32) -> Vec<Entry<T>> {
        let mut own_facts = self.made.clone();
        own_facts.retain(|fact| fact.tile == tile);
        self.made.retain(|fact| fact.tile != tile);
        self.applied_made = self.made.len();
        own_facts.sort_unstable_by_key(Entry::key);
        own_facts
    }

    /// Returns the number of facts to send to other tiles.
    pub(super) fn outgoing_len(&self) -> usize {
        self.outgoing.len()
    }

    /// Returns the keys of the candidates of this band, if it is thin and they were not examined yet.
    pub(super) fn candidate_keys(&self, band: u64) -> Option<impl Iterator<Item = Key>> {
        let available = self.number == band && self.thin && self.waiting.is_none();
        available.then(|| self.collected.iter().map(|(entry, _)| entry.key()))
    }

    pub(super) fn knows(&self, index: u64) -> bool {
        !self.known.is_empty() && self.known.contains(&index)
    }

    /// Adds facts made by this tile; `reaches` returns whether another tile needs one.
    pub(super) fn make(&mut self, made: &[Candidate<T>], reaches: impl Fn(&Entry<T>) -> bool) {
        for Candidate { entry, .. } in made {
            memory::push(&mut self.made, *entry);
            if reaches(entry) {
                memory::push(&mut self.outgoing, *entry);
            }
        }
    }

    /// Marks all facts made so far, and these of the received ones, as applied to the distances in memory.
    pub(super) fn apply(&mut self, received: std::ops::Range<usize>) {
        self.applied_made = self.made.len();
        self.applied.extend(self.facts[received].iter().map(|fact| fact.index));
    }
}

/// Boxes of the other tiles, and the number of this one.
pub(super) struct Neighbors<T> {
    own: u32,
    tiles: Vec<Corners<T>>,
}

impl<T: Scalar> Neighbors<T> {
    /// Returns whether another tile needs a fact.
    pub(super) fn reached_by(&self, fact: &Entry<T>) -> bool {
        fact.tile != self.own || self.tiles.iter().any(|tile| tile.near(fact.at) <= fact.value)
    }
}

impl<T: Scalar, S: Store<T>> Tile<T, S> {
    pub(super) fn prepare(
        &mut self,
        band: u64,
        floor: Key,
        max_candidates: u64,
    ) -> Result<Reply<T>, StoreError> {
        if band != self.log.bands() {
            return self.behind();
        }
        self.points.load_if_resident(&mut self.store, &self.log)?;
        let thin = max_candidates > 0;
        let is_prepared = |state: &BandState<T>| {
            let examined = state.waiting.is_some();
            state.number == band && state.floor == floor && (state.thin == thin || examined)
        };
        if !self.band.as_ref().is_some_and(is_prepared) {
            if self.log.has_unfinished() {
                // Decisions down to another floor must be forgotten first.
                return self.behind();
            }
            let mut state = BandState::new(band, floor, thin);
            if thin {
                let query = (self.id, floor, max_candidates as usize);
                let (store, log) = (&mut self.store, &self.log);
                state.local = self.points.collect(store, log, query, &mut state.collected)?;
                state.candidates = state.collected.len() as u64;
            }
            let bounds = self.points.bounds(floor, self.id as usize, &self.tiles);
            (state.touched, state.bounds) = bounds;
            self.band = Some(state);
        }
        let state = self.band.as_ref().expect("prepared above");
        let BandState { candidates, local: floor, touched, .. } = *state;
        let bounds = state.bounds.clone();
        Ok(Reply::Prepared { candidates, floor, touched, bounds })
    }

    pub(super) fn solve(&mut self, solve: Solve<T>) -> Result<Reply<T>, StoreError> {
        let of_band = |state: &BandState<T>| {
            state.number == solve.band && solve.floor <= state.local && state.written.is_none()
        };
        let Some(mut state) = self.band.take_if(|state| of_band(state)) else {
            return self.behind();
        };
        let Solve { floor, deep, keep, room, seen, facts, others, carried, bounds, .. } = solve;
        let write = !keep && self.points.can_unload();
        state.learn(self.id, facts);
        let ahead = Ahead::new(bounds);
        let mut rest = self.foreign(&state, floor, others, carried);
        let first = state.waiting.is_none();
        let counts = if first && deep {
            self.points.load(&mut self.store, &self.log)?;
            let room = if write { room } else { u64::MAX };
            let how = Narrow { floor, room, write };
            let counts = self.solve_narrow(&mut state, how, &ahead, &mut rest)?;
            if write {
                self.points.unload(&mut self.store)?;
                self.solver = Solver::new(self.points.level());
            }
            counts
        } else {
            if first {
                self.take_collected(&mut state, floor);
            }
            let before = state.made.len();
            let examined = self.solve_list(&mut state, floor, &ahead, &mut rest);
            Counts { examined, made: state.made.len() - before, floor }
        };
        let Counts { examined, made, floor } = counts;
        rest.retain(|candidate| candidate.slot == NOWHERE && candidate.entry.key() < floor);
        let entries = |list: Vec<Candidate<T>>| list.into_iter().map(|c| c.entry).collect();
        let from = if seen <= state.outgoing.len() as u64 { seen } else { 0 };
        let (facts, open): (_, Vec<Entry<T>>) = match first && deep && write {
            true => {
                let mut facts = self.write_all(&mut state, floor)?;
                facts.drain(..from as usize);
                (facts, entries(state.waiting.take().unwrap_or_default()))
            }
            false => {
                let waiting = state.waiting.iter().flatten().map(|candidate| candidate.entry);
                (state.outgoing[from as usize..].to_vec(), waiting.collect())
            }
        };
        let carried = entries(rest);
        let (candidates, made) = (examined as u64, made as u64);
        self.band = Some(state);
        Ok(Reply::Solved { from, facts, open, carried, candidates, made, floor })
    }

    /// Writes all facts of a band to the log and drops them; returns those to send to other tiles.
    fn write_all(
        &mut self,
        state: &mut BandState<T>,
        floor: Key,
    ) -> Result<Vec<Entry<T>>, StoreError> {
        let facts = state.take_own_facts(self.id);
        self.log.append(&mut self.store, floor, &facts, false)?;
        drop(facts);
        let mut received = std::mem::take(&mut state.facts);
        received.append(&mut state.made);
        self.log.append(&mut self.store, floor, &received, false)?;
        (state.known, state.applied) = Default::default();
        state.bounds = Vec::new();
        (state.applied_made, state.written) = (0, Some(floor));
        Ok(std::mem::take(&mut state.outgoing))
    }

    /// Returns undecided points of other tiles: those that only block, and those to be decided here.
    fn foreign(
        &self,
        state: &BandState<T>,
        floor: Key,
        others: Vec<Entry<T>>,
        carried: Vec<Entry<T>>,
    ) -> Vec<Candidate<T>> {
        if others.is_empty() && carried.is_empty() {
            return Vec::new();
        }
        let mut all = memory::with_capacity(others.len() + carried.len());
        let candidate_of =
            |held: bool, slot: u32| move |entry: Entry<T>| Candidate { entry, slot, held };
        let foreign = others.into_iter().map(candidate_of(true, OTHER));
        let foreign = foreign.chain(carried.into_iter().map(candidate_of(false, NOWHERE)));
        let undecided = |candidate: &Candidate<T>| {
            let Entry { index, tile, .. } = candidate.entry;
            tile != self.id && candidate.entry.key() < floor && !state.knows(index)
        };
        all.extend(foreign.filter(undecided));
        // Carried points are not also held.
        all.sort_unstable_by_key(|candidate| (candidate.entry.index, candidate.held));
        all.dedup_by_key(|candidate| candidate.entry.index);
        let made: HashSet<u64> = state.outgoing.iter().map(|fact| fact.index).collect();
        all.retain(|candidate| !made.contains(&candidate.entry.index));
        all
    }

    /// Makes the collected candidates of a thin band wait for a decision.
    fn take_collected(&mut self, state: &mut BandState<T>, floor: Key) {
        let collected = std::mem::take(&mut state.collected);
        let undecided = |entry: &Entry<T>| entry.key() < floor && !state.knows(entry.index);
        let own = collected.into_iter().filter(|(entry, _)| undecided(entry));
        let own = own.map(|(entry, slot)| Candidate { entry, slot, held: false });
        state.waiting = Some(own.collect());
    }

    /// Decides the candidates that wait and those in `rest`, where possible; returns their number.
    fn solve_list(
        &mut self,
        state: &mut BandState<T>,
        floor: Key,
        ahead: &Ahead<T>,
        rest: &mut Vec<Candidate<T>>,
    ) -> usize {
        let mut own = state.waiting.take().unwrap_or_default();
        own.iter_mut().for_each(|candidate| candidate.held = false);
        let foreign = std::mem::take(rest);
        let own_count = own.len();
        let examined = own_count + foreign.len();
        own.extend(foreign);
        let mut made = Vec::new();
        let mut facts = state.facts.clone();
        if examined > own_count {
            // Own facts lowered own candidates when they were made, but none of other tiles.
            facts.extend_from_slice(&state.outgoing);
            facts.sort_unstable_by_key(Entry::key);
        }
        facts.truncate(facts.partition_point(|fact| fact.key() < floor));
        let band = Band { floor, facts: &facts, ahead };
        self.solver.solve(&mut own, &band, &mut made);
        let neighbors = self.neighbors();
        state.make(&made, |fact| neighbors.reached_by(fact));
        own.retain(|candidate| candidate.entry.key() < floor);
        let (own, foreign) = own.into_iter().partition(|candidate| candidate.entry.tile == self.id);
        (state.waiting, *rest) = (Some(own), foreign);
        examined
    }

    pub(super) fn neighbors(&self) -> Neighbors<T> {
        let own = self.id;
        let others = self.tiles.iter().enumerate().filter(|&(k, _)| k != own as usize);
        let others = others.filter(|(_, tile)| !tile.is_empty()).map(|(_, tile)| *tile);
        Neighbors { own, tiles: others.collect() }
    }

    pub(super) fn finish(
        &mut self,
        band: u64,
        floor: Key,
        solved: bool,
        facts: Vec<Entry<T>>,
    ) -> Result<Reply<T>, StoreError> {
        if band < self.log.bands() {
            return self.finished(band);
        }
        let ready = |state: &BandState<T>| {
            let decided = state.written.map_or(state.waiting.is_some(), |to| to == floor);
            state.number == band && (decided || !solved)
        };
        let state = self.band.take_if(|state| ready(state));
        // The band of the start points is not prepared.
        let state = state.or_else(|| (band == 0).then(|| BandState::new(0, floor, true)));
        let Some(mut state) = state.filter(|_| band == self.log.bands()) else {
            return self.behind();
        };
        self.points.load_if_resident(&mut self.store, &self.log)?;
        let mut facts = facts;
        if state.written.is_some() && facts.iter().any(|fact| fact.tile == self.id) {
            // A restarted tile also receives its own facts.
            let own = self.log.unfinished_rows(&mut self.store)?;
            facts.retain(|f| f.tile != self.id || own.binary_search(&f.index).is_err());
        }
        state.learn(self.id, facts);
        let BandState { mut facts, made, applied, applied_made, thin, .. } = state;
        let mut samples = Samples::new();
        let received = facts.iter().filter(|fact| !applied.contains(&fact.index));
        received.chain(&made[applied_made..]).for_each(|fact| samples.push(fact.at));
        facts.extend(made);
        facts.sort_unstable_by_key(Entry::key);
        facts.dedup_by_key(|fact| fact.index);
        self.log.append(&mut self.store, floor, &facts, true)?;
        self.points.apply(&samples, floor.value(), thin);
        self.finished(band)
    }

    pub(super) fn finished(&self, band: u64) -> Result<Reply<T>, StoreError> {
        let (chosen, largest) = (self.log.chosen(band), self.points.largest());
        Ok(Reply::Finished { chosen, largest })
    }
}
