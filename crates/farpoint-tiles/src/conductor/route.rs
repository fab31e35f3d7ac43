//! Who must know what: what one tile has decided or not, within reach of another.

use super::Conductor;
use super::calls::unexpected;
use crate::message::Reply;
use crate::{Bound, Corners, Entry, Error, TileId};
use farpoint::Scalar;

impl<T: Scalar> Conductor<T> {
    /// Facts within reach of a tile that it has not acknowledged.
    pub(super) fn facts_for(&self, tile: TileId) -> Vec<Entry<T>> {
        let run = self.run.as_ref().expect("a band is under way");
        let working = &run.tiles[tile as usize];
        let corners = &self.tiles[tile as usize].corners;
        let new = run.facts[working.told..].iter();
        // Not `<`: the sample that proves the floor may lie exactly there.
        let near = new.filter(|(fact, from)| {
            (*from != tile || working.anew) && corners.near(fact.at) <= fact.value
        });
        near.map(|(fact, _)| *fact).collect()
    }

    /// Boxes around what a tile decides: its own points, and those of each tile that are carried to it.
    fn boxes_for(&self, tile: TileId, carried: &[Entry<T>]) -> Vec<Corners<T>> {
        let mut boxes = vec![Corners::none(); self.tiles.len()];
        carried.iter().for_each(|entry| boxes[entry.tile as usize].add(entry.at));
        boxes.retain(|corners| !corners.is_empty());
        boxes.push(self.tiles[tile as usize].corners);
        boxes
    }

    /// Facts within reach of a tile or of points that it shall decide for others.
    pub(super) fn facts_for_all(&self, tile: TileId, carried: &[Entry<T>]) -> Vec<Entry<T>> {
        let run = self.run.as_ref().expect("a band is under way");
        let boxes = self.boxes_for(tile, carried);
        let others =
            run.facts.iter().filter(|(_, from)| *from != tile || run.tiles[tile as usize].anew);
        let near = others
            .filter(|(fact, _)| boxes.iter().any(|corners| corners.near(fact.at) <= fact.value));
        near.map(|(fact, _)| *fact).collect()
    }

    /// Undecided points of other tiles within reach of a tile.
    pub(super) fn open_for(&self, tile: TileId) -> Vec<Entry<T>> {
        let run = self.run.as_ref().expect("a band is under way");
        let corners = &self.tiles[tile as usize].corners;
        let others = run.tiles.iter().enumerate().filter(|&(k, _)| k != tile as usize);
        let open = others.flat_map(|(_, working)| &working.open);
        open.filter(|entry| corners.near(entry.at) < entry.value).copied().collect()
    }

    /// Pages of other tiles, of those that `which` selects, within reach of a tile or of points that it shall
    /// decide for others.
    pub(super) fn bounds_for(
        &self,
        tile: TileId,
        carried: &[Entry<T>],
        which: impl Fn(TileId) -> bool,
    ) -> Vec<Bound<T>> {
        let run = self.run.as_ref().expect("a band is under way");
        let boxes = self.boxes_for(tile, carried);
        let others = run.tiles.iter().enumerate();
        let others = others.filter(|&(k, _)| k != tile as usize && which(k as TileId));
        let near = |bound: &&Bound<T>| {
            boxes.iter().any(|corners| corners.near_box(&bound.corners) < bound.largest)
        };
        others.flat_map(|(_, working)| &working.bounds).filter(near).copied().collect()
    }

    /// Takes in what a tile has decided. Returns what is left of the points that it was to decide for others.
    pub(super) fn take_solved(
        &mut self,
        tile: TileId,
        reply: Reply<T>,
    ) -> Result<Vec<Entry<T>>, Error> {
        let Reply::Solved { from, facts, open, carried, candidates, .. } = reply else {
            return Err(unexpected(tile, "Solve"));
        };
        let run = self.run.as_mut().expect("a band is under way");
        let working = &mut run.tiles[tile as usize];
        working.seen = from + facts.len() as u64;
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
