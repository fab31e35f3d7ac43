//! The peak method: exact FPS that chooses thousands of points at a time.
//!
//! See docs/peak.md for the method and its proof. A *band* is all unchosen points whose
//! distance is above a floor `beta`. Until every distance is at or below it, FPS chooses only
//! points of the band, and what happens outside can wait. So: collect the band
//! (`candidates`), find out which of its points are chosen and with what distances (`solve`), and
//! apply all of them to the cloud in one go (`update`). Then the next band. Sorted by distance and index,
//! the choices of a band are in the order of FPS; all bands are sorted at the end.
//!
//! Each stage is a step of a team of threads: a part of the tree's nodes, of the band, of the tree.

mod candidates;
mod floor;
mod list;
mod queue;
mod search;
mod solve;
#[cfg(test)]
mod tests;
mod update;

use super::selection::Selection;
use super::tree::finish;
use crate::clock::Clock;
use crate::cloud::Cloud;
use crate::memory::Shared;
use crate::simd::Simd;
use crate::spatial::{BoxTree, Cells, FANOUT, LEAF, NONE};
use crate::threads::{Team, Waits};
use crate::{Error, Scalar, Statistics};
use candidates::{Candidates, From};
use floor::{Floor, Progress};
use list::List;
use solve::{Band, Solver};
use std::sync::atomic::{AtomicBool, Ordering};
use update::{Counts, Scratch, Source};

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

pub(crate) fn run<T: Scalar, S: Simd<T>>(
    simd: S,
    team: &Team,
    cloud: &Cloud<T>,
    selection: &mut Selection<'_, T>,
) -> Result<(), Error> {
    let tree = BoxTree::by(team, cloud, &mut selection.statistics.seconds);
    let mut clock = Clock::now();
    let mut bands = Bands::new(simd, team, cloud, tree, selection.count);
    if !bands.begin(selection)? {
        return Ok(());
    }
    clock.lap(&mut selection.statistics.seconds.single);
    let mut complete = false;
    while !complete && bands.tree.largest() > T::ZERO {
        complete = bands.next(selection)?;
    }
    let mut clock = Clock::now();
    let complete = selection.offer_all(team, &mut bands.accepted, &bands.ends);
    if !complete {
        finish(cloud, selection);
    }
    clock.lap(&mut selection.statistics.seconds.sort);
    if team.size() > 1 {
        selection.statistics.counters.push(("long waits", team.long_waits()));
    }
    Ok(())
}

/// The state between bands.
struct Bands<'a, T: Scalar, S> {
    simd: S,
    team: &'a Team,
    cloud: &'a Cloud<T>,
    tree: BoxTree<T>,
    /// By part of the band.
    candidates: Vec<Candidates<T>>,
    solvers: Vec<Solver<T>>,
    /// Keys of the choices, band by band, in any order within one.
    accepted: Vec<T::Key>,
    /// Where the choices of each part of each band end, and whether the band does.
    ends: Vec<(usize, bool)>,
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
    fn new(simd: S, team: &'a Team, cloud: &'a Cloud<T>, tree: BoxTree<T>, count: bool) -> Self {
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
    fn begin(&mut self, selection: &mut Selection<'_, T>) -> Result<bool, Error> {
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
        let counts = apply(
            self.simd,
            self.team,
            &mut self.tree,
            &sources,
            selection.points.len(),
            self.count,
            &mut self.scratch,
        );
        selection.statistics.add(&counts);
    }

    /// Chooses the points of the next band; whether no more are wanted.
    fn next(&mut self, selection: &mut Selection<'_, T>) -> Result<bool, Error> {
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
            let counts = apply(
                self.simd,
                self.team,
                &mut self.tree,
                &sources,
                samples,
                self.count,
                &mut self.scratch,
            );
            selection.statistics.add(&counts);
        }
        clock.lap(&mut selection.statistics.seconds.update);
        selection.report_at(samples + chosen, largest)?;
        Ok(last)
    }

    /// Finds the choices of a band, in the solvers of so many parts.
    fn choose(
        &mut self,
        largest: T,
        beta: T,
        clock: &mut Clock,
        statistics: &mut Statistics,
    ) -> usize {
        let cells = Cells::new(self.cloud.low, self.cloud.high, largest, CELL);
        let (simd, tree) = (self.simd, &self.tree);
        self.nodes.clear();
        simd.vectorize(candidates::Nodes { tree, beta, nodes: &mut self.nodes });
        let most = PARTS * self.team.present();
        let parts = (self.expected / PART).clamp(1, most).min(self.nodes.len());
        let fine = parts > 1 && self.nodes.len() < FINE * parts;
        if fine {
            let (nodes, leaves) = (&self.nodes, &mut self.leaves);
            leaves.clear();
            simd.vectorize(candidates::Leaves { tree, beta, nodes, leaves });
        }
        let from = |k: usize| {
            let list = if fine { &self.leaves } else { &self.nodes };
            let part = &list[list.len() * k / parts..list.len() * (k + 1) / parts];
            if fine { From::Leaves(part) } else { From::Nodes(part) }
        };
        let (candidates, solvers) =
            (Shared::new(&mut self.candidates), Shared::new(&mut self.solvers));
        self.team.each(parts, |k, _| {
            // SAFETY: the part is its task's alone.
            let (candidates, solver) =
                unsafe { (&mut candidates.part(k..k + 1)[0], &mut solvers.part(k..k + 1)[0]) };
            candidates.collect(simd, tree, from(k), beta, cells);
            solver.load(candidates);
        });
        clock.lap(&mut statistics.seconds.collect);
        let candidates = &self.candidates[..parts];
        let band = Band { tree, candidates, beta, largest };
        if parts == 1 {
            self.solvers[0].advance::<S, false>(simd, &band, 0);
        } else {
            share_out(simd, self.team, &band, &mut self.solvers[..parts]);
        }
        self.expected = candidates.iter().map(Candidates::len).sum();
        statistics.band_points += self.expected as u64;
        statistics.rounds += 1;
        clock.lap(&mut statistics.seconds.solve);
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

/// Solves the parts of a band, each by one thread at a time.
fn share_out<T: Scalar, S: Simd<T>>(
    simd: S,
    team: &Team,
    band: &Band<'_, T>,
    solvers: &mut [Solver<T>],
) {
    let parts = solvers.len();
    let begun: Vec<_> = (0..parts).map(|_| AtomicBool::new(false)).collect();
    let (solvers, waits) = (Shared::new(solvers), team.waits());
    team.each(parts, |first, _| {
        let begin_one = || {
            let begin = |k: usize| begun[k].swap(true, Ordering::Relaxed);
            let free = |k: &usize| !begun[*k].load(Ordering::Relaxed) && !begin(*k);
            let part = (first..parts).chain(0..first).find(free)?;
            // SAFETY: whoever begins a part has its solver alone.
            let solver = unsafe { &mut solvers.part(part..part + 1)[0] };
            solver.meet(band, part);
            Some((part, solver))
        };
        work(simd, band, waits, begin_one);
    });
}

/// Works at parts of a band until all that this thread has begun are done and none is left to be begun.
fn work<'s, T: Scalar, S: Simd<T>>(
    simd: S,
    band: &Band<'_, T>,
    waits: Waits<'_>,
    begin_one: impl Fn() -> Option<(usize, &'s mut Solver<T>)>,
) {
    let mut own: Vec<(usize, &mut Solver<T>)> = Vec::new();
    let mut wait = waits.start();
    loop {
        let mut progress = false;
        for (part, solver) in &mut own {
            progress |= solver.advance::<S, true>(simd, band, *part);
        }
        own.retain(|(_, solver)| !solver.is_done());
        if progress {
            std::mem::replace(&mut wait, waits.start()).end();
        } else if let Some(one) = begin_one() {
            own.push(one);
        } else if own.is_empty() || !wait.poll() {
            return wait.end();
        }
    }
}

/// Applies samples to all points, on the team if that is enough work.
fn apply<T: Scalar, S: Simd<T>>(
    simd: S,
    team: &Team,
    tree: &mut BoxTree<T>,
    sources: &[Source<'_, T>],
    samples: usize,
    count: bool,
    scratch: &mut [Scratch<T>],
) -> Counts {
    let chosen: usize = sources.iter().map(|source| source.list.len()).sum();
    // It takes about as long as looking at this many points.
    let work = chosen * (300 + tree.points.len() / samples);
    let team = (work >= SHARE_WORK && team.present() > 1).then_some(team);
    update::apply(simd, team, tree, sources, count, scratch)
}

/// The slots of points.
fn slots_of<T: Scalar>(tree: &BoxTree<T>, points: &[u32]) -> Vec<u32> {
    let mut slot_of = vec![0; tree.points.len()];
    for (&point, slot) in tree.points.iter().zip(0..) {
        if point != NONE {
            slot_of[point as usize] = slot;
        }
    }
    points.iter().map(|&point| slot_of[point as usize]).collect()
}

/// The lowest point that has the largest distance, and its slot.
fn farthest<T: Scalar>(tree: &BoxTree<T>) -> (u32, u32) {
    let largest = tree.largest();
    let mut entries = vec![0];
    for level in tree.levels[..tree.levels.len() - 1].iter().rev() {
        let children = |&entry: &usize| entry * FANOUT..((entry + 1) * FANOUT).min(level.len);
        let has = |child: &usize| level.largest[*child] == largest;
        entries = entries.iter().flat_map(children).filter(has).collect();
    }
    let values = |leaf: usize| &tree.leaves[(leaf + 1) * tree.stride() - LEAF..][..LEAF];
    let lanes = |leaf: usize| values(leaf).iter().zip(leaf * LEAF..);
    let slots = entries.into_iter().flat_map(lanes).filter(|(value, _)| **value == largest);
    let found = slots.map(|(_, slot)| (tree.points[slot], slot as u32)).min();
    found.expect("a point has the largest distance")
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
