//! A deep band tile after tile, where one is in memory at a time: what is undecided is carried on to the next.
//!
//! What must be carried and told is not known before. A tile stops where it would be more than there is room for. If
//! that is the first one, its floor is that of the band. Otherwise those that have gone farther forget the
//! band, and it begins anew with a floor that comes earlier: no cloud makes a sweep carry more than there is
//! room for, but for one narrow band of one tile.

use super::Conductor;
use super::calls::{After, Room, unexpected};
use super::floor::Sweeps;
use crate::message::Reply;
use crate::{Entry, Error, Key, TileId, Transport};
use farpoint::Scalar;

/// How often a band is begun anew as a sweep. After that it is a thin one, whose candidates are counted before.
const AGAIN: usize = 3;

/// Of the way to the floor where a tile had to stop, so much is tried next.
const LESS: f64 = 0.6;

/// The first tile leaves so much of the room to the others.
const FIRST_SHARE: u64 = 4;

/// How a sweep ended.
enum Swept {
    Done(Sweeps),
    /// There was no room below this floor; these tiles have decided something.
    Full(Key, Vec<TileId>),
}

/// The floor that is tried next where a tile had to stop at `reached`.
fn less<T: Scalar>(reached: Key, largest: T) -> Key {
    let (from, to) = (largest.to_f64(), reached.value::<T>().to_f64());
    let floor = T::from_f64(from - LESS * (from - to));
    // Where all distances are the same there is nothing between.
    if floor < largest { reached.min(Key::new(floor, 0)) } else { reached }
}

impl<T: Scalar> Conductor<T> {
    /// Decides the band from `largest` down to a floor, or to an earlier one.
    pub(super) fn sweep_band(
        &mut self,
        transport: &mut dyn Transport<T>,
        largest: T,
        mut floor: Key,
    ) -> Result<(), Error> {
        for _ in 0..AGAIN {
            self.prepare(transport, floor, 0)?;
            match self.sweep(transport)? {
                Swept::Done(sweeps) => {
                    let (beta, largest) = (self.current().floor.value::<T>(), largest.to_f64());
                    self.sweeps = Sweeps { largest, ratio: beta.to_f64() / largest, ..sweeps };
                    return Ok(());
                }
                Swept::Full(reached, decided) => {
                    self.forget(transport, &decided)?;
                    self.statistics.again += 1;
                    floor = less(reached, largest);
                }
            }
        }
        self.prepare(transport, floor, self.plan.most)?;
        self.rounds(transport)
    }

    /// Tiles forget what they have decided in the band that is under way.
    fn forget(&mut self, transport: &mut dyn Transport<T>, tiles: &[TileId]) -> Result<(), Error> {
        self.run = None;
        self.epoch += 1;
        let make = |own: &mut Self, tile| own.begin_request(tile);
        for (tile, reply) in self.ask(transport, tiles, After::Begin, &make)? {
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

    /// One sweep. The next one goes backwards.
    fn sweep(&mut self, transport: &mut dyn Transport<T>) -> Result<Swept, Error> {
        let mut order = self.with_candidates();
        if !self.forward {
            order.reverse();
        }
        let mut undecided = Vec::<Entry<T>>::new();
        let mut most = Sweeps::default();
        for (k, &tile) in order.iter().enumerate() {
            let ahead = &order[k + 1..];
            let last = ahead.is_empty();
            let [carried, others, rest] = match last {
                // All that is left is decided at the end.
                true => [undecided, vec![], vec![]],
                false => self.carried_for(tile, undecided),
            };
            let bounds = self.bounds_for(tile, &carried, |other| ahead.contains(&other));
            undecided = others.iter().copied().chain(rest).collect();
            let room = if last { Room::Any(true) } else { self.room(k, undecided.len()) };
            let left = self.decide_at(transport, tile, [others, carried], bounds, room)?;
            let reached = self.working(tile).reached;
            if reached < self.current().floor && k > 0 {
                return Ok(Swept::Full(reached, order[..=k].to_vec()));
            }
            self.run_mut().floor = reached;
            self.take_undecided(tile, left, &mut undecided);
            most.add(undecided.len(), self.facts_known());
        }
        self.forward = !self.forward;
        self.statistics.rounds += 1;
        self.statistics.most_rounds = self.statistics.most_rounds.max(1);
        match undecided.len() {
            0 => Ok(Swept::Done(most)),
            left => Err(Error::Mismatch(format!("{left} points stay undecided after a sweep"))),
        }
    }

    /// What the tile of that place in the order may leave, where so much is carried past it.
    fn room(&self, place: usize, carried: usize) -> Room {
        let taken = (carried + self.facts_known() / 2) as u64;
        let all = self.plan.carried;
        let share = if place == 0 && all < u64::MAX { all / FIRST_SHARE } else { all };
        Room::Limited(share.saturating_sub(taken))
    }

    /// What a tile left undecided of its own points and of those carried to it.
    fn take_undecided(&mut self, tile: TileId, left: Vec<Entry<T>>, undecided: &mut Vec<Entry<T>>) {
        undecided.extend(left);
        let run = self.run_mut();
        undecided.append(&mut run.tiles[tile as usize].open);
        run.tiles[tile as usize].open = Vec::new();
        undecided.retain(|entry| !run.known.contains(&entry.index));
        self.statistics.undecided += undecided.len() as u64;
    }
}
