//! One band: prepared, decided in rounds or in a sweep, finished.

use super::calls::{After, Room, Run, unexpected};
use super::floor::Progress;
use super::{Conductor, Mode};
use crate::message::{Counted, Reply, Request};
use crate::{Bound, Entry, Error, Key, TileId, Transport};
use farpoint::Scalar;

/// Rounds after which one tile decides all remaining points.
const ROUNDS: usize = 3;

/// Bands are deep once the largest distance is below this share of a tile's width.
const DEEP_BELOW: f64 = 1.0 / 16.0;

impl<T: Scalar> Conductor<T> {
    /// Runs the band of the start points.
    pub(super) fn start_band(&mut self, transport: &mut dyn Transport<T>) -> Result<(), Error> {
        // No point comes after it: a band's floor is above no remaining point.
        let mut run = Run::new(self.tiles.len(), Key::new(T::INFINITY, 0), 1);
        for start in &self.plan.starts {
            run.facts.push((Entry { value: T::INFINITY, ..*start }, TileId::MAX));
        }
        self.run = Some(run);
        self.finish_band(transport)
    }

    /// Runs the next band; returns whether it was a deep one.
    pub(super) fn band(&mut self, transport: &mut dyn Transport<T>) -> Result<bool, Error> {
        let largest = self.largest();
        let deep = self.is_deep(largest);
        let stop: Option<T> = self.stop.map(Key::value);
        let progress = Progress {
            samples: self.samples as f64,
            goal: self.limit as f64 + 1.0,
            stop: stop.map_or(0.0, T::to_f64),
        };
        let sweeps = self.plan.mode == Mode::Sweep;
        let carried = if sweeps { self.plan.carried } else { u64::MAX };
        let depth = deep.then(|| self.sweeps.depth(largest.to_f64(), self.plan.deep, carried));
        let beta = self.rule.next(largest, progress, depth);
        let floor = Key::new(beta, 0);
        let floor = self.stop.map_or(floor, |stop| floor.min(stop));
        if deep && sweeps {
            self.sweep_band(transport, largest, floor)?;
        } else {
            self.prepare(transport, floor, if deep { 0 } else { self.plan.max_candidates })?;
            self.rounds(transport)?;
        }
        self.finish_band(transport)?;
        self.statistics.bands += 1;
        self.statistics.deep_bands += u64::from(deep);
        Ok(deep)
    }

    fn is_deep(&self, largest: T) -> bool {
        let mut widths: Vec<f64> = self.tiles.iter().map(|tile| tile.corners.width()).collect();
        widths.retain(|&width| width > 0.0 && width.is_finite());
        widths.sort_by(f64::total_cmp);
        let width = widths.get(widths.len() / 2).copied().unwrap_or(0.0);
        // In a sweep a tile is loaded whole; a thin band lowers its pages one by one, each by all samples.
        let several = self.tiles.len() > 1 || self.plan.mode == Mode::Sweep;
        let possible = several && self.plan.deep < 1.0 && self.plan.deep > 0.0;
        possible && largest.to_f64().sqrt() <= DEEP_BELOW * width
    }

    /// Finds candidates; moves the floor if there are too many.
    pub(super) fn prepare(
        &mut self,
        transport: &mut dyn Transport<T>,
        floor: Key,
        max_candidates: u64,
    ) -> Result<(), Error> {
        self.run = Some(Run::new(self.tiles.len(), floor, max_candidates));
        let band = self.finished;
        let make = move |_: &mut Self, _| Request::Prepare { band, floor, max_candidates };
        let replies = self.call_tiles(transport, &self.ids(), After::Begin, &make)?;
        let run = self.run.as_mut().expect("a band is under way");
        let mut all = 0;
        for (tile, reply) in replies {
            let Reply::Prepared { candidates, floor, touched, bounds } = reply else {
                return Err(unexpected(tile, "Prepare"));
            };
            run.floor = run.floor.min(floor);
            let state = &mut run.tiles[tile as usize];
            (state.candidates, state.bounds) = (candidates, bounds);
            all += candidates;
            self.statistics.points_read += touched;
        }
        if max_candidates > 0 {
            let thinner = run.floor < run.requested_floor || all > max_candidates;
            self.rule.learn(all.max(1), max_candidates);
            self.statistics.cut += u64::from(thinner);
            if all > max_candidates {
                let ids = self.ids();
                let (key, _) = self.select(transport, &ids, Counted::Candidates, max_candidates)?;
                let run = self.run.as_mut().expect("a band is under way");
                run.floor = run.floor.min(key);
            }
        }
        Ok(())
    }

    /// Decides a band with all tiles at once.
    pub(super) fn rounds(&mut self, transport: &mut dyn Transport<T>) -> Result<(), Error> {
        let mut round = 0;
        let mut active: Vec<TileId> = self.tiles_with_candidates();
        while !active.is_empty() {
            round += 1;
            let gather = self.undecided() as u64 <= self.plan.gather || round > ROUNDS;
            if round > 1 && gather {
                self.gather(transport)?;
            } else {
                let fact_count = self.fact_count();
                let make = |conductor: &mut Self, tile| {
                    let others = conductor.undecided_for(tile);
                    let bounds = conductor.bounds_for(tile, &[], |_| true);
                    conductor.solve_request(tile, others, vec![], bounds, Room::Any(true))
                };
                for (tile, reply) in self.call_tiles(transport, &active, After::Prepare, &make)? {
                    self.acknowledge(tile, fact_count);
                    self.solved(tile, reply)?;
                }
                self.forget_decided();
            }
            if round == 1 {
                self.statistics.undecided += self.undecided() as u64;
            }
            let open = |tile: &TileId| !self.state(*tile).open.is_empty();
            active = self.ids().into_iter().filter(open).collect();
        }
        self.statistics.rounds += round as u64;
        self.statistics.most_rounds = self.statistics.most_rounds.max(round as u64);
        Ok(())
    }

    /// Returns the tiles that have candidates.
    pub(super) fn tiles_with_candidates(&self) -> Vec<TileId> {
        let run = self.run.as_ref().expect("a band is under way");
        let has = |tile: &TileId| match run.max_candidates {
            0 => self.tiles[*tile as usize].largest >= run.floor.value(),
            _ => run.tiles[*tile as usize].candidates > 0,
        };
        self.ids().into_iter().filter(has).collect()
    }

    /// Lets one tile decide all undecided points, with all information.
    fn gather(&mut self, transport: &mut dyn Transport<T>) -> Result<(), Error> {
        let busiest = self.ids().into_iter().max_by_key(|&tile| self.state(tile).open.len());
        let place = busiest.expect("there are tiles");
        let run = self.run.as_ref().expect("a band is under way");
        let others = run.tiles.iter().enumerate().filter(|&(k, _)| k != place as usize);
        let carried: Vec<_> = others.flat_map(|(_, state)| state.open.clone()).collect();
        let any = Room::Any(true);
        let undecided = self.decide_at(transport, place, [vec![], carried], vec![], any)?;
        let run = self.run.as_mut().expect("a band is under way");
        let missing = undecided.len() + run.tiles[place as usize].open.len();
        run.tiles.iter_mut().for_each(|state| state.open.clear());
        if missing > 0 {
            let text = format!("{missing} points stay undecided although all facts were known");
            return Err(Error::Tile { tile: place, text });
        }
        Ok(())
    }

    /// Asks one tile to decide its own points and those carried; returns the undecided ones of the latter.
    pub(super) fn decide_at(
        &mut self,
        transport: &mut dyn Transport<T>,
        tile: TileId,
        [others, carried]: [Vec<Entry<T>>; 2],
        bounds: Vec<Bound<T>>,
        room: Room,
    ) -> Result<Vec<Entry<T>>, Error> {
        let fact_count = self.fact_count();
        let make = |conductor: &mut Self, tile| {
            conductor.solve_request(tile, others.clone(), carried.clone(), bounds.clone(), room)
        };
        let (tile, reply) = self.call_tiles(transport, &[tile], After::Prepare, &make)?.remove(0);
        self.acknowledge(tile, fact_count);
        self.take_solved(tile, reply)
    }

    /// Sends all tiles the remaining facts; they write their logs.
    pub(super) fn finish_band(&mut self, transport: &mut dyn Transport<T>) -> Result<(), Error> {
        let make = |conductor: &mut Self, tile| {
            let facts = conductor.facts_for(tile);
            conductor.statistics.sent_facts += facts.len() as u64;
            let Run { floor, .. } = *conductor.run_mut();
            let solved = conductor.state(tile).solved;
            Request::Finish { band: conductor.finished, floor, solved, facts }
        };
        let replies = self.call_tiles(transport, &self.ids(), After::Solve, &make)?;
        self.take_finished(replies)
    }

    /// Updates the state after all tiles have finished the band.
    pub(super) fn take_finished(&mut self, replies: Vec<(TileId, Reply<T>)>) -> Result<(), Error> {
        for (tile, reply) in replies {
            let Reply::Finished { chosen, largest } = reply else {
                return Err(unexpected(tile, "Finish"));
            };
            self.samples += chosen;
            self.tiles[tile as usize].largest = largest;
        }
        self.finished += 1;
        self.run = None;
        Ok(())
    }

    pub(super) fn fact_count(&self) -> usize {
        self.run.as_ref().expect("a band is under way").facts.len()
    }

    fn acknowledge(&mut self, tile: TileId, fact_count: usize) {
        self.run_mut().tiles[tile as usize].sent_facts = fact_count;
    }

    fn undecided(&self) -> usize {
        let run = self.run.as_ref().expect("a band is under way");
        run.tiles.iter().map(|state| state.open.len()).sum()
    }

    pub(super) fn run_mut(&mut self) -> &mut Run<T> {
        self.run.as_mut().expect("a band is under way")
    }
}
