//! Decides which candidates of a band are chosen, and with what distance.
//!
//! Candidates and the band's known facts leave one queue in the order of choice. A fact lowers the candidates
//! that come after it. A candidate is *blocked* if an undecided point that another tile decides, or one that was
//! blocked before, comes before it and is nearer than its own distance, or if a foreign page may hold
//! such a point; it then waits for a later call, and keeps its distance. Otherwise it is a fact.
//! docs/development/proofs.md proves that these are the choices of the obvious loop, even if facts arrive late or not at all.
//!
//! Facts are in the queue because a late one must have the effect that a timely one would have had.

mod queue;

use crate::ahead::Ahead;
use crate::geometry::squared;
use crate::{Corners, Entry, Key};
use farpoint::backend::{Cells, Grid, Kernel, Simd, load, memory, vectorize};
use farpoint::{Level, Scalar};
use queue::Queue;

/// Ratio of the width of a grid cell to the largest distance of a band.
const CELL: f64 = 6.0;

/// Numbers in the widest vector.
const LANES: usize = 16;

/// Points of the grid, before and after a candidate, that are tested first for blocking it.
const TESTED_FIRST: usize = 8 * LANES;

/// They are tested if at least one point in this many is held.
const HELD_FRACTION: usize = 16;

/// An undecided point.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<T> {
    pub(crate) entry: Entry<T>,
    /// Slot in the slab, or [`crate::slab::NOWHERE`].
    pub(crate) slot: u32,
    /// True if it only blocks others: another tile decides it, or it was blocked.
    pub(crate) held: bool,
}

/// Input of [`Solver::solve`] besides the candidates.
pub(crate) struct Band<'a, T> {
    /// Candidates before this floor are decided if possible; others are lowered.
    pub(crate) floor: Key,
    /// Facts before the floor, in order.
    pub(crate) facts: &'a [Entry<T>],
    pub(crate) ahead: &'a Ahead<T>,
}

/// Solver with its memory, reused between bands.
pub(crate) struct Solver<T: Scalar> {
    level: Level,
    grid: Grid<T>,
    /// Candidates in grid order: coordinates, padded by a vector.
    at: [Vec<T>; 3],
    /// Distance so far; 0 or less if decided.
    live: Vec<T>,
    index: Vec<u64>,
    held: Vec<bool>,
    held_count: usize,
    /// Place of each candidate in the list.
    places: Vec<u32>,
    queue: Queue<T>,
    hits: Vec<(u32, T)>,
    runs: Vec<(u32, u32)>,
    /// Places of chosen candidates.
    chosen: Vec<u32>,
}

impl<T: Scalar> Solver<T> {
    pub(crate) fn new(level: Level) -> Self {
        let cells = Cells::new([T::ZERO; 3], [T::ZERO; 3], T::INFINITY, CELL);
        let (at, live, index, held, places) = Default::default();
        let (queue, hits, runs, chosen) = (Queue::new(), Vec::new(), Vec::new(), Vec::new());
        let (grid, held_count) = (Grid::new(cells), 0);
        Self { level, grid, at, live, index, held, held_count, places, queue, hits, runs, chosen }
    }

    /// Decides all candidates that can be decided. Updates distances, removes candidates that are chosen or fall
    /// to 0, marks blocked ones as `held`, and adds chosen ones to `facts`.
    pub(crate) fn solve(
        &mut self,
        candidates: &mut Vec<Candidate<T>>,
        band: &Band<'_, T>,
        facts: &mut Vec<Candidate<T>>,
    ) {
        if candidates.is_empty() {
            return;
        }
        self.load(candidates, band);
        let level = self.level;
        vectorize(level, Run { solver: self, band });
        let mut place = self.places.iter().map(|&place| place as usize);
        candidates.retain_mut(|candidate| {
            let place = place.next().expect("a place for each");
            let live = self.live[place];
            if live < T::ZERO {
                memory::push(facts, *candidate);
                let value = T::ZERO - live;
                facts.last_mut().expect("just added").entry.value = value;
            }
            candidate.entry.value = live;
            candidate.held = self.held[place];
            live > T::ZERO
        });
    }

    /// Sorts candidates into the grid and those before the floor into the queue.
    fn load(&mut self, candidates: &[Candidate<T>], band: &Band<'_, T>) {
        let mut corners = Corners::none();
        let (mut largest, mut reach) = (T::ZERO, T::ZERO);
        for candidate in candidates {
            corners.add(candidate.entry.at);
            let value = candidate.entry.value;
            largest = if value > largest { value } else { largest };
            let searches = !candidate.held && candidate.entry.key() < band.floor;
            reach = if searches && value > reach { value } else { reach };
        }
        for fact in band.facts {
            corners.add(fact.at);
            // Farther than the largest distance it can lower nothing.
            let value = if fact.value < largest { fact.value } else { largest };
            reach = if value > reach { value } else { reach };
        }
        let cells = Cells::new(corners.low, corners.high, reach, CELL);
        let points = candidates.iter().map(|candidate| candidate.entry.at);
        self.grid.sort_points(cells, points, &mut self.places);
        let n = candidates.len();
        self.at.iter_mut().for_each(|row| memory::resize(row, n + LANES, T::ZERO));
        memory::resize(&mut self.live, n, T::ZERO);
        memory::resize(&mut self.index, n, 0);
        memory::resize(&mut self.held, n, false);
        self.held_count = candidates.iter().filter(|candidate| candidate.held).count();
        for (candidate, &place) in candidates.iter().zip(&self.places) {
            let place = place as usize;
            let Candidate { entry, held, .. } = candidate;
            (0..3).for_each(|a| self.at[a][place] = entry.at[a]);
            self.live[place] = entry.value;
            self.index[place] = entry.index;
            self.held[place] = *held;
        }
        self.chosen.clear();
        self.queue.fill(&self.live[..n], &self.index[..n], &self.held[..n], band.floor);
    }

    /// Processes the queue.
    #[inline(always)]
    fn run<S: Simd<T>>(&mut self, simd: S, band: &Band<'_, T>) {
        let mut facts = band.facts.iter().peekable();
        loop {
            let next = self.queue.first();
            if let Some(fact) = facts.next_if(|fact| next.is_none_or(|(key, _)| fact.key() < key)) {
                self.search(simd, fact.at, fact.key(), fact.value, None);
                self.lower();
                continue;
            }
            let Some((key, place)) = next else { break };
            self.queue.pop();
            let value = self.live[place as usize];
            if value <= T::ZERO {
                continue;
            }
            if value == key.value() {
                self.decide(simd, band, key, value, place);
                continue;
            }
            let key = Key::new(value, self.index[place as usize]);
            if key < band.floor {
                self.queue.push(key, place);
            }
        }
    }

    #[inline(always)]
    fn decide<S: Simd<T>>(&mut self, simd: S, band: &Band<'_, T>, key: Key, value: T, place: u32) {
        let at = [0, 1, 2].map(|a| self.at[a][place as usize]);
        if band.ahead.blocks(at, value)
            || self.is_blocked_nearby(simd, at, key, value, place as usize)
            || self.search(simd, at, key, value, Some(place))
        {
            self.held[place as usize] = true;
            self.held_count += 1;
            return;
        }
        self.lower();
        self.live[place as usize] = T::ZERO - value;
        memory::push(&mut self.chosen, place);
    }

    /// Returns whether a point of the same part of the grid blocks a candidate. Where most are blocked, as along the
    /// borders of tiles in dense regions, this avoids a search through thousands of points.
    #[inline(always)]
    fn is_blocked_nearby<S: Simd<T>>(
        &self,
        simd: S,
        at: [T; 3],
        key: Key,
        value: T,
        place: usize,
    ) -> bool {
        let n = self.live.len();
        if self.held_count < n / HELD_FRACTION {
            return false;
        }
        let (center, bound) = (at.map(|x| simd.splat(x)), simd.splat(value));
        let (start, end) = (place.saturating_sub(TESTED_FIRST), (place + TESTED_FIRST).min(n));
        (start..end).step_by(S::LANES).any(|first| {
            let mut near = self.near(simd, first, end, center, bound);
            while near != 0 {
                let other = first + near.trailing_zeros() as usize;
                near &= near - 1;
                if self.live[other] > T::ZERO && self.comes_before(other, key, value) {
                    return true;
                }
            }
            false
        })
    }

    /// Returns whether a held point comes before a candidate by its known value.
    #[inline(always)]
    fn comes_before(&self, held: usize, key: Key, value: T) -> bool {
        let live = self.live[held];
        self.held[held] && (live > value || live == value && self.index[held] < key.index())
    }

    /// Returns the lanes of a vector of points that are nearer than a distance.
    #[inline(always)]
    fn near<S: Simd<T>>(
        &self,
        simd: S,
        first: usize,
        end: usize,
        center: [S::V; 3],
        bound: S::V,
    ) -> u32 {
        let square = |a: usize| {
            let difference = simd.sub(load(simd, &self.at[a][first..]), center[a]);
            simd.mul(difference, difference)
        };
        let distance = simd.add(simd.add(square(0), square(1)), square(2));
        let remaining = end - first;
        let lanes = if remaining >= S::LANES { u32::MAX } else { (1 << remaining) - 1 };
        simd.lt(distance, bound) & lanes
    }

    fn lower(&mut self) {
        for &(place, value) in &self.hits {
            self.live[place as usize] = value;
        }
    }

    /// Lists in `hits` the points that a point lowers if it is chosen at its turn. Returns whether it is the candidate at
    /// `candidate` and blocked.
    #[inline(always)]
    fn search<S: Simd<T>>(
        &mut self,
        simd: S,
        at: [T; 3],
        key: Key,
        value: T,
        candidate: Option<u32>,
    ) -> bool {
        self.hits.clear();
        self.grid.search(at, &mut self.runs);
        let candidate = candidate.map(|place| place as usize);
        let (center, bound) = (at.map(|x| simd.splat(x)), simd.splat(value));
        for &(start, end) in &self.runs {
            let (start, end) = (start as usize, end as usize);
            for first in (start..end).step_by(S::LANES) {
                let mut near = self.near(simd, first, end, center, bound);
                while near != 0 {
                    let place = first + near.trailing_zeros() as usize;
                    near &= near - 1;
                    let live = self.live[place];
                    if live <= T::ZERO || candidate == Some(place) {
                        continue;
                    }
                    if self.comes_before(place, key, value) {
                        // It comes first, and its final distance is not known here.
                        if candidate.is_some() {
                            return true;
                        }
                        continue;
                    }
                    let distance = squared(at, [0, 1, 2].map(|a| self.at[a][place]));
                    if distance < live {
                        self.hits.push((place as u32, distance));
                    }
                }
            }
        }
        false
    }
}

struct Run<'a, 'b, T: Scalar> {
    solver: &'a mut Solver<T>,
    band: &'a Band<'b, T>,
}

impl<T: Scalar> Kernel<T> for Run<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        self.solver.run(simd, self.band);
    }
}
