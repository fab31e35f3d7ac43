//! A deep band: processed in narrow bands, each applied to the points in memory before the next.
//!
//! A fact of another tile is applied in the narrow band that contains its key: lowering distances by it earlier
//! would hide points that are chosen before it. Blocked candidates keep their distance, separate from that in
//! memory, and block those of later narrow bands.

use super::Tile;
use super::band::{BandState, Counts, Narrow};
use crate::ahead::Ahead;
use crate::slab::NOWHERE;
use crate::slab::{Collected, Samples};
use crate::solve::{Band, Candidate};
use crate::{Key, Store, StoreError};
use farpoint::Scalar;
use farpoint::backend::memory;

/// Ratio of a narrow band's floor to its largest distance, as in the peak method: see docs/development/performance-log.md.
const GAMMA: f64 = 0.85;

/// Maximum number of own facts that are not written yet.
const MAX_UNWRITTEN: usize = 1 << 14;

impl<T: Scalar, S: Store<T>> Tile<T, S> {
    /// Processes a band whose points are in memory. `rest` are undecided points of other tiles.
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
        let (mut counts, mut written) = (Counts { examined: 0, made: 0, floor }, 0);
        let mut samples = Samples::new();
        loop {
            let top = top(slab.largest(), last);
            let target = narrow_floor(top, floor);
            let mut collected = Collected::new();
            let low = slab.collect(target, self.id, &held, self.max_candidates, &mut collected);
            let from = next;
            next += state.facts[from..].partition_point(|fact| fact.key() < low);
            let own = collected.into_iter().filter(|(entry, _)| !state.knows(entry.index));
            let mut candidates: Vec<Candidate<T>> =
                own.map(|(entry, slot)| Candidate { entry, slot, held: false }).collect();
            counts.examined += candidates.len() + rest.len();
            memory::reserve_exact(&mut candidates, rest.len() + waiting.len());
            // Without their spare capacity: memory peaks here.
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
            } else if counts.made > written + MAX_UNWRITTEN {
                written = counts.made;
                let facts = state.take_own_facts(self.id);
                self.log.append(&mut self.store, floor, &facts, false)?;
            }
            counts.floor = low;
            let undecided = |candidate: &&Candidate<T>| candidate.slot == NOWHERE;
            let remaining = waiting.len() + rest.iter().filter(undecided).count();
            if low == floor || (remaining + state.outgoing_len() / 2) as u64 > room {
                break;
            }
            last = Some(low.value());
        }
        state.waiting = Some(waiting);
        Ok(counts)
    }
}

/// Returns an upper bound of the distances that are still to be examined. Held points, and those that other tiles
/// have decided, may lie above it.
fn top<T: Scalar>(largest: T, last: Option<T>) -> T {
    last.map_or(largest, |last| if last < largest { last } else { largest })
}

/// Returns the floor of the narrow band that begins at this distance.
fn narrow_floor<T: Scalar>(top: T, floor: Key) -> Key {
    let beta: T = floor.value();
    if top <= beta {
        return floor;
    }
    let target = match top.is_finite() {
        true => T::from_f64(top.to_f64() * GAMMA),
        false => T::MAX,
    };
    // Subnormal numbers can round back.
    let target = if target < top { target } else { top.next_down() };
    if target > beta { Key::new(target, 0) } else { floor }
}
