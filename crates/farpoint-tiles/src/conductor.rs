//! Drives all tiles band by band and exchanges the facts that they need of each other.

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

/// Order in which the tiles process a deep band. Neither changes a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// All tiles at once, round by round: for threads, processes and machines.
    #[default]
    Rounds,
    /// Tile after tile, in alternating directions; undecided points are carried to the next tile. One
    /// tile is in memory at a time.
    Sweep,
}

/// Amount, start points and tuning of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plan<T> {
    /// Number of samples: a count, a ratio of all points of all tiles, a spacing, or all.
    pub amount: Amount,
    /// Start points, in order. Their values are ignored.
    pub starts: Vec<Entry<T>>,
    /// Order in which the tiles process a deep band.
    pub mode: Mode,
    /// Maximum number of candidates of a thin band in all tiles together; at least 1.
    pub max_candidates: u64,
    /// Number of attempts per call before the run fails.
    pub tries: usize,
    /// Ratio of a deep band's floor to its largest squared distance; above 0, below 1. 1 for thin bands only.
    pub deep: f64,
    /// Maximum number of undecided points after the first round of a band that one tile decides at once; more go through
    /// further rounds first.
    pub gather: u64,
    /// Maximum number of undecided points that a sweep carries from tile to tile; two facts exchanged between tiles count
    /// as one. Deep bands are less deep where there would be more.
    pub carried: u64,
}

impl<T: Scalar> Plan<T> {
    /// Plans `amount` samples from these start points; 16 million candidates a band, five attempts per call.
    pub fn new(amount: Amount, starts: Vec<Entry<T>>) -> Self {
        let (mode, max_candidates, tries, gather) = (Mode::Rounds, 1 << 24, 5, 256);
        Self {
            amount,
            starts,
            mode,
            max_candidates,
            tries,
            deep: floor::DEEP,
            gather,
            carried: u64::MAX,
        }
    }

    /// Sets the order in which the tiles process a deep band.
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Sets the maximum number of candidates of a thin band, at least 1.
    pub fn max_candidates(self, max_candidates: u64) -> Self {
        Self { max_candidates: max_candidates.max(1), ..self }
    }

    /// Sets the number of attempts per call before the run fails, at least 1.
    pub fn tries(self, tries: usize) -> Self {
        Self { tries: tries.max(1), ..self }
    }

    /// Sets the maximum number of undecided points that a sweep carries, see [`Plan::carried`].
    pub fn carried(self, carried: u64) -> Self {
        Self { carried: carried.max(1), ..self }
    }

    /// Sets the maximum number of undecided points that one tile decides at once after the first round of a band. This
    /// saves rounds, each of which takes its time however little it decides.
    pub fn gather(self, gather: u64) -> Self {
        Self { gather, ..self }
    }

    /// Sets the ratio of a deep band's floor to its largest squared distance; 1 for thin bands only.
    pub fn deep(self, deep: f64) -> Self {
        Self { deep, ..self }
    }
}

/// Result of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome<T> {
    /// Number of samples.
    pub samples: u64,
    /// Squared distance of the farthest remaining point; 0 if none remains, infinite if nothing was
    /// chosen.
    pub squared_covering_radius: T,
    /// Number of bands, including that of the start points.
    pub bands: u64,
}

/// One band that all tiles have finished.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Band<T> {
    /// Number of the band.
    pub number: u64,
    /// Samples so far; the last band may exceed the amount.
    pub samples: u64,
    /// Maximum number of samples.
    pub limit: u64,
    /// Upper bound of all remaining squared distances.
    pub largest: T,
    /// True for a deep band.
    pub deep: bool,
}

/// Counters of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Statistics {
    /// Number of bands, without that of the start points.
    pub bands: u64,
    /// Deep bands.
    pub deep_bands: u64,
    /// Rounds of [`crate::message::Request::Solve`] in all bands; a sweep is one.
    pub rounds: u64,
    /// Largest number of rounds of a band.
    pub most_rounds: u64,
    /// Candidates that tiles found.
    pub candidates: u64,
    /// Candidates that were undecided after the first round, or carried on by a sweep.
    pub undecided: u64,
    /// Facts sent to tiles.
    pub sent_facts: u64,
    /// Undecided points sent to tiles.
    pub sent_undecided: u64,
    /// Bounds of pages sent to tiles.
    pub told_bounds: u64,
    /// Points of the pages that bands had to examine.
    pub points_read: u64,
    /// Calls made, including repeated ones.
    pub calls: u64,
    /// Calls repeated because they were lost.
    pub repeated: u64,
    /// Tiles brought up to date after a restart.
    pub recovered: u64,
    /// Bands whose floor was moved to limit the number of candidates.
    pub cut: u64,
    /// Sweeps restarted because they had to carry too many points.
    pub again: u64,
}

/// A tile as last reported to the conductor.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TileSummary<T> {
    points: u64,
    corners: Corners<T>,
    /// Upper bound of all distances.
    largest: T,
}

/// Drives a run: one band after another.
///
/// It keeps only those facts of the current band that tiles exchange; samples are in the tiles' logs. After
/// each band, [`Conductor::manifest`] and the stores are all that is needed to resume.
pub struct Conductor<T: Scalar> {
    plan: Plan<T>,
    tiles: Vec<TileSummary<T>>,
    epoch: u64,
    /// Bands that all tiles have finished.
    finished: u64,
    /// Facts of all finished bands.
    samples: u64,
    /// Maximum number of samples.
    limit: u64,
    /// Floor at which a spacing is reached.
    stop: Option<Key>,
    rule: FloorRule,
    sweeps: Sweeps,
    forward: bool,
    run: Option<Run<T>>,
    outcome: Option<Outcome<T>>,
    statistics: Statistics,
}

impl<T: Scalar> Conductor<T> {
    /// Begins a run over tiles `0..tiles`. Their logs are cleared.
    ///
    /// # Errors
    /// If the amount or the starts do not fit the cloud, and if tiles do not answer or fail.
    pub fn begin(
        plan: Plan<T>,
        tiles: u32,
        transport: &mut dyn Transport<T>,
    ) -> Result<Self, Error> {
        let unknown = TileSummary { points: 0, corners: Corners::none(), largest: T::INFINITY };
        let mut conductor = Self::with(plan, vec![unknown; tiles as usize], 0);
        conductor.begin_tiles(transport)?;
        conductor.check()?;
        // Again, now that all boxes are known.
        conductor.begin_tiles(transport)?;
        Ok(conductor)
    }

    fn with(plan: Plan<T>, tiles: Vec<TileSummary<T>>, epoch: u64) -> Self {
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

    /// Samples the next band; returns `None` when the run is done. After an error, the run can be resumed from
    /// the last manifest.
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
        self.check_end(transport)?;
        let (number, samples) = (self.finished - 1, self.samples);
        let (limit, largest) = (self.limit, self.largest());
        Ok(Some(Band { number, samples, limit, largest, deep }))
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// Same as [`Conductor::advance`].
    pub fn run(&mut self, transport: &mut dyn Transport<T>) -> Result<Outcome<T>, Error> {
        loop {
            self.advance(transport)?;
            if let Some(outcome) = self.outcome {
                return Ok(outcome);
            }
        }
    }

    /// Returns the result once the run is done.
    pub fn outcome(&self) -> Option<Outcome<T>> {
        self.outcome
    }

    /// Returns the counters since the run was begun or resumed.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns an upper bound of all distances.
    fn largest(&self) -> T {
        let larger =
            |max, tile: &TileSummary<T>| if tile.largest > max { tile.largest } else { max };
        self.tiles.iter().fold(T::ZERO, larger)
    }

    fn ids(&self) -> Vec<TileId> {
        (0..self.tiles.len() as u32).collect()
    }
}

/// Error for a tile that did not answer any attempt.
fn lost_error(tile: TileId, tries: usize, last: &Lost) -> Error {
    Error::Lost { tile, tries, last: last.0.clone() }
}
