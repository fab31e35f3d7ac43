//! A deep band: worked off in narrow bands, each applied to the points in memory before the next.
//!
//! A fact of another tile enters in the narrow band that its key lies in: lowering distances by it earlier
//! would hide points that are chosen before it. Candidates that are blocked keep their distance apart from
//! that in memory, and block those of later narrow bands.

use super::Tile;
use super::band::{BandState, Counts, Narrow};
use crate::ahead::Ahead;
use crate::slab::NOWHERE;
use crate::slab::{Collected, Samples};
use crate::solve::{Band, Candidate};
use crate::{Key, Store, StoreError};
use farpoint::Scalar;
use farpoint::backend::memory;

/// Floor of a narrow band over its largest distance, as in the peak method: see docs/development/performance-log.md.
const GAMMA: f64 = 0.85;

/// Own facts that are kept until they are written.
const KEPT: usize = 1 << 14;

impl<T: Scalar, S: Store<T>> Tile<T, S> {
    /// Works off a band whose points are in memory. `rest` are undecided points of other tiles.
    pub(super) fn solve_narrow(
        &mut self,
        state: &mut BandState<T>,
        Narrow { floor, room, write }: Narrow,
        ahead: &Ahead<T>,
        rest: &mut Vec<Candidate<T>>,
    ) -> Result<Counts, StoreError> {
        let neighbors = self.neighbors();
        let slab = self.points.slab().expect("loaded before");
        let mut held: Vec<u64> = memory::zeros(slab.rows().len().div_ceil(64));
        let (mut waiting, mut made) = (Vec::new(), Vec::new());
        let (mut next, mut last): (usize, Option<T>) = (0, None);
        let (mut counts, mut written) = (Counts { looked_at: 0, made: 0, floor }, 0);
        let mut samples = Samples::new();
        loop {
            let top = top(slab.largest(), last);
            let wanted = narrow_floor(top, floor);
            let mut collected = Collected::new();
            let low = slab.collect(wanted, self.id, &held, self.most, &mut collected);
            let from = next;
            next += state.facts[from..].partition_point(|fact| fact.key() < low);
            let own = collected.into_iter().filter(|(entry, _)| !state.knows(entry.index));
            let mut candidates: Vec<Candidate<T>> =
                own.map(|(entry, slot)| Candidate { entry, slot, held: false }).collect();
            counts.looked_at += candidates.len() + rest.len();
            memory::reserve_exact(&mut candidates, rest.len() + waiting.len());
            // Without what they had room for: here is where most memory is taken.
            candidates.extend(std::mem::take(rest));
            candidates.extend(std::mem::take(&mut waiting));
            let facts = &state.facts[from..next];
            made.clear();
            self.solver.solve(&mut candidates, &Band { floor: low, facts, ahead }, &mut made);
            samples.clear();
            let lowering = made.iter().map(|made| made.entry.at);
            lowering.chain(facts.iter().map(|fact| fact.at)).for_each(|at| samples.push(at));
            slab.lower(&samples);
            let foreign = candidates.iter().filter(|candidate| candidate.entry.tile != self.id);
            memory::reserve_exact(rest, foreign.count());
            for candidate in candidates {
                if candidate.entry.tile != self.id {
                    rest.push(candidate);
                } else if candidate.held {
                    held[candidate.slot as usize / 64] |= 1 << (candidate.slot % 64);
                    memory::push(&mut waiting, candidate);
                }
            }
            counts.made += made.len();
            state.make(&made, |fact| neighbors.reached_by(fact));
            if !write {
                state.apply(from..next);
            } else if counts.made > written + KEPT {
                written = counts.made;
                let facts = state.take_own(self.id);
                self.log.append(&mut self.store, floor, &facts, false)?;
            }
            counts.floor = low;
            let undecided = |candidate: &&Candidate<T>| candidate.slot == NOWHERE;
            let left = waiting.len() + rest.iter().filter(undecided).count();
            if low == floor || (left + state.told() / 2) as u64 > room {
                break;
            }
            last = Some(low.value());
        }
        state.waiting = Some(waiting);
        Ok(counts)
    }
}

/// At least every distance that is still to be looked at. Points that are held, and those that others
/// have decided, may lie above it.
fn top<T: Scalar>(largest: T, last: Option<T>) -> T {
    last.map_or(largest, |last| if last < largest { last } else { largest })
}

/// The floor of the narrow band that begins at this distance.
fn narrow_floor<T: Scalar>(top: T, floor: Key) -> Key {
    let beta: T = floor.value();
    if top <= beta {
        return floor;
    }
    let wanted = match top.is_finite() {
        true => T::from_f64(top.to_f64() * GAMMA),
        false => T::MAX,
    };
    // Subnormal numbers can round back.
    let wanted = if wanted < top { wanted } else { top.next_down() };
    if wanted > beta { Key::new(wanted, 0) } else { floor }
}
