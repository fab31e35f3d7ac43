//! A deep band tile after tile, one in memory at a time: undecided points are carried to the next tile.
//!
//! The number of points to carry and of facts to send is not known in advance. A tile stops where it would exceed the
//! limit. If that is the first tile, its floor becomes that of the band. Otherwise tiles that have gone farther forget
//! the band, and it restarts with an earlier floor: no cloud makes a sweep exceed the limit by more than one narrow
//! band of one tile.

use super::Conductor;
use super::calls::{After, Room, unexpected};
use super::floor::Sweeps;
use crate::message::Reply;
use crate::{Entry, Error, Key, TileId, Transport};
use farpoint::Scalar;

/// Attempts to run a band as a sweep. After that it is a thin one, whose candidates are counted in advance.
const MAX_SWEEPS: usize = 3;

/// Fraction of the way to the floor where a tile had to stop that is tried next.
const BACKOFF: f64 = 0.6;

/// The first tile may use one of this many parts of the room.
const FIRST_SHARE: u64 = 4;

/// Outcome of a sweep.
enum SweepOutcome {
    Done(Sweeps),
    /// The limit was reached at this floor; these tiles have decided something.
    Full(Key, Vec<TileId>),
}

/// Returns the floor to try after a tile had to stop at `reached`.
fn earlier_floor<T: Scalar>(reached: Key, largest: T) -> Key {
    let (from, to) = (largest.to_f64(), reached.value::<T>().to_f64());
    let floor = T::from_f64(from - BACKOFF * (from - to));
    // Nothing lies between where all distances are the same.
    if floor < largest { reached.min(Key::new(floor, 0)) } else { reached }
}

impl<T: Scalar> Conductor<T> {
    /// Decides the band from `largest` down to `floor`, or to an earlier one.
    pub(super) fn sweep_band(
        &mut self,
        transport: &mut dyn Transport<T>,
        largest: T,
        mut floor: Key,
    ) -> Result<(), Error> {
        for _ in 0..MAX_SWEEPS {
            self.prepare(transport, floor, 0)?;
            match self.sweep(transport)? {
                SweepOutcome::Done(sweeps) => {
                    let (beta, largest) = (self.current().floor.value::<T>(), largest.to_f64());
                    self.sweeps = Sweeps { largest, ratio: beta.to_f64() / largest, ..sweeps };
                    return Ok(());
                }
                SweepOutcome::Full(reached, decided) => {
                    self.forget(transport, &decided)?;
                    self.statistics.again += 1;
                    floor = earlier_floor(reached, largest);
                }
            }
        }
        self.prepare(transport, floor, self.plan.max_candidates)?;
        self.rounds(transport)
    }

    /// Makes tiles forget what they have decided in the current band.
    fn forget(&mut self, transport: &mut dyn Transport<T>, tiles: &[TileId]) -> Result<(), Error> {
        self.run = None;
        self.epoch += 1;
        let make = |conductor: &mut Self, tile| conductor.begin_request(tile);
        for (tile, reply) in self.call_tiles(transport, tiles, After::Begin, &make)? {
            match reply {
                Reply::About { finished, .. } if finished == self.finished => {}
                Reply::About { finished, .. } => {
                    return Err(Error::LogTooShort { tile, has: finished, needed: self.finished });
                }
                _ => return Err(unexpected(tile, "Begin")),
            }
        }
        Ok(())
    }

    /// Runs one sweep. The next one goes backwards.
    fn sweep(&mut self, transport: &mut dyn Transport<T>) -> Result<SweepOutcome, Error> {
        let mut order = self.tiles_with_candidates();
        if !self.forward {
            order.reverse();
        }
        let mut undecided = Vec::<Entry<T>>::new();
        let mut maxima = Sweeps::default();
        for (k, &tile) in order.iter().enumerate() {
            let ahead = &order[k + 1..];
            let last = ahead.is_empty();
            let [carried, others, rest] = match last {
                // The last tile decides all remaining points.
                true => [undecided, vec![], vec![]],
                false => self.carried_for(tile, undecided),
            };
            let bounds = self.bounds_for(tile, &carried, |other| ahead.contains(&other));
            undecided = others.iter().copied().chain(rest).collect();
            let room = if last { Room::Any(true) } else { self.room(k, undecided.len()) };
            let remaining = self.decide_at(transport, tile, [others, carried], bounds, room)?;
            let reached = self.state(tile).reached;
            if reached < self.current().floor && k > 0 {
                return Ok(SweepOutcome::Full(reached, order[..=k].to_vec()));
            }
            self.run_mut().floor = reached;
            self.take_undecided(tile, remaining, &mut undecided);
            maxima.add(undecided.len(), self.fact_count());
        }
        self.forward = !self.forward;
        self.statistics.rounds += 1;
        self.statistics.most_rounds = self.statistics.most_rounds.max(1);
        match undecided.len() {
            0 => Ok(SweepOutcome::Done(maxima)),
            remaining => {
                Err(Error::Mismatch(format!("{remaining} points are undecided after a sweep")))
            }
        }
    }

    /// Returns the limit of the tile at `place` in the order, with `carried` points carried past it.
    fn room(&self, place: usize, carried: usize) -> Room {
        let used = (carried + self.fact_count() / 2) as u64;
        let limit = self.plan.carried;
        let share = if place == 0 && limit < u64::MAX { limit / FIRST_SHARE } else { limit };
        Room::Limited(share.saturating_sub(used))
    }

    /// Adds the points that a tile left undecided, its own and those carried to it.
    fn take_undecided(
        &mut self,
        tile: TileId,
        remaining: Vec<Entry<T>>,
        undecided: &mut Vec<Entry<T>>,
    ) {
        undecided.extend(remaining);
        let run = self.run_mut();
        undecided.append(&mut run.tiles[tile as usize].open);
        run.tiles[tile as usize].open = Vec::new();
        undecided.retain(|entry| !run.fact_indices.contains(&entry.index));
        self.statistics.undecided += undecided.len() as u64;
    }
}
