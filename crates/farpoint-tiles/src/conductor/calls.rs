//! Calls to tiles, repeated until they are answered; tiles that began anew are brought up to date.

use super::{Conductor, given_up};
use crate::message::{Reply, Request, Solve};
use crate::{Bound, Entry, Error, Key, Lost, TileId, Transport};
use farpoint::Scalar;
use std::collections::HashSet;

/// A band that is under way.
pub(super) struct Run<T> {
    /// The floor that tiles were asked to prepare for.
    pub(super) asked: Key,
    /// The floor that it has.
    pub(super) floor: Key,
    /// Candidates each tile may have; 0 for a deep band.
    pub(super) most: u64,
    /// Facts that were told, each with the tile that told it.
    pub(super) facts: Vec<(Entry<T>, TileId)>,
    pub(super) known: HashSet<u64>,
    pub(super) tiles: Vec<Working<T>>,
}

/// What is known of a tile in a band.
#[derive(Clone)]
pub(super) struct Working<T> {
    pub(super) candidates: u64,
    /// Its pages that may hold candidates; gone once it has told what is undecided.
    pub(super) bounds: Vec<Bound<T>>,
    pub(super) open: Vec<Entry<T>>,
    /// Whether it has looked at its candidates.
    pub(super) solved: bool,
    /// How many of the facts it was told.
    pub(super) told: usize,
    /// How many facts it has told itself.
    pub(super) seen: u64,
    /// Whether it has forgotten what it told.
    pub(super) anew: bool,
    /// Down to which floor it has decided.
    pub(super) reached: Key,
}

impl<T> Run<T> {
    pub(super) fn new(tiles: usize, floor: Key, most: u64) -> Self {
        let working = || Working {
            candidates: 0,
            bounds: Vec::new(),
            open: Vec::new(),
            solved: false,
            told: 0,
            seen: 0,
            anew: false,
            reached: floor,
        };
        let tiles = std::iter::repeat_with(working).take(tiles).collect();
        let (facts, known) = Default::default();
        Self { asked: floor, floor, most, facts, known, tiles }
    }
}

/// What a tile must have done before it can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum After {
    Begin,
    Prepare,
    Solve,
}

/// What a tile may keep of a deep band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// Anything; its points, too, if so.
    Any(bool),
    /// Not its points, and so much that is undecided or to be told.
    Limited(u64),
}

/// Makes the request for a tile.
pub(super) type Make<'a, T> = &'a dyn Fn(&mut Conductor<T>, TileId) -> Request<T>;

impl<T: Scalar> Conductor<T> {
    /// Begins all tiles.
    pub(super) fn begin_tiles(&mut self, transport: &mut dyn Transport<T>) -> Result<(), Error> {
        self.epoch += 1;
        let make = |own: &mut Self, tile| own.begin_request(tile);
        for (tile, reply) in self.ask(transport, &self.ids(), After::Begin, &make)? {
            let Reply::About { points, corners, finished, largest } = reply else {
                return Err(unexpected(tile, "Begin"));
            };
            if finished != self.finished {
                return Err(Error::LogTooShort { tile, has: finished, needed: self.finished });
            }
            let known = &mut self.tiles[tile as usize];
            if self.finished > 0 && (known.points, known.corners) != (points, corners) {
                let text = format!(
                    "tile {tile} has {points} points, the manifest says {}: not the tile that it was",
                    known.points
                );
                return Err(Error::Mismatch(text));
            }
            (known.points, known.corners) = (points, corners);
            if self.finished == 0 {
                known.largest = largest;
            }
        }
        Ok(())
    }

    pub(super) fn begin_request(&mut self, tile: TileId) -> Request<T> {
        let tiles = self.tiles.iter().map(|known| known.corners).collect();
        Request::Begin { epoch: self.epoch, tile, tiles, finished: self.finished }
    }

    /// Asks tiles until all have answered.
    pub(super) fn ask(
        &mut self,
        transport: &mut dyn Transport<T>,
        tiles: &[TileId],
        after: After,
        make: Make<'_, T>,
    ) -> Result<Vec<(TileId, Reply<T>)>, Error> {
        let mut left = tiles.to_vec();
        let mut answers = Vec::new();
        let mut last = Lost(String::new());
        for _ in 0..self.plan.tries {
            if left.is_empty() {
                break;
            }
            let calls = left.iter().map(|&tile| (tile, make(self, tile))).collect();
            let replies = self.call(transport, calls)?;
            let mut behind = Vec::new();
            for (tile, reply) in std::mem::take(&mut left).into_iter().zip(replies) {
                match reply {
                    Ok(Reply::Behind { .. }) => behind.push(tile),
                    Ok(reply) => answers.push((tile, reply)),
                    Err(lost) => (last, _) = (lost, left.push(tile)),
                }
            }
            for tile in behind {
                // That may be lost, too: the tile is behind, then, the next time.
                match self.recover(transport, tile, after)? {
                    Ok(()) => {}
                    Err(lost) => last = lost,
                }
                left.push(tile);
            }
        }
        match left.first() {
            Some(&tile) => Err(given_up(tile, self.plan.tries, &last)),
            None => {
                answers.sort_by_key(|&(tile, _)| tile);
                Ok(answers)
            }
        }
    }

    /// Makes calls once. What a tile says of itself that it failed is an error.
    fn call(
        &mut self,
        transport: &mut dyn Transport<T>,
        calls: Vec<(TileId, Request<T>)>,
    ) -> Result<Vec<Result<Reply<T>, Lost>>, Error> {
        let tiles: Vec<TileId> = calls.iter().map(|&(tile, _)| tile).collect();
        self.statistics.calls += tiles.len() as u64;
        let replies = transport.call(calls);
        if replies.len() != tiles.len() {
            let text = format!("{} calls brought {} results", tiles.len(), replies.len());
            return Err(Error::Mismatch(text));
        }
        for (tile, reply) in tiles.into_iter().zip(&replies) {
            if let Ok(Reply::Failed(text)) = reply {
                return Err(Error::Tile { tile, text: text.clone() });
            }
            self.statistics.repeated += u64::from(reply.is_err());
        }
        Ok(replies)
    }

    /// Brings a tile up to date that has begun anew.
    fn recover(
        &mut self,
        transport: &mut dyn Transport<T>,
        tile: TileId,
        after: After,
    ) -> Result<Result<(), Lost>, Error> {
        self.statistics.recovered += 1;
        self.epoch += 1;
        let request = self.begin_request(tile);
        match self.call(transport, vec![(tile, request)])?.remove(0) {
            Ok(Reply::About { finished, .. }) if finished == self.finished => {}
            Ok(Reply::About { finished, .. }) => {
                return Err(Error::LogTooShort { tile, has: finished, needed: self.finished });
            }
            Ok(_) => return Ok(Err(Lost("the tile did not begin".into()))),
            Err(lost) => return Ok(Err(lost)),
        }
        let Some(run) = &mut self.run else { return Ok(Ok(())) };
        let working = &mut run.tiles[tile as usize];
        (working.told, working.seen, working.anew) = (0, 0, true);
        if after >= After::Prepare {
            let (floor, most) = (run.asked, run.most);
            let request = Request::Prepare { band: self.finished, floor, most };
            match self.call(transport, vec![(tile, request)])?.remove(0) {
                Ok(Reply::Prepared { .. }) => {}
                other => return Ok(Err(began_again(other))),
            }
        }
        if after >= After::Solve && self.run.as_ref().is_some_and(|r| r.tiles[tile as usize].solved)
        {
            // All others have decided all of theirs and told what matters here.
            let request = self.solve_request(tile, vec![], vec![], vec![], Room::Any(false));
            match self.call(transport, vec![(tile, request)])?.remove(0) {
                Ok(reply @ Reply::Solved { .. }) => self.solved(tile, reply)?,
                other => return Ok(Err(began_again(other))),
            }
        }
        Ok(Ok(()))
    }

    /// A request to decide, with all facts that the tile was not told yet.
    pub(super) fn solve_request(
        &mut self,
        tile: TileId,
        others: Vec<Entry<T>>,
        carried: Vec<Entry<T>>,
        bounds: Vec<Bound<T>>,
        room: Room,
    ) -> Request<T> {
        let facts = match carried.is_empty() {
            true => self.facts_for(tile),
            false => self.facts_for_all(tile, &carried),
        };
        let run = self.run.as_ref().expect("a band is under way");
        self.statistics.told_facts += facts.len() as u64;
        self.statistics.told_undecided += (others.len() + carried.len()) as u64;
        self.statistics.told_bounds += bounds.len() as u64;
        Request::Solve(Solve {
            band: self.finished,
            floor: run.floor,
            deep: run.most == 0,
            keep: room == Room::Any(true),
            room: if let Room::Limited(room) = room { room } else { u64::MAX },
            seen: run.tiles[tile as usize].seen,
            facts,
            others,
            carried,
            bounds,
        })
    }
}

/// A tile that was being brought up to date did not answer as it should.
fn began_again<T>(reply: Result<Reply<T>, Lost>) -> Lost {
    reply.err().unwrap_or_else(|| Lost("the tile began anew once more".into()))
}

/// An error for a reply of the wrong kind.
pub(super) fn unexpected(tile: TileId, request: &str) -> Error {
    let text = format!("it answered {request} with something else");
    Error::Tile { tile, text }
}
