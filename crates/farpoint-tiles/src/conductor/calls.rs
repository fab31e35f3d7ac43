//! Calls to tiles, repeated until they are answered; restarted tiles are brought up to date.

use super::{Conductor, lost_error};
use crate::message::{Reply, Request, Solve};
use crate::{Bound, Entry, Error, Key, Lost, TileId, Transport};
use farpoint::Scalar;
use std::collections::HashSet;

/// State of the current band.
pub(super) struct Run<T> {
    /// Floor of the request to prepare.
    pub(super) requested_floor: Key,
    /// Floor after limiting the number of candidates.
    pub(super) floor: Key,
    /// Maximum number of candidates of a tile; 0 for a deep band.
    pub(super) max_candidates: u64,
    /// Facts received, each with the tile that sent it.
    pub(super) facts: Vec<(Entry<T>, TileId)>,
    pub(super) fact_indices: HashSet<u64>,
    pub(super) tiles: Vec<TileState<T>>,
}

/// State of a tile in the current band.
#[derive(Clone)]
pub(super) struct TileState<T> {
    pub(super) candidates: u64,
    /// Pages that may hold candidates; empty once the tile has reported its undecided points.
    pub(super) bounds: Vec<Bound<T>>,
    pub(super) open: Vec<Entry<T>>,
    /// True once the tile has examined its candidates.
    pub(super) solved: bool,
    /// Number of facts sent to the tile.
    pub(super) sent_facts: usize,
    /// Number of facts received from the tile.
    pub(super) received_facts: u64,
    /// True if the tile has restarted in this band.
    pub(super) restarted: bool,
    /// Floor down to which the tile has decided.
    pub(super) reached: Key,
}

impl<T> Run<T> {
    pub(super) fn new(tiles: usize, floor: Key, max_candidates: u64) -> Self {
        let state = || TileState {
            candidates: 0,
            bounds: Vec::new(),
            open: Vec::new(),
            solved: false,
            sent_facts: 0,
            received_facts: 0,
            restarted: false,
            reached: floor,
        };
        let tiles = std::iter::repeat_with(state).take(tiles).collect();
        let (facts, fact_indices) = Default::default();
        Self { requested_floor: floor, floor, max_candidates, facts, fact_indices, tiles }
    }
}

/// Last step that a tile must have completed before it can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum After {
    Begin,
    Prepare,
    Solve,
}

/// Limit of the memory that a tile uses in a deep band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// Unlimited; if true, its points also stay in memory.
    Any(bool),
    /// Its points do not stay in memory, and undecided points and facts to send are limited to this number.
    Limited(u64),
}

/// Makes the request for a tile.
pub(super) type MakeRequest<'a, T> = &'a dyn Fn(&mut Conductor<T>, TileId) -> Request<T>;

impl<T: Scalar> Conductor<T> {
    /// Begins all tiles.
    pub(super) fn begin_tiles(&mut self, transport: &mut dyn Transport<T>) -> Result<(), Error> {
        self.epoch += 1;
        let make = |conductor: &mut Self, tile| conductor.begin_request(tile);
        for (tile, reply) in self.call_tiles(transport, &self.ids(), After::Begin, &make)? {
            let Reply::About { points, corners, finished, largest } = reply else {
                return Err(unexpected(tile, "Begin"));
            };
            if finished != self.finished {
                return Err(Error::LogTooShort { tile, has: finished, needed: self.finished });
            }
            let summary = &mut self.tiles[tile as usize];
            if self.finished > 0 && (summary.points, summary.corners) != (points, corners) {
                let text = format!(
                    "tile {tile} has {points} points, but {} in the manifest: its store was replaced",
                    summary.points
                );
                return Err(Error::Mismatch(text));
            }
            (summary.points, summary.corners) = (points, corners);
            if self.finished == 0 {
                summary.largest = largest;
            }
        }
        Ok(())
    }

    pub(super) fn begin_request(&mut self, tile: TileId) -> Request<T> {
        let tiles = self.tiles.iter().map(|summary| summary.corners).collect();
        Request::Begin { epoch: self.epoch, tile, tiles, finished: self.finished }
    }

    /// Calls tiles until all have answered.
    pub(super) fn call_tiles(
        &mut self,
        transport: &mut dyn Transport<T>,
        tiles: &[TileId],
        after: After,
        make: MakeRequest<'_, T>,
    ) -> Result<Vec<(TileId, Reply<T>)>, Error> {
        let mut pending = tiles.to_vec();
        let mut answers = Vec::new();
        let mut last = Lost(String::new());
        for _ in 0..self.plan.tries {
            if pending.is_empty() {
                break;
            }
            let calls = pending.iter().map(|&tile| (tile, make(self, tile))).collect();
            let replies = self.call(transport, calls)?;
            let mut behind = Vec::new();
            for (tile, reply) in std::mem::take(&mut pending).into_iter().zip(replies) {
                match reply {
                    Ok(Reply::Behind { .. }) => behind.push(tile),
                    Ok(reply) => answers.push((tile, reply)),
                    Err(lost) => (last, _) = (lost, pending.push(tile)),
                }
            }
            for tile in behind {
                // That may be lost, too: then the tile is still behind at the next attempt.
                match self.recover(transport, tile, after)? {
                    Ok(()) => {}
                    Err(lost) => last = lost,
                }
                pending.push(tile);
            }
        }
        match pending.first() {
            Some(&tile) => Err(lost_error(tile, self.plan.tries, &last)),
            None => {
                answers.sort_by_key(|&(tile, _)| tile);
                Ok(answers)
            }
        }
    }

    /// Makes each call once.
    ///
    /// # Errors
    /// If a tile reports that it failed.
    fn call(
        &mut self,
        transport: &mut dyn Transport<T>,
        calls: Vec<(TileId, Request<T>)>,
    ) -> Result<Vec<Result<Reply<T>, Lost>>, Error> {
        let tiles: Vec<TileId> = calls.iter().map(|&(tile, _)| tile).collect();
        self.statistics.calls += tiles.len() as u64;
        let replies = transport.call(calls);
        if replies.len() != tiles.len() {
            let text = format!("{} calls returned {} results", tiles.len(), replies.len());
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

    /// Brings a restarted tile up to date.
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
        let state = &mut run.tiles[tile as usize];
        (state.sent_facts, state.received_facts, state.restarted) = (0, 0, true);
        if after >= After::Prepare {
            let (floor, max_candidates) = (run.requested_floor, run.max_candidates);
            let request = Request::Prepare { band: self.finished, floor, max_candidates };
            match self.call(transport, vec![(tile, request)])?.remove(0) {
                Ok(Reply::Prepared { .. }) => {}
                other => return Ok(Err(began_again(other))),
            }
        }
        if after >= After::Solve && self.run.as_ref().is_some_and(|r| r.tiles[tile as usize].solved)
        {
            // All other tiles have decided and sent the facts that matter here.
            let request = self.solve_request(tile, vec![], vec![], vec![], Room::Any(false));
            match self.call(transport, vec![(tile, request)])?.remove(0) {
                Ok(reply @ Reply::Solved { .. }) => self.solved(tile, reply)?,
                other => return Ok(Err(began_again(other))),
            }
        }
        Ok(Ok(()))
    }

    /// Builds a request to decide, with all facts that were not sent to the tile yet.
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
        self.statistics.sent_facts += facts.len() as u64;
        self.statistics.sent_undecided += (others.len() + carried.len()) as u64;
        self.statistics.told_bounds += bounds.len() as u64;
        Request::Solve(Solve {
            band: self.finished,
            floor: run.floor,
            deep: run.max_candidates == 0,
            keep: room == Room::Any(true),
            room: if let Room::Limited(room) = room { room } else { u64::MAX },
            seen: run.tiles[tile as usize].received_facts,
            facts,
            others,
            carried,
            bounds,
        })
    }
}

/// Error for a tile that did not answer as expected while it was brought up to date.
fn began_again<T>(reply: Result<Reply<T>, Lost>) -> Lost {
    reply.err().unwrap_or_else(|| Lost("the tile restarted again".into()))
}

/// Error for a reply of the wrong kind.
pub(super) fn unexpected(tile: TileId, request: &str) -> Error {
    let text = format!("unexpected reply to {request}");
    Error::Tile { tile, text }
}
