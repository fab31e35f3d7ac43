//! The peak method: exact FPS that chooses thousands of points at a time.
//!
//! See docs/peak.md for the method and its proof. A *band* is all unchosen points whose
//! distance is above a floor `beta`. Until every distance is at or below it, FPS chooses only
//! points of the band, and what happens outside can wait. So: collect the band
//! (`candidates`), find out which of its points are chosen and with what distances (`solve`),
//! sort them by distance and index, which is the order of FPS, and apply all of them to the
//! cloud in one go (`update`). Then the next band.

mod candidates;
mod floor;
mod list;
mod queue;
mod search;
mod solve;
mod update;

use super::selection::Selection;
use super::tree::{Outcome, Walker, finish};
use crate::clock::Clock;
use crate::cloud::Cloud;
use crate::simd::Simd;
use crate::spatial::{BoxTree, Cells, LEAF};
use crate::threads::prelude::*;
use crate::{Error, Scalar, Statistics, threads};
use candidates::Candidates;
use floor::Floor;
use list::List;
use solve::{Band, Solver};
use std::ops::Range;

/// The first samples are taken one by one: bands would hold too few.
const ONE_BY_ONE: usize = 8;

/// Width of a grid cell over the largest distance of a band.
const CELL: f64 = 6.0;

/// A band that is expected to have fewer candidates than this is solved by one thread: waking
/// another costs more.
const SHARE_CANDIDATES: usize = 2_000;

/// Choices are applied by one thread if that is less work than looking at this many points.
const SHARE_WORK: usize = 100_000;

pub(crate) fn run<T: Scalar, S: Simd<T>>(
    simd: S,
    cloud: &Cloud<T>,
    threads: usize,
    selection: &mut Selection<'_, T>,
) -> Result<(), Error> {
    let mut clock = Clock::now();
    let mut walker = Walker::new(simd, BoxTree::new(cloud, threads));
    clock.lap(&mut selection.statistics.seconds.build);
    if walker.run(selection, ONE_BY_ONE)? == Outcome::Complete {
        return Ok(());
    }
    clock.lap(&mut selection.statistics.seconds.single);
    let mut bands = Bands::new(simd, cloud, walker.tree, threads);
    while bands.tree.largest() > T::ZERO {
        if !bands.next(selection)? {
            return Ok(());
        }
    }
    finish(cloud, selection);
    Ok(())
}

/// The leaves of part `k` of an even number of parts, or of one. Half of the parts are on
/// either side of the plane that halves the points: the fewer points near the borders of
/// parts, the better.
fn part<T>(tree: &BoxTree<T>, k: usize, parts: usize) -> Range<usize> {
    let leaves = tree.points.len() / LEAF;
    if parts == 1 {
        return 0..leaves;
    }
    let end = |k: usize| match k.checked_sub(parts / 2) {
        None => tree.middle * k * 2 / parts,
        Some(k) => tree.middle + (leaves - tree.middle) * k * 2 / parts,
    };
    end(k)..end(k + 1)
}

/// The state between bands.
struct Bands<'a, T: Scalar, S> {
    simd: S,
    cloud: &'a Cloud<T>,
    tree: BoxTree<T>,
    /// One for each part of the cloud.
    parts: Vec<(Candidates<T>, Solver<T>)>,
    /// For what the parts could not decide.
    rest: (Candidates<T>, Solver<T>),
    /// Keys of the band's choices, in order.
    accepted: Vec<T::Key>,
    /// The same points, part by part.
    list: List<T>,
    floor: Floor,
    /// Candidates of the last band, about as many as the next will have.
    expected: usize,
    scratch: Vec<List<T>>,
}

impl<'a, T: Scalar, S: Simd<T>> Bands<'a, T, S> {
    fn new(simd: S, cloud: &'a Cloud<T>, tree: BoxTree<T>, threads: usize) -> Self {
        let parts = if threads > 1 { threads.next_multiple_of(2) } else { 1 };
        let cells = Cells::new(cloud.low, cloud.high, T::INFINITY, CELL);
        let fresh = || (Candidates::new(cells), Solver::new());
        Self {
            simd,
            cloud,
            tree,
            parts: (0..parts).map(|_| fresh()).collect(),
            rest: fresh(),
            accepted: Vec::new(),
            list: List::default(),
            floor: Floor::default(),
            expected: 0,
            scratch: Vec::new(),
        }
    }

    /// Chooses the points of the next band; whether more are wanted.
    fn next(&mut self, selection: &mut Selection<'_, T>) -> Result<bool, Error> {
        let largest = self.tree.largest();
        let beta = self.floor.next(largest, selection);
        let mut clock = Clock::now();
        self.choose(largest, beta, &mut clock, &mut selection.statistics);
        selection.statistics.bands += 1;
        let Some(counts) = self.offer_and_apply(selection) else { return Ok(false) };
        clock.lap(&mut selection.statistics.seconds.update);
        selection.statistics.distance_evaluations += counts.distances;
        selection.statistics.effective_updates += counts.effective;
        selection.statistics.regions_tested += counts.tested;
        selection.statistics.regions_pruned += counts.pruned;
        selection.report(largest)?;
        Ok(true)
    }

    /// Offers the band's choices in order and applies them to the cloud, which do not need
    /// each other; `None` when no more are wanted.
    fn offer_and_apply(&mut self, selection: &mut Selection<'_, T>) -> Option<update::Counts> {
        let last = self.accepted.len() > selection.remaining();
        // It takes about as long as looking at this many points.
        let work = self.list.len() * (300 + self.cloud.len / selection.points.len());
        let parallel = self.parts.len() > 1 && work >= SHARE_WORK;
        let count = selection.count;
        let Self { simd, tree, list, scratch, accepted, .. } = self;
        let mut offer = || {
            // Runs of the parts, one after another: the stable sort finds and merges them.
            accepted.sort();
            accepted.iter().all(|&key| selection.offer(T::key_index(key), T::key_value(key)))
        };
        let apply = || update::apply(*simd, tree, list, parallel, count, scratch);
        if parallel && !last {
            let (more, counts) = threads::join(offer, apply);
            return more.then_some(counts);
        }
        offer().then(apply)
    }

    /// Fills `accepted` with the band's choices, part by part in order.
    fn choose(&mut self, largest: T, beta: T, clock: &mut Clock, statistics: &mut Statistics) {
        let cells = Cells::new(self.cloud.low, self.cloud.high, largest, CELL);
        let (simd, tree) = (self.simd, &self.tree);
        let leaves_of = |k: usize, parts: usize| part(tree, k, parts);
        let count = if self.expected < SHARE_CANDIDATES { 1 } else { self.parts.len() };
        let parts = &mut self.parts[..count];
        let gather = |k: usize, (candidates, solver): &mut (Candidates<T>, Solver<T>)| {
            candidates.collect(simd, tree, leaves_of(k, count), beta, cells);
            solver.load(candidates);
        };
        self.accepted.clear();
        if count == 1 {
            gather(0, &mut parts[0]);
            clock.lap(&mut statistics.seconds.collect);
            let (candidates, solver) = &mut parts[0];
            self.expected = candidates.len();
            statistics.band_points += candidates.len() as u64;
            statistics.rounds += 1;
            solver.solve(simd, &Band { tree, candidates, beta }, &[]);
            std::mem::swap(&mut self.accepted, &mut solver.accepted);
            std::mem::swap(&mut self.list, &mut solver.list);
            clock.lap(&mut statistics.seconds.solve);
            return;
        }
        parts.par_iter_mut().enumerate().for_each(|(k, part)| gather(k, part));
        clock.lap(&mut statistics.seconds.collect);
        let (candidates, solvers): (Vec<_>, Vec<_>) =
            parts.iter_mut().map(|(candidates, solver)| (&*candidates, solver)).unzip();
        solvers.into_par_iter().enumerate().for_each(|(k, solver)| {
            let mut others = candidates.clone();
            let own = others.remove(k);
            solver.solve(simd, &Band { tree, candidates: own, beta }, &others);
        });
        self.expected = candidates.iter().map(|part| part.len()).sum();
        statistics.band_points += self.expected as u64;
        statistics.rounds += 2;
        self.settle(beta, cells);
        clock.lap(&mut statistics.seconds.solve);
    }

    /// Decides what the parts left, and puts all choices together.
    fn settle(&mut self, beta: T, cells: Cells<T>) {
        let (simd, tree) = (self.simd, &self.tree);
        let (candidates, solver) = &mut self.rest;
        let left = self.parts.iter().flat_map(|(candidates, solver)| solver.left(candidates));
        candidates.take(left, cells);
        solver.load(candidates);
        let band = Band { tree, candidates, beta };
        if candidates.len() > 0 {
            for (_, part) in &self.parts {
                part.border().iter().for_each(|&by| solver.lower(simd, &band, by));
            }
            solver.solve(simd, &band, &[]);
        }
        self.list.clear();
        for (_, solver) in self.parts.iter().chain([&self.rest]) {
            self.accepted.extend_from_slice(&solver.accepted);
            self.list.append(&solver.list);
        }
    }
}
