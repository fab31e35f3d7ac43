//! One band after another.

use super::candidates::{self, Candidates, From};
use super::first::{farthest, slots_of};
use super::floor::{Floor, Progress};
use super::list::List;
use super::share::share;
use super::solve::{Band, Solver};
use super::update::{Scratch, apply};
use super::walk::{Counts, Source};
use crate::clock::Clock;
use crate::cloud::Cloud;
use crate::fps::selection::Selection;
use crate::memory::Shared;
use crate::simd::Simd;
use crate::spatial::{BoxTree, Cells};
use crate::threads::Team;
use crate::{Error, Scalar, Statistics};

/// The first samples are taken one by one: bands would hold too few.
const ONE_BY_ONE: usize = 8;

/// Width of a grid cell over the largest distance of a band.
const CELL: f64 = 6.0;

/// A band has a part for so many candidates that are expected: with fewer, threads would wait for each other
/// more than they work.
const PART: usize = if cfg!(test) { 5 } else { 200 };

/// At most so many parts for each thread: some take longer than others.
const PARTS: usize = 2;

/// With fewer nodes a part, a band is dealt out by leaves.
const FINE: usize = 64;

/// Choices are applied by one thread if that is less work than looking at this many points.
const SHARE_WORK: usize = if cfg!(test) { 100 } else { 20_000 };

/// The state between bands.
pub(super) struct Bands<'a, T: Scalar, S> {
    simd: S,
    team: &'a Team,
    cloud: &'a Cloud<T>,
    pub(super) tree: BoxTree<T>,
    /// By part of the band.
    candidates: Vec<Candidates<T>>,
    solvers: Vec<Solver<T>>,
    /// Keys of the choices, band by band, in any order within one.
    pub(super) accepted: Vec<T::Key>,
    /// Where the choices of each part of each band end, and whether the band does.
    pub(super) ends: Vec<(usize, bool)>,
    floor: Floor,
    /// Candidates of the last band, about as many as the next will have.
    expected: usize,
    /// Nodes of level 1 that hold candidates, and leaves.
    nodes: Vec<u32>,
    leaves: Vec<u32>,
    scratch: Vec<Scratch<T>>,
    count: bool,
}

impl<'a, T: Scalar, S: Simd<T>> Bands<'a, T, S> {
    pub(super) fn new(
        simd: S,
        team: &'a Team,
        cloud: &'a Cloud<T>,
        tree: BoxTree<T>,
        count: bool,
    ) -> Self {
        let cells = Cells::new(cloud.low, cloud.high, T::INFINITY, CELL);
        Self {
            simd,
            team,
            cloud,
            candidates: (0..PARTS * team.size()).map(|_| Candidates::new(cells)).collect(),
            solvers: (0..PARTS * team.size()).map(|_| Solver::new()).collect(),
            accepted: Vec::new(),
            ends: Vec::new(),
            floor: Floor::default(),
            expected: 0,
            nodes: Vec::new(),
            leaves: Vec::new(),
            scratch: (0..team.size()).map(|_| Scratch::new(&tree)).collect(),
            tree,
            count,
        }
    }

    /// Takes the start points and the first samples one by one; whether more are wanted.
    pub(super) fn begin(&mut self, selection: &mut Selection<'_, T>) -> Result<bool, Error> {
        let starts = selection.starts.clone();
        // Slots are looked up for further axes only.
        let further = self.tree.dims > 3;
        let slots = if further { slots_of(&self.tree, &starts) } else { vec![0; starts.len()] };
        starts.iter().for_each(|&start| selection.begin(start));
        self.apply_one_by_one(&starts, &slots, selection);
        while selection.points.len() < ONE_BY_ONE && self.tree.largest() > T::ZERO {
            let value = self.tree.largest();
            let (point, slot) = farthest(&self.tree);
            if !selection.offer(point, value) {
                return Ok(false);
            }
            self.apply_one_by_one(&[point], &[slot], selection);
            selection.report(value)?;
        }
        Ok(true)
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
        let sources = [Source { list: &list, corners: [self.cloud.low, self.cloud.high] }];
        let team = self.team_for(points.len(), selection.points.len());
        let Self { simd, tree, scratch, count, .. } = self;
        let counts = apply(*simd, team, tree, &sources, *count, scratch);
        selection.statistics.add(&counts);
    }

    /// Chooses the points of the next band; whether no more are wanted.
    pub(super) fn next(&mut self, selection: &mut Selection<'_, T>) -> Result<bool, Error> {
        let largest = self.tree.largest();
        let samples = selection.points.len() + self.accepted.len();
        let remaining = selection.remaining() - self.accepted.len();
        let stop_radius = selection.stop_radius();
        let beta = self.floor.next(largest, Progress { samples, remaining, stop_radius });
        let mut clock = Clock::now();
        let parts = self.choose(largest, beta, &mut clock, &mut selection.statistics);
        selection.statistics.bands += 1;
        let chosen = self.put_together(parts);
        let last = chosen > remaining
            || selection.stops_among(&self.accepted[self.accepted.len() - chosen..]);
        if !last {
            let corners = |part: &Candidates<T>| [part.low, part.high];
            let sources: Vec<_> = self.solvers[..parts]
                .iter()
                .zip(&self.candidates)
                .map(|(solver, part)| Source { list: &solver.list, corners: corners(part) })
                .collect();
            let team = self.team_for(chosen, samples);
            let counts =
                apply(self.simd, team, &mut self.tree, &sources, self.count, &mut self.scratch);
            selection.statistics.add(&counts);
        }
        clock.lap(&mut selection.statistics.seconds.update);
        selection.report_at(samples + chosen, largest)?;
        Ok(last)
    }

    /// The team, if applying so many choices to all points is enough work for it.
    fn team_for(&self, chosen: usize, samples: usize) -> Option<&'a Team> {
        // It takes about as long as looking at this many points.
        let work = chosen * (300 + self.tree.points.len() / samples);
        (work >= SHARE_WORK && self.team.present() > 1).then_some(self.team)
    }

    /// Finds the choices of a band, in the solvers of so many parts.
    fn choose(
        &mut self,
        largest: T,
        beta: T,
        clock: &mut Clock,
        statistics: &mut Statistics,
    ) -> usize {
        let parts = self.collect(largest, beta);
        clock.lap(&mut statistics.seconds.collect);
        let (simd, candidates) = (self.simd, &self.candidates[..parts]);
        let band = Band { tree: &self.tree, candidates, beta, largest };
        if parts == 1 {
            self.solvers[0].advance::<S, false>(simd, &band, 0);
        } else {
            share(simd, self.team, &band, &mut self.solvers[..parts]);
        }
        self.expected = candidates.iter().map(Candidates::len).sum();
        statistics.band_points += self.expected as u64;
        statistics.rounds += 1;
        clock.lap(&mut statistics.seconds.solve);
        parts
    }

    /// Collects the candidates of a band in parts, and makes their solvers ready; how many parts.
    fn collect(&mut self, largest: T, beta: T) -> usize {
        let cells = Cells::new(self.cloud.low, self.cloud.high, largest, CELL);
        let Self { simd, team, tree, nodes, leaves, candidates, solvers, .. } = self;
        nodes.clear();
        simd.vectorize(candidates::Nodes { tree, beta, nodes });
        // One thread waits for nobody.
        let most = if team.present() == 1 { 1 } else { PARTS * team.present() };
        let parts = (self.expected / PART).clamp(1, most).min(nodes.len());
        let fine = parts > 1 && nodes.len() < FINE * parts;
        if fine {
            leaves.clear();
            simd.vectorize(candidates::Leaves { tree, beta, nodes, leaves });
        }
        let from = |k: usize| {
            let list = if fine { &leaves } else { &nodes };
            let part = &list[list.len() * k / parts..list.len() * (k + 1) / parts];
            if fine { From::Leaves(part) } else { From::Nodes(part) }
        };
        let (candidates, solvers) = (Shared::new(candidates), Shared::new(solvers));
        team.each(parts, |k, _| {
            // SAFETY: the part is its task's alone.
            let (candidates, solver) =
                unsafe { (&mut candidates.part(k..k + 1)[0], &mut solvers.part(k..k + 1)[0]) };
            candidates.collect(*simd, tree, from(k), beta, cells);
            solver.load(candidates);
        });
        parts
    }

    /// Adds the choices of a band to all others; how many they are.
    fn put_together(&mut self, parts: usize) -> usize {
        let before = self.accepted.len();
        for (k, solver) in self.solvers[..parts].iter().enumerate() {
            self.accepted.extend_from_slice(&solver.accepted);
            self.ends.push((self.accepted.len(), k + 1 == parts));
        }
        self.accepted.len() - before
    }
}

impl Statistics {
    /// Adds what a walk counted.
    fn add(&mut self, counts: &Counts) {
        self.distance_evaluations += counts.distances;
        self.effective_updates += counts.effective;
        self.regions_tested += counts.tested;
        self.regions_pruned += counts.pruned;
    }
}
