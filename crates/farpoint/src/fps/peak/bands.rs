//! The loop over bands.

use super::candidates::Candidates;
use super::first::{farthest, find_slots};
use super::floor::{Floor, Progress};
use super::list::List;
use super::share::share;
use super::solve::{Band, Solver};
use super::update::{Collected, Scratch, Update, apply};
use super::walk::{BandSamples, Counts};
use crate::clock::Clock;
use crate::cloud::WorkingCopy;
use crate::fps::selection::Selection;
use crate::fps::tree::Walker;
use crate::memory::{Buffer, Shared};
use crate::scalar::extremes;
use crate::simd::Simd;
use crate::spatial::{BoxTree, Cells, Presence};
use crate::threads::Team;
use crate::{Error, Scalar, Statistics};
use std::mem;

/// Number of first samples taken one by one: bands would hold too few.
const ONE_BY_ONE: usize = 8;

/// Width of a grid cell over the largest distance of a band.
const CELL: f64 = 6.0;

/// Minimum number of candidates per part.
const PART: usize = if cfg!(test) { 5 } else { 64 };

/// Candidates per part above which the number of parts is doubled: parts must fit a cache.
const LARGE_PART: usize = if cfg!(test) { 40 } else { 1 << 12 };

/// Maximum number of parts per thread. Unless they are large there is one, so that a thread finds in its cache the
/// memory that it wrote in the band before.
const PARTS: usize = 4;

/// Up to this many candidates are compared with each other, whatever cells they lie in.
const MAX_COMPARED: usize = if cfg!(test) { 20 } else { 100 };

/// Choices are applied by one thread if that is less work than looking at this many points.
const SHARE_WORK: usize = if cfg!(test) { 100 } else { 20_000 };

/// Working memory of all bands.
struct Memory<T: Scalar> {
    /// Candidates, by part of the band.
    candidates: Buffer<Candidates<T>>,
    solvers: Buffer<Solver<T>>,
    presence: Presence,
    /// Scratch, by member of the team.
    scratch: Buffer<Scratch<T>>,
    collected: Collected,
}

impl<T: Scalar> Memory<T> {
    /// Creates memory for `parts` parts and `members` members.
    fn new(parts: usize, members: usize, tree: &BoxTree<T>, cells: Cells<T>) -> Self {
        Self {
            candidates: Buffer::collected((0..parts).map(|_| Candidates::new(cells))),
            solvers: Buffer::collected((0..parts).map(|_| Solver::new())),
            presence: Presence::default(),
            scratch: Buffer::collected((0..members).map(|_| Scratch::new(tree))),
            collected: Collected::default(),
        }
    }
}

/// The state between bands.
pub(super) struct Bands<'a, T: Scalar, S> {
    simd: S,
    team: &'a Team,
    cloud: &'a WorkingCopy<T>,
    pub(super) tree: BoxTree<T>,
    memory: Memory<T>,
    /// Keys of the choices, band by band, in any order within one.
    pub(super) accepted: Buffer<T::Key>,
    /// End of the choices of each part of each band, and true at the end of a band.
    pub(super) ends: Buffer<(usize, bool)>,
    floor: Floor,
    /// Floor of the last collection of candidates.
    beta: T,
    /// Number of choices of the last band.
    chosen: usize,
    count: bool,
}

impl<'a, T: Scalar, S: Simd<T>> Bands<'a, T, S> {
    pub(super) fn new(
        simd: S,
        team: &'a Team,
        cloud: &'a WorkingCopy<T>,
        tree: BoxTree<T>,
        count: bool,
    ) -> Self {
        let cells = Cells::new(cloud.low, cloud.high, T::INFINITY, CELL);
        Self {
            simd,
            team,
            cloud,
            memory: Memory::new(PARTS * team.size(), team.size(), &tree, cells),
            accepted: Buffer::default(),
            ends: Buffer::default(),
            floor: Floor::default(),
            beta: T::INFINITY,
            chosen: 0,
            tree,
            count,
        }
    }

    /// Takes the start points and the first samples one by one, and all whose distance is infinite; returns whether
    /// the sample is complete.
    pub(super) fn begin(&mut self, selection: &mut Selection<'_, T>) -> Result<bool, Error> {
        let starts = mem::take(&mut selection.starts);
        // Slots are looked up for further axes only.
        let further = self.tree.dims > 3;
        let slots = match further {
            true => find_slots(&self.tree, &starts),
            false => Buffer::filled(starts.len(), 0),
        };
        starts.iter().for_each(|&start| selection.begin(start));
        self.apply_one_by_one(&starts, &slots, selection);
        while selection.points.len() < ONE_BY_ONE && self.tree.largest() > T::ZERO {
            let value = self.tree.largest();
            let (point, slot) = farthest(&self.tree);
            if !selection.offer(point, value) {
                return Ok(true);
            }
            self.apply_one_by_one(&[point], &[slot], selection);
            selection.report(value)?;
        }
        if self.tree.largest().is_finite() {
            return Ok(false);
        }
        Walker::new(self.simd, &mut self.tree).run(selection, T::MAX)
    }

    /// Applies chosen points, given with their slots.
    fn apply_one_by_one(
        &mut self,
        points: &[u32],
        slots: &[u32],
        selection: &mut Selection<'_, T>,
    ) {
        let mut list = List::default();
        for (&point, &slot) in points.iter().zip(slots) {
            list.push(std::array::from_fn(|a| self.cloud.axes[a][point as usize]), slot);
        }
        let sources = &[BandSamples { list: &list, corners: [self.cloud.low, self.cloud.high] }];
        let team = self.team_for(points.len(), selection.points.len());
        let update = Update { sources, beta: T::INFINITY, count: self.count };
        let Self { simd, tree, memory: Memory { scratch, collected, .. }, .. } = self;
        selection.statistics.add(&apply(*simd, team, tree, &update, scratch, collected));
    }

    /// Lowers all distances by these samples, and collects the points that stay above `beta`.
    fn update(&mut self, team: Option<&Team>, parts: usize, beta: T, statistics: &mut Statistics) {
        let corners = |part: &Candidates<T>| [part.low, part.high];
        let Memory { candidates, solvers, scratch, collected, .. } = &mut self.memory;
        let parts = solvers[..parts].iter().zip(candidates);
        let sources = Buffer::collected(
            parts.map(|(solver, part)| BandSamples { list: &solver.list, corners: corners(part) }),
        );
        let update = Update { sources: &sources, beta, count: self.count };
        statistics.add(&apply(self.simd, team, &mut self.tree, &update, scratch, collected));
        self.beta = beta;
    }

    /// Chooses points band by band, as long as grids can hold them and distances are left.
    pub(super) fn run(&mut self, selection: &mut Selection<'_, T>) -> Result<(), Error> {
        while self.tree.largest() > T::ZERO && !self.next(selection)? {}
        Ok(())
    }

    /// Chooses the points of the next band, if a grid can hold them; returns whether it was the last.
    fn next(&mut self, selection: &mut Selection<'_, T>) -> Result<bool, Error> {
        let largest = self.tree.largest();
        let samples = selection.points.len() + self.accepted.len();
        let remaining = selection.remaining() - self.accepted.len();
        let stop_radius = selection.stop_radius();
        let mut clock = Clock::now();
        if self.memory.collected.len() == 0 {
            let beta = self.floor.next(largest, Progress { samples, remaining, stop_radius });
            let team = self.team_for(self.tree.points.len() / 300, usize::MAX);
            self.update(team, 0, beta, &mut selection.statistics);
        }
        let Some(cells) = self.cells(largest) else { return Ok(true) };
        let parts = self.choose(cells, largest, &mut clock, &mut selection.statistics);
        selection.statistics.bands += 1;
        let chosen = self.collect_choices(parts);
        let last = chosen > remaining
            || selection.stops_among(&self.accepted[self.accepted.len() - chosen..]);
        if !last {
            // All distances are then at or below this floor, and the largest close to it: it predicts the next
            // floor, for which candidates are collected meanwhile.
            let (samples, remaining) = (samples + chosen, remaining - chosen);
            let progress = Progress { samples, remaining, stop_radius };
            let some = self.beta > T::ZERO;
            let beta = if some { self.floor.next(self.beta, progress) } else { T::INFINITY };
            let team = self.team_for(chosen, samples);
            self.update(team, parts, beta, &mut selection.statistics);
        }
        clock.lap(&mut selection.statistics.seconds.update);
        selection.report_at(samples + chosen, largest)?;
        Ok(last)
    }

    /// Returns the team, if applying `chosen` choices to all points is enough work for it.
    fn team_for(&self, chosen: usize, samples: usize) -> Option<&'a Team> {
        // It takes about as long as looking at this many points.
        let work = chosen * (300 + self.tree.points.len() / samples);
        (work >= SHARE_WORK && self.team.present() > 1).then_some(self.team)
    }

    /// Returns cells for the candidates; `None` if they are many and small cells are not representable.
    fn cells(&self, largest: T) -> Option<Cells<T>> {
        let cells = Cells::new(self.cloud.low, self.cloud.high, largest, CELL);
        if !cells.are_wide() {
            return Some(cells);
        }
        // The box of the cloud may be that large for the sake of a few points.
        let Memory { scratch, collected, .. } = &self.memory;
        let count = collected.len();
        let ends = [0, 1, 2].map(|a| {
            let runs = collected.segments(scratch, 0..count);
            let ends = runs.filter_map(|run| extremes(run.at()[a]));
            ends.reduce(|a, b| {
                (if b.0 < a.0 { b.0 } else { a.0 }, if b.1 > a.1 { b.1 } else { a.1 })
            })
        });
        let ends = ends.map(Option::unwrap_or_default);
        let cells = Cells::new(ends.map(|e| e.0), ends.map(|e| e.1), largest, CELL);
        (count <= MAX_COMPARED || !cells.are_wide()).then_some(cells)
    }

    /// Finds the choices of a band, in the solvers of `parts` parts.
    fn choose(
        &mut self,
        cells: Cells<T>,
        largest: T,
        clock: &mut Clock,
        statistics: &mut Statistics,
    ) -> usize {
        let parts = self.partition(cells);
        clock.lap(&mut statistics.seconds.collect);
        let Memory { candidates, solvers, presence, collected, .. } = &mut self.memory;
        let (simd, candidates) = (self.simd, &candidates[..parts]);
        let (tree, beta) = (&self.tree, self.beta);
        let band = Band { tree, candidates, cells, presence, beta, largest };
        match parts {
            1 if self.tree.dims == 3 => solvers[0].solve_single_part(simd, &band),
            1 => _ = solvers[0].advance::<S, false>(simd, &band, 0),
            _ => share(simd, self.team, &band, &mut solvers[..parts]),
        }
        statistics.band_points += collected.len() as u64;
        statistics.rounds += 1;
        clock.lap(&mut statistics.seconds.solve);
        parts
    }

    /// Partitions the candidates of a band and prepares the solvers; returns the number of parts.
    fn partition(&mut self, cells: Cells<T>) -> usize {
        let Self { team, tree, memory, .. } = self;
        let threads = team.present();
        let Memory { candidates, solvers, presence, scratch, collected } = memory;
        let count = collected.len();
        // If candidates far outnumber choices, threads wait for a few.
        let mut parts = (count / PART).min(self.chosen).clamp(1, threads);
        // One part stays one: a single thread never waits.
        while parts > 1 && 2 * parts <= PARTS * threads && count / parts > LARGE_PART {
            parts *= 2;
        }
        let single_part = parts == 1 && tree.dims == 3;
        if parts > 1 {
            presence.clear(count);
        }
        let (candidates, solvers) = (Shared::new(candidates), Shared::new(solvers));
        team.each(parts, |k, _| {
            let range = count * k / parts..count * (k + 1) / parts;
            // SAFETY: the part is its task's alone.
            let (candidates, solver) =
                unsafe { (&mut candidates.part(k..k + 1)[0], &mut solvers.part(k..k + 1)[0]) };
            let (bit, mut last) = (Presence::bit(k), None);
            let cell = |number: u32| {
                // Neighbors in the tree are often in one cell.
                if parts > 1 && last.replace(number) != Some(number) {
                    presence.add(number, bit);
                }
            };
            let runs = collected.segments(scratch, range.clone());
            candidates.fill(tree, cells, range.len(), runs, cell);
            if !single_part {
                candidates.reset_live();
            }
            solver.load(candidates);
        });
        parts
    }

    /// Adds the choices of a band to all others; returns their number.
    fn collect_choices(&mut self, parts: usize) -> usize {
        let before = self.accepted.len();
        for (k, solver) in self.memory.solvers[..parts].iter().enumerate() {
            self.accepted.extend(solver.accepted.iter().copied());
            self.ends.push((self.accepted.len(), k + 1 == parts));
        }
        self.chosen = self.accepted.len() - before;
        self.chosen
    }
}

impl Statistics {
    /// Adds the counts of a walk.
    fn add(&mut self, counts: &Counts) {
        self.distance_evaluations += counts.distances;
        self.effective_updates += counts.effective;
        self.regions_tested += counts.tested;
        self.regions_pruned += counts.pruned;
    }
}
