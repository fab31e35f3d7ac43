//! Who must know what: what one tile has decided or not, within reach of another.

use super::calls::{Run, Working, unexpected};
use super::{Conductor, Known};
use crate::message::Reply;
use crate::slab::larger;
use crate::{Bound, Corners, Entry, Error, TileId};
use farpoint::Scalar;

impl<T: Scalar> Conductor<T> {
    /// Facts within reach of a tile that it has not acknowledged.
    pub(super) fn facts_for(&self, tile: TileId) -> Vec<Entry<T>> {
        let told = self.working(tile).told;
        self.facts_near(tile, told, &[self.reach_of(tile)])
    }

    /// Facts within reach of a tile or of points that it shall decide for others.
    pub(super) fn facts_for_all(&self, tile: TileId, carried: &[Entry<T>]) -> Vec<Entry<T>> {
        self.facts_near(tile, 0, &self.reaches(tile, carried))
    }

    fn facts_near(&self, tile: TileId, from: usize, reaches: &[Bound<T>]) -> Vec<Entry<T>> {
        let anew = self.working(tile).anew;
        let facts = self.current().facts[from..].iter();
        let foreign = facts.filter(|(_, from)| *from != tile || anew).map(|(fact, _)| fact);
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

    /// How far what is in a tile can matter to it.
    fn reach_of(&self, tile: TileId) -> Bound<T> {
        let Known { corners, largest, .. } = self.tiles[tile as usize];
        Bound { corners, largest }
    }

    /// The same of what a tile decides: its own points, and those of each tile that are carried to it.
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

    /// Undecided points of other tiles within reach of what a tile has not decided.
    pub(super) fn open_for(&self, tile: TileId) -> Vec<Entry<T>> {
        let working = self.working(tile);
        // A tile that began anew has more undecided points than it told of.
        let reach = match working.solved && !working.anew {
            true => around(&working.open),
            false => self.reach_of(tile),
        };
        let others = self.current().tiles.iter().enumerate();
        let others = others.filter(|&(k, _)| k != tile as usize);
        let open = others.flat_map(|(_, working)| &working.open);
        open.filter(|entry| reach.reaches(entry)).copied().collect()
    }

    /// Of undecided points in a sweep, those that a tile shall decide, for they are within its reach; those that
    /// may block them; and the others, which do not matter there.
    pub(super) fn carried_for(&self, tile: TileId, undecided: Vec<Entry<T>>) -> [Vec<Entry<T>>; 3] {
        let own = self.reach_of(tile).corners;
        let near = |entry: &Entry<T>| own.near(entry.at) < entry.value;
        let (carried, left): (Vec<_>, Vec<_>) = undecided.into_iter().partition(near);
        let mut reaches = self.reaches(tile, &carried);
        // Those within the tile's own reach are carried.
        reaches.pop();
        let near = |entry: &Entry<T>| reaches.iter().any(|reach| reach.reaches(entry));
        let (others, rest) = left.into_iter().partition(near);
        [carried, others, rest]
    }

    /// Pages of other tiles, of those that `which` selects, within reach of a tile or of points that it shall
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
        others.flat_map(|(_, working)| &working.bounds).filter(near).copied().collect()
    }

    pub(super) fn current(&self) -> &Run<T> {
        self.run.as_ref().expect("a band is under way")
    }

    pub(super) fn working(&self, tile: TileId) -> &Working<T> {
        &self.current().tiles[tile as usize]
    }

    /// Takes in what a tile has decided. Returns what is left of the points that it was to decide for others.
    pub(super) fn take_solved(
        &mut self,
        tile: TileId,
        reply: Reply<T>,
    ) -> Result<Vec<Entry<T>>, Error> {
        let Reply::Solved { from, facts, open, carried, candidates, floor, .. } = reply else {
            return Err(unexpected(tile, "Solve"));
        };
        let run = self.run.as_mut().expect("a band is under way");
        let working = &mut run.tiles[tile as usize];
        working.seen = from + facts.len() as u64;
        working.reached = floor;
        if !working.solved {
            self.statistics.candidates += candidates;
        }
        working.solved = true;
        working.bounds.clear();
        working.open = open;
        for fact in facts {
            if run.known.insert(fact.index) {
                run.facts.push((fact, tile));
            }
        }
        Ok(carried)
    }

    /// Points that others have decided are open no more.
    pub(super) fn forget_decided(&mut self) {
        let run = self.run.as_mut().expect("a band is under way");
        for working in &mut run.tiles {
            working.open.retain(|entry| !run.known.contains(&entry.index));
        }
    }

    /// As [`Self::take_solved`], where nothing was carried.
    pub(super) fn solved(&mut self, tile: TileId, reply: Reply<T>) -> Result<(), Error> {
        self.take_solved(tile, reply).map(drop)
    }
}

/// A box around undecided points, and the largest distance of them.
fn around<T: Scalar>(entries: &[Entry<T>]) -> Bound<T> {
    let none = Bound { corners: Corners::none(), largest: T::ZERO };
    entries.iter().fold(none, |mut sum, entry| {
        sum.corners.add(entry.at);
        Bound { largest: larger(sum.largest, entry.value), ..sum }
    })
}

impl<T: Scalar> Bound<T> {
    /// Whether an undecided point may block one in here.
    fn reaches(&self, entry: &Entry<T>) -> bool {
        let distance = self.corners.near(entry.at);
        distance < entry.value && distance < self.largest
    }
}
