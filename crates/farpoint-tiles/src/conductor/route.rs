//! Routing of facts and undecided points to the tiles within their reach.

use super::calls::{Run, TileState, unexpected};
use super::{Conductor, TileSummary};
use crate::message::Reply;
use crate::slab::larger;
use crate::{Bound, Corners, Entry, Error, TileId};
use farpoint::Scalar;

impl<T: Scalar> Conductor<T> {
    /// Returns the facts within reach of a tile that it has not acknowledged.
    pub(super) fn facts_for(&self, tile: TileId) -> Vec<Entry<T>> {
        let sent_facts = self.state(tile).sent_facts;
        self.facts_near(tile, sent_facts, &[self.reach_of(tile)])
    }

    /// Returns the facts within reach of a tile or of points that it shall decide for others.
    pub(super) fn facts_for_all(&self, tile: TileId, carried: &[Entry<T>]) -> Vec<Entry<T>> {
        self.facts_near(tile, 0, &self.reaches(tile, carried))
    }

    fn facts_near(&self, tile: TileId, from: usize, reaches: &[Bound<T>]) -> Vec<Entry<T>> {
        let restarted = self.state(tile).restarted;
        let facts = self.current().facts[from..].iter();
        let foreign = facts.filter(|(_, from)| *from != tile || restarted).map(|(fact, _)| fact);
        // Not `<`: the sample that proves the floor may lie exactly there.
        let near = |fact: &&Entry<T>| {
            let near = |reach: &Bound<T>| {
                let distance = reach.corners.near(fact.at);
                distance <= fact.value && distance <= reach.largest
            };
            reaches.iter().any(near)
        };
        foreign.filter(near).copied().collect()
    }

    /// Returns the region that affects a tile: its box and its largest distance.
    fn reach_of(&self, tile: TileId) -> Bound<T> {
        let TileSummary { corners, largest, .. } = self.tiles[tile as usize];
        Bound { corners, largest }
    }

    /// Returns the regions that affect what a tile decides: its own points, and those of each tile that are carried to it.
    fn reaches(&self, tile: TileId, carried: &[Entry<T>]) -> Vec<Bound<T>> {
        let mut reaches = vec![around(&[]); self.tiles.len()];
        for entry in carried {
            let reach = &mut reaches[entry.tile as usize];
            reach.corners.add(entry.at);
            reach.largest = larger(reach.largest, entry.value);
        }
        reaches.retain(|reach| !reach.corners.is_empty());
        reaches.push(self.reach_of(tile));
        reaches
    }

    /// Returns undecided points of other tiles within reach of those of a tile.
    pub(super) fn undecided_for(&self, tile: TileId) -> Vec<Entry<T>> {
        let state = self.state(tile);
        // A restarted tile has more undecided points than it reported.
        let reach = match state.solved && !state.restarted {
            true => around(&state.open),
            false => self.reach_of(tile),
        };
        let others = self.current().tiles.iter().enumerate();
        let others = others.filter(|&(k, _)| k != tile as usize);
        let open = others.flat_map(|(_, state)| &state.open);
        open.filter(|entry| reach.reaches(entry)).copied().collect()
    }

    /// Splits the undecided points of a sweep into those that a tile shall decide, as they are within its reach, those
    /// that may block them, and the others, which do not affect it.
    pub(super) fn carried_for(&self, tile: TileId, undecided: Vec<Entry<T>>) -> [Vec<Entry<T>>; 3] {
        let own = self.reach_of(tile).corners;
        let near = |entry: &Entry<T>| own.near(entry.at) < entry.value;
        let (carried, remaining): (Vec<_>, Vec<_>) = undecided.into_iter().partition(near);
        let mut reaches = self.reaches(tile, &carried);
        // Those within the tile's own reach are carried.
        reaches.pop();
        let near = |entry: &Entry<T>| reaches.iter().any(|reach| reach.reaches(entry));
        let (others, rest) = remaining.into_iter().partition(near);
        [carried, others, rest]
    }

    /// Returns pages of the other tiles that `which` selects, within reach of a tile or of points that it shall
    /// decide for others.
    pub(super) fn bounds_for(
        &self,
        tile: TileId,
        carried: &[Entry<T>],
        which: impl Fn(TileId) -> bool,
    ) -> Vec<Bound<T>> {
        let reaches = self.reaches(tile, carried);
        let others = self.current().tiles.iter().enumerate();
        let others = others.filter(|&(k, _)| k != tile as usize && which(k as TileId));
        let near = |bound: &&Bound<T>| {
            let near = |reach: &Bound<T>| {
                let distance = reach.corners.near_box(&bound.corners);
                distance < bound.largest && distance < reach.largest
            };
            reaches.iter().any(near)
        };
        others.flat_map(|(_, state)| &state.bounds).filter(near).copied().collect()
    }

    pub(super) fn current(&self) -> &Run<T> {
        self.run.as_ref().expect("a band is under way")
    }

    pub(super) fn state(&self, tile: TileId) -> &TileState<T> {
        &self.current().tiles[tile as usize]
    }

    /// Records what a tile has decided. Returns the undecided ones of the points carried to it.
    pub(super) fn take_solved(
        &mut self,
        tile: TileId,
        reply: Reply<T>,
    ) -> Result<Vec<Entry<T>>, Error> {
        let Reply::Solved { from, facts, open, carried, candidates, floor, .. } = reply else {
            return Err(unexpected(tile, "Solve"));
        };
        let run = self.run.as_mut().expect("a band is under way");
        let state = &mut run.tiles[tile as usize];
        state.received_facts = from + facts.len() as u64;
        state.reached = floor;
        if !state.solved {
            self.statistics.candidates += candidates;
        }
        state.solved = true;
        state.bounds.clear();
        state.open = open;
        for fact in facts {
            if run.fact_indices.insert(fact.index) {
                run.facts.push((fact, tile));
            }
        }
        Ok(carried)
    }

    /// Removes undecided points that other tiles have decided.
    pub(super) fn forget_decided(&mut self) {
        let run = self.run.as_mut().expect("a band is under way");
        for state in &mut run.tiles {
            state.open.retain(|entry| !run.fact_indices.contains(&entry.index));
        }
    }

    /// Calls [`Self::take_solved`] where nothing was carried.
    pub(super) fn solved(&mut self, tile: TileId, reply: Reply<T>) -> Result<(), Error> {
        self.take_solved(tile, reply).map(drop)
    }
}

/// Returns the box around undecided points and their largest distance.
fn around<T: Scalar>(entries: &[Entry<T>]) -> Bound<T> {
    let empty = Bound { corners: Corners::none(), largest: T::ZERO };
    entries.iter().fold(empty, |mut bound, entry| {
        bound.corners.add(entry.at);
        Bound { largest: larger(bound.largest, entry.value), ..bound }
    })
}

impl<T: Scalar> Bound<T> {
    /// Returns whether an undecided point may block one in this bound.
    fn reaches(&self, entry: &Entry<T>) -> bool {
        let distance = self.corners.near(entry.at);
        distance < entry.value && distance < self.largest
    }
}
