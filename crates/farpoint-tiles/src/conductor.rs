//! How far all tiles go at a time, and what they must know of each other.

mod calls;
mod end;
mod floor;
mod manifest;
mod rounds;
mod route;
mod sweep;

use crate::{Corners, Entry, Error, Key, Lost, TileId, Transport};
use calls::Run;
use farpoint::{Amount, Scalar};
use floor::{FloorRule, Sweeps};

/// How deep bands are worked off. Neither changes a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// All tiles at once, round by round: for threads, processes and machines.
    #[default]
    Rounds,
    /// Tile after tile, undecided points carried on, the next time backwards: one tile is in
    /// memory at a time.
    Sweep,
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan<T> {
    /// How many points: a count, a ratio of all points of all tiles, a spacing, or all.
    pub amount: Amount,
    /// The points to start from, in order. Values do not matter.
    pub starts: Vec<Entry<T>>,
    /// How deep bands are worked off.
    pub mode: Mode,
    /// Candidates a thin band may have in all tiles together; at least 1.
    pub most: u64,
    /// How often a call is made before the run is given up.
    pub tries: usize,
    /// The floor of a deep band over its largest squared distance; above 0, below 1. 1 for thin bands only.
    pub deep: f64,
    /// After the first round of a band, so many undecided points at most are decided by one tile at once; more go through
    /// further rounds first.
    pub gather: u64,
    /// Undecided points that a sweep may carry from tile to tile; of facts that tiles must tell each other, two count
    /// as one. Deep bands are less deep where there would be more.
    pub carried: u64,
}

impl<T: Scalar> Plan<T> {
    /// So many points, from these on; 16 million candidates a band, five tries a call.
    pub fn new(amount: Amount, starts: Vec<Entry<T>>) -> Self {
        let (mode, most, tries, gather) = (Mode::Rounds, 1 << 24, 5, 256);
        Self { amount, starts, mode, most, tries, deep: floor::DEEP, gather, carried: u64::MAX }
    }

    /// How deep bands are worked off.
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Candidates a thin band may have, at least 1.
    pub fn most(self, most: u64) -> Self {
        Self { most: most.max(1), ..self }
    }

    /// How often a call is made before the run is given up, at least 1.
    pub fn tries(self, tries: usize) -> Self {
        Self { tries: tries.max(1), ..self }
    }

    /// Undecided points that a sweep may carry from tile to tile, see [`Plan::carried`].
    pub fn carried(self, carried: u64) -> Self {
        Self { carried: carried.max(1), ..self }
    }

    /// Undecided points that one tile decides at once after the first round of a band. One that has room for them spares
    /// the others from being told; a round takes its time whatever it brings.
    pub fn gather(self, gather: u64) -> Self {
        Self { gather, ..self }
    }

    /// The floor of a deep band over its largest squared distance; 1 for thin bands only.
    pub fn deep(self, deep: f64) -> Self {
        Self { deep, ..self }
    }
}

/// What came of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome<T> {
    /// Samples.
    pub samples: u64,
    /// Squared distance of the farthest point left; 0 when none is, infinite when nothing was
    /// chosen.
    pub squared_covering_radius: T,
    /// Bands, the start points among them.
    pub bands: u64,
}

/// One band that all tiles have finished.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Band<T> {
    /// Its number.
    pub number: u64,
    /// Samples so far, of which the last may be too many.
    pub samples: u64,
    /// Samples wanted, at most.
    pub wanted: u64,
    /// At least every squared distance that is left.
    pub largest: T,
    /// Whether it was a deep one.
    pub deep: bool,
}

/// What was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Statistics {
    /// Bands, without that of the start points.
    pub bands: u64,
    /// Deep ones.
    pub deep_bands: u64,
    /// Rounds of calls to decide, in all bands; a sweep is one.
    pub rounds: u64,
    /// The most of a band.
    pub most_rounds: u64,
    /// Candidates that tiles found.
    pub candidates: u64,
    /// Those of them undecided after the first round, or carried on by a sweep.
    pub undecided: u64,
    /// Facts told to tiles.
    pub told_facts: u64,
    /// Undecided points told to tiles.
    pub told_undecided: u64,
    /// Bounds of pages told to tiles.
    pub told_bounds: u64,
    /// Points of pages that bands had to look at.
    pub points_read: u64,
    /// Requests made, and those that were made again.
    pub calls: u64,
    /// Calls repeated because they were lost.
    pub repeated: u64,
    /// Tiles brought up to date after they had begun anew.
    pub recovered: u64,
    /// Bands whose floor was moved so that they had no more candidates than allowed.
    pub cut: u64,
    /// Sweeps begun anew because there was no room for what they had to carry.
    pub again: u64,
}

/// A tile as the conductor knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Known<T> {
    points: u64,
    corners: Corners<T>,
    /// At least every distance.
    largest: T,
}

/// Drives a run: one band after another.
///
/// It keeps no points but those of the band's facts that tiles must tell each other; samples are in the tiles'
/// logs. After each band, [`Conductor::manifest`] is all that is needed to go on, with the stores.
pub struct Conductor<T: Scalar> {
    plan: Plan<T>,
    tiles: Vec<Known<T>>,
    epoch: u64,
    /// Bands that all tiles have finished.
    finished: u64,
    /// Facts of all finished bands.
    samples: u64,
    /// Samples wanted, at most.
    limit: u64,
    /// The floor of a spacing.
    stop: Option<Key>,
    rule: FloorRule,
    sweeps: Sweeps,
    forward: bool,
    run: Option<Run<T>>,
    outcome: Option<Outcome<T>>,
    statistics: Statistics,
}

impl<T: Scalar> Conductor<T> {
    /// Begins a run over tiles `0..tiles`. Whatever their logs hold is forgotten.
    ///
    /// # Errors
    /// If the amount or the starts do not fit the cloud, and if tiles do not answer or fail.
    pub fn begin(
        plan: Plan<T>,
        tiles: u32,
        transport: &mut dyn Transport<T>,
    ) -> Result<Self, Error> {
        let none = Known { points: 0, corners: Corners::none(), largest: T::INFINITY };
        let mut own = Self::with(plan, vec![none; tiles as usize], 0);
        own.begin_tiles(transport)?;
        own.check()?;
        // Once more, now that all boxes are known.
        own.begin_tiles(transport)?;
        Ok(own)
    }

    fn with(plan: Plan<T>, tiles: Vec<Known<T>>, epoch: u64) -> Self {
        Self {
            plan,
            tiles,
            epoch,
            finished: 0,
            samples: 0,
            limit: 0,
            stop: None,
            rule: FloorRule::default(),
            sweeps: Sweeps::default(),
            forward: true,
            run: None,
            outcome: None,
            statistics: Statistics::default(),
        }
    }

    /// Checks amount and starts against the tiles.
    fn check(&mut self) -> Result<(), Error> {
        let points: u64 = self.tiles.iter().map(|tile| tile.points).sum();
        self.limit = self.plan.amount.limit(points as usize)? as u64;
        if let Amount::Spacing(spacing) = self.plan.amount {
            self.stop = Some(floor::of_spacing::<T>(spacing));
        }
        let starts = &self.plan.starts;
        if self.limit == 0 {
            return Ok(());
        }
        if starts.is_empty() {
            return Err(farpoint::Error::NoStart.into());
        }
        if starts.len() as u64 > self.limit {
            let (starts, samples) = (starts.len(), self.limit as usize);
            return Err(farpoint::Error::TooManyStarts { starts, samples }.into());
        }
        let mut rows: Vec<u64> = starts.iter().map(|start| start.index).collect();
        rows.sort_unstable();
        if let Some(pair) = rows.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(farpoint::Error::StartRepeated { index: pair[0] as usize }.into());
        }
        let outside = |start: &&Entry<T>| {
            let tile = self.tiles.get(start.tile as usize);
            tile.is_none_or(|tile| tile.corners.near(start.at) > T::ZERO)
        };
        match starts.iter().find(outside) {
            None => Ok(()),
            Some(start) => {
                let Entry { index, tile, .. } = start;
                Err(Error::Mismatch(format!("start {index} does not lie in tile {tile}")))
            }
        }
    }

    /// Samples one band more; `None` if all are done. After an error, the run can go on from the last
    /// manifest.
    ///
    /// # Errors
    /// If a tile does not answer or fails.
    pub fn advance(&mut self, transport: &mut dyn Transport<T>) -> Result<Option<Band<T>>, Error> {
        if self.outcome.is_some() {
            return Ok(None);
        }
        let mut deep = false;
        if self.limit == 0 {
            let points = self.tiles.iter().any(|tile| tile.points > 0);
            self.end(0, if points { T::INFINITY } else { T::ZERO });
            return Ok(None);
        } else if self.finished == 0 {
            self.start_band(transport)?;
        } else if self.largest() > T::ZERO {
            deep = self.band(transport)?;
        } else {
            self.fill(transport)?;
        }
        self.look_for_end(transport)?;
        let (number, samples) = (self.finished - 1, self.samples);
        let (wanted, largest) = (self.limit, self.largest());
        Ok(Some(Band { number, samples, wanted, largest, deep }))
    }

    /// Goes on to the end.
    ///
    /// # Errors
    /// As [`Conductor::advance`].
    pub fn run(&mut self, transport: &mut dyn Transport<T>) -> Result<Outcome<T>, Error> {
        loop {
            self.advance(transport)?;
            if let Some(outcome) = self.outcome {
                return Ok(outcome);
            }
        }
    }

    /// What came of the run, once it is done.
    pub fn outcome(&self) -> Option<Outcome<T>> {
        self.outcome
    }

    /// What was counted since the run was begun or resumed.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// At least every distance.
    fn largest(&self) -> T {
        let larger = |most, tile: &Known<T>| if tile.largest > most { tile.largest } else { most };
        self.tiles.iter().fold(T::ZERO, larger)
    }

    fn ids(&self) -> Vec<TileId> {
        (0..self.tiles.len() as u32).collect()
    }
}

/// An error for a tile that was asked too often.
fn given_up(tile: TileId, tries: usize, last: &Lost) -> Error {
    Error::Lost { tile, tries, last: last.0.clone() }
}
