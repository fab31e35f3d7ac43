//! One tile: finds its candidates, decides them, and logs the decisions.

mod answer;
mod band;
mod log;
mod narrow;
mod points;

use crate::message::{Reply, Request};
use crate::solve::Solver;
use crate::{ByteWorker, Bytes, Corners, Entry, Error, Store, StoreError, TileId, Worker};
use band::BandState;
use farpoint::backend::caught;
use farpoint::{Level, Scalar};
use log::Log;
use points::TilePoints;

/// Memory, threads and instruction set of a tile. They do not change a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileOptions {
    /// Keeps the points in memory. Otherwise thin bands read single pages, and a deep band reads all points and
    /// writes their distances.
    pub resident: bool,
    /// Pages that stay in memory between thin bands, if the tile is not resident.
    pub cached_pages: usize,
    /// Maximum number of candidates of a deep band that are processed at a time.
    pub max_candidates: usize,
    /// Instruction set; by default the best of this machine.
    pub level: Option<Level>,
    /// Uses the threads of the current rayon pool. Leave it off if tiles are called in parallel.
    pub threads: bool,
}

impl Default for TileOptions {
    fn default() -> Self {
        Self {
            resident: true,
            cached_pages: 4096,
            max_candidates: 1 << 20,
            level: None,
            threads: false,
        }
    }
}

impl TileOptions {
    /// Sets whether the points stay in memory.
    pub fn resident(self, resident: bool) -> Self {
        Self { resident, ..self }
    }

    /// Sets the number of pages that stay in memory between thin bands.
    pub fn cached_pages(self, cached_pages: usize) -> Self {
        Self { cached_pages, ..self }
    }

    /// Sets the maximum number of candidates of a deep band that are processed at a time; at least 1.
    pub fn max_candidates(self, max_candidates: usize) -> Self {
        Self { max_candidates: max_candidates.max(1), ..self }
    }

    /// Sets the instruction set.
    pub fn level(self, level: Level) -> Self {
        Self { level: Some(level), ..self }
    }

    /// Sets whether to use the threads of the current rayon pool.
    pub fn threads(self, threads: bool) -> Self {
        Self { threads, ..self }
    }
}

/// One tile over its store. Creating it reads nothing: the conductor's first request begins it, also after the
/// tile was created again.
pub struct Tile<T: Scalar, S> {
    store: S,
    max_candidates: usize,
    id: TileId,
    /// Boxes of all tiles.
    tiles: Vec<Corners<T>>,
    points: TilePoints<T>,
    log: Log,
    band: Option<BandState<T>>,
    solver: Solver<T>,
    begun: bool,
    reading: Option<answer::Reading>,
    /// Epoch of the last request to begin.
    epoch: u64,
}

impl<T: Scalar, S: Store<T>> Tile<T, S> {
    /// Creates a tile whose points, distances and log are in `store`.
    pub fn new(store: S, options: TileOptions) -> Self {
        let level = options.level.unwrap_or_else(Level::detect);
        Self {
            store,
            max_candidates: options.max_candidates.max(1),
            id: 0,
            tiles: Vec::new(),
            points: TilePoints::new(options, level),
            log: Log::default(),
            band: None,
            solver: Solver::new(level),
            begun: false,
            reading: None,
            epoch: 0,
        }
    }

    /// Returns the store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Returns the store. Changes must keep what the tile relies on.
    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// Estimates the memory in bytes of a tile of `points` points while they are in memory and a band processes
    /// `candidates` candidates at a time; see [`TileOptions::max_candidates`]. It does not include facts of the current band,
    /// 32 bytes each (56 for `f64`): those of all its points if the tile stays in memory, else those that other tiles
    /// need. A tile that is not in memory takes 28 bytes a page (56), and [`TileOptions::cached_pages`].
    pub fn bytes(points: usize, candidates: usize) -> usize {
        let point = 4 * size_of::<T>() + size_of::<u64>();
        let leaf = 9 * size_of::<T>();
        // Twice while they are collected, once more to be decided, and the grid that finds them.
        let candidate = 4 * size_of::<(Entry<T>, u32)>() + 24 * size_of::<T>();
        points * point + points / 8 + points.div_ceil(64) * leaf + candidates * candidate
    }

    fn dispatch(&mut self, request: Request<T>) -> Result<Reply<T>, StoreError> {
        match request {
            Request::Begin { epoch, .. } if epoch < self.epoch => self.behind(),
            // The same request again.
            Request::Begin { epoch, .. } if epoch == self.epoch && self.begun => Ok(self.about()),
            Request::Begin { epoch, tile, tiles, finished } => {
                self.epoch = epoch;
                self.begin(tile, tiles, finished)
            }
            _ if !self.begun => Ok(Reply::Behind { finished: 0 }),
            Request::Prepare { band, floor, max_candidates } => {
                self.prepare(band, floor, max_candidates)
            }
            Request::Count { band, of, prefix, bits } => self.count(band, of, prefix, bits),
            Request::Solve(solve) => self.solve(solve),
            Request::Finish { band, floor, solved, facts } => {
                self.finish(band, floor, solved, facts)
            }
            Request::Largest => self.largest(),
            Request::Chosen { band, from, max_keys } => self.chosen(band, from, max_keys),
            Request::Fill { band, floor } => self.fill(band, floor),
        }
    }

    fn begin(
        &mut self,
        tile: TileId,
        tiles: Vec<Corners<T>>,
        finished: u64,
    ) -> Result<Reply<T>, StoreError> {
        self.begun = false;
        (self.id, self.tiles, self.band, self.reading) = (tile, tiles, None, None);
        self.log = Log::open::<T>(&mut self.store, tile, finished)?;
        self.points.begin(&mut self.store, &self.log)?;
        self.begun = true;
        Ok(self.about())
    }

    fn about(&self) -> Reply<T> {
        Reply::About {
            points: self.store.points() as u64,
            corners: self.points.corners(),
            finished: self.log.bands(),
            largest: self.points.largest(),
        }
    }

    fn behind(&self) -> Result<Reply<T>, StoreError> {
        Ok(Reply::Behind { finished: self.log.bands() })
    }
}

impl<T: Scalar, S: Store<T>> Worker<T> for Tile<T, S> {
    fn answer(&mut self, request: Request<T>) -> Reply<T> {
        let reply = caught(|| Ok(self.dispatch(request))).unwrap_or_else(|error| Err(error.into()));
        reply.unwrap_or_else(|failure| {
            // What is in memory may be half done.
            self.begun = false;
            Reply::Failed(failure.to_string())
        })
    }
}

impl<T: Scalar, S: Store<T>> ByteWorker for Tile<T, S> {
    fn answer_bytes(&mut self, request: &[u8]) -> Bytes {
        let reply = match Request::decode(request) {
            Ok(request) => self.answer(request),
            Err(error) => Reply::Failed(error.to_string()),
        };
        reply.encode()
    }
}

/// Converts an error to that of a store.
fn store_error(error: Error) -> StoreError {
    error.into()
}
