//! One sample at a time through a wide box tree.
//!
//! Every node knows the largest distance below it and the slot that has it, so the next
//! sample is read off the root. A new sample walks down into the boxes that it can change
//! (box bound below the largest distance), lowers the distances in the leaves it reaches, and
//! the nodes above are corrected on the way back. O(log points) boxes and a few leaves a
//! sample on surface-like clouds; never slower than O(points) a sample. Trees of few leaves give several samples a pass
//! (`offers`).

mod offers;

use super::selection::Selection;
use crate::clock::Clock;
use crate::cloud::WorkingCopy;
use crate::distance::{square, squared};
use crate::memory::{self, Buffer, Shared};
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, FANOUT, LEAF, NONE, box_bound};
use crate::threads::Team;
use crate::{Error, Scalar, Statistics};
use offers::{MAX_LEAVES, MIN_LANES, Offers};
use std::mem;

pub(crate) fn run<T: Scalar, S: Simd<T>>(
    simd: S,
    team: &Team,
    cloud: &WorkingCopy<T>,
    selection: &mut Selection<'_, T>,
) -> Result<(), Error> {
    let mut tree = selection
        .build(team, |statistics| BoxTree::with_team(team, cloud, &mut statistics.seconds))?;
    let mut clock = Clock::now();
    let few = tree.dims == 3 && tree.levels[0].len <= MAX_LEAVES && !selection.count;
    let mut complete = few
        && S::LANES >= MIN_LANES
        && simd.vectorize(Offers { cloud, tree: &mut tree, selection: &mut *selection })?;
    if !complete {
        let mut walker = Walker::new(simd, &mut tree);
        walker.begin(selection);
        complete = walker.run(selection, T::ZERO)?;
    }
    if !complete {
        finish(cloud, selection);
    }
    clock.lap(&mut selection.statistics.seconds.single);
    Ok(())
}

/// Offers the remaining points when the largest distance is zero: duplicates of chosen points, in
/// index order.
pub(super) fn finish<T: Scalar>(cloud: &WorkingCopy<T>, selection: &mut Selection<'_, T>) {
    let mut chosen = Buffer::filled(cloud.len, false);
    for &point in &selection.points {
        chosen[point as usize] = true;
    }
    for (point, &chosen) in (0..).zip(&chosen) {
        if !chosen && !selection.offer(point, T::ZERO) {
            return;
        }
    }
}

/// Returns the slot of the largest value below each entry, of the lowest point among equals.
fn best<T: Scalar>(tree: &BoxTree<T>) -> Buffer<Buffer<u32>> {
    let of_leaf = |leaf: usize| {
        let values = &tree.leaves[(leaf + 1) * tree.stride() - LEAF..][..LEAF];
        let largest = tree.levels[0].largest[leaf];
        let lane = values.iter().position(|value| *value == largest);
        (leaf * LEAF + lane.expect("the largest is one of them")) as u32
    };
    let leaves = Buffer::collected((0..tree.points.len() / LEAF).map(of_leaf));
    let mut best = Buffer::collected([leaves]);
    for levels in tree.levels.windows(2) {
        let (largest, slots) = (&levels[0].largest, &best[best.len() - 1]);
        let of_node = |node: usize| {
            let children = node * FANOUT..(node * FANOUT + FANOUT).min(levels[0].len);
            let equal = children.filter(|&child| largest[child] == levels[1].largest[node]);
            let slots = equal.map(|child| slots[child]);
            slots.min_by_key(|&slot| tree.points[slot as usize]).expect("a child has the largest")
        };
        best.push(Buffer::collected((0..levels[1].len).map(of_node)));
    }
    for (best, level) in best.iter_mut().zip(&tree.levels) {
        best.resize(level.largest.len(), 0);
    }
    best
}

/// A tree and the slot of the largest distance below each of its entries.
pub(super) struct Walker<'a, T, S> {
    tree: &'a mut BoxTree<T>,
    simd: S,
    /// Slots, by level and entry, padded like [`crate::spatial::Level::largest`].
    best: Buffer<Buffer<u32>>,
    /// Entries to visit at each level.
    visits: Buffer<Buffer<u32>>,
}

impl<'a, T: Scalar, S: Simd<T>> Walker<'a, T, S> {
    pub(super) fn new(simd: S, tree: &'a mut BoxTree<T>) -> Self {
        let best = best(tree);
        let visits = Buffer::collected(tree.levels.iter().map(|_| Buffer::default()));
        Self { tree, simd, best, visits }
    }

    /// Takes choices one by one while the largest distance is above `floor`; returns whether the sample is complete.
    pub(super) fn run(
        &mut self,
        selection: &mut Selection<'_, T>,
        floor: T,
    ) -> Result<bool, Error> {
        loop {
            let value = self.tree.largest();
            if value <= floor {
                return Ok(false);
            }
            let slot = self.best.last().expect("leaves")[0] as usize;
            if !selection.offer(self.tree.points[slot], value) {
                return Ok(true);
            }
            self.apply(slot, selection);
            selection.report(value)?;
        }
    }

    /// Takes the start points.
    fn begin(&mut self, selection: &mut Selection<'_, T>) {
        let starts = mem::take(&mut selection.starts);
        let slots: Buffer<usize> = match starts[..] {
            [start] => Buffer::collected(self.tree.points.iter().position(|&p| p == start)),
            _ => {
                let mut slot_of = Buffer::filled(self.tree.points.len(), 0);
                for (slot, &point) in self.tree.points.iter().enumerate() {
                    if point != NONE {
                        slot_of[point as usize] = slot;
                    }
                }
                Buffer::collected(starts.iter().map(|&start| slot_of[start as usize]))
            }
        };
        for (&start, &slot) in starts.iter().zip(&slots) {
            selection.begin(start);
            self.apply(slot, selection);
        }
    }

    /// Lowers all distances by the point in `slot`, which is now chosen: its own becomes 0.
    fn apply(&mut self, slot: usize, selection: &mut Selection<'_, T>) {
        let Self { tree, simd, best, visits } = self;
        let tree = &mut **tree;
        let statistics = &mut selection.statistics;
        simd.vectorize(Apply { tree, best, visits, slot, count: selection.count, statistics });
    }
}

struct Apply<'a, T> {
    tree: &'a mut BoxTree<T>,
    best: &'a mut [Buffer<u32>],
    visits: &'a mut [Buffer<u32>],
    slot: usize,
    count: bool,
    statistics: &'a mut Statistics,
}

impl<T: Scalar> Kernel<T> for Apply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self, simd: S) {
        match (self.tree.dims, self.count) {
            (3, false) => self.walk::<S, 3, false>(simd),
            (3, true) => self.walk::<S, 3, true>(simd),
            (_, false) => self.walk::<S, 0, false>(simd),
            (_, true) => self.walk::<S, 0, true>(simd),
        }
    }
}

impl<T: Scalar> Apply<'_, T> {
    #[inline(always)]
    fn walk<S: Simd<T>, const DIMS: usize, const COUNT: bool>(&mut self, simd: S) {
        let (leaf, lane) = (self.slot / LEAF, self.slot % LEAF);
        let start = leaf * self.tree.stride() + lane;
        let x = |a: usize| simd.splat(self.tree.leaves[start + a * LEAF]);
        let at = [x(0), x(1), x(2)];
        let top = self.tree.levels.len() - 1;
        self.visits.iter_mut().for_each(|visits| visits.clear());
        self.visits[top].push(0);
        for level in (1..=top).rev() {
            let (below, here) = self.visits.split_at_mut(level);
            for &node in &here[0] {
                let hit = reached(simd, self.tree, level - 1, node as usize, at);
                for_each_bit(hit, |c| below[level - 1].push(node * FANOUT as u32 + c));
            }
            if COUNT {
                self.statistics.regions_tested += (here[0].len() * FANOUT) as u64;
                self.statistics.regions_pruned +=
                    (here[0].len() * FANOUT - below[level - 1].len()) as u64;
            }
        }
        let leaves = std::mem::take(&mut self.visits[0]);
        for &leaf in &leaves {
            let changed = self.leaf::<S, DIMS, COUNT>(simd, leaf as usize, start, at);
            self.statistics.effective_updates += u64::from(changed);
        }
        self.statistics.distance_evaluations += (leaves.len() * LEAF) as u64;
        self.visits[0] = leaves;
        for level in 1..=top {
            for &node in &self.visits[level] {
                correct(simd, self.tree, self.best, level, node as usize);
            }
        }
    }

    /// Lowers the distances of a leaf; returns their number, if counted. `sample` is the offset of the sample's
    /// first coordinate in the leaves, `at` its first three.
    #[inline(always)]
    fn leaf<S: Simd<T>, const DIMS: usize, const COUNT: bool>(
        &mut self,
        simd: S,
        leaf: usize,
        sample: usize,
        at: [S::V; 3],
    ) -> u32 {
        let dims = if DIMS > 0 { DIMS } else { self.tree.dims };
        let stride = (dims + 1) * LEAF;
        let mut changed = 0;
        let mut lane_max = simd.splat(T::from_f64(-1.0));
        // The sample may lie in this very leaf, of which only the values are written.
        let numbers = Shared::new(&mut self.tree.leaves);
        // SAFETY: the leaf is one of the tree's, with `dims + 1` rows of `LEAF` numbers, a
        // multiple of every set's lanes; `sample` is a slot's place; no other thread is here.
        unsafe {
            let here = leaf * stride;
            let values = here + dims * LEAF;
            for lane in (0..LEAF).step_by(S::LANES) {
                let load = |axis: usize| numbers.load(simd, here + axis * LEAF + lane);
                let mut new = squared(simd, [load(0), load(1), load(2)], at);
                for axis in 3..dims {
                    let of = simd.splat(numbers.read(sample + axis * LEAF));
                    new = simd.add(new, square(simd, load(axis), of));
                }
                let old = numbers.load(simd, values + lane);
                if COUNT {
                    changed += simd.lt(new, old).count_ones();
                }
                let new = simd.min(new, old);
                numbers.store(simd, values + lane, new);
                lane_max = simd.max(lane_max, new);
            }
            let largest = simd.largest(lane_max);
            let mut lane = 0;
            // Points of a leaf are in index order, so the first lane is the lowest index.
            loop {
                let equal = simd.eq(numbers.load(simd, values + lane), simd.splat(largest));
                if equal != 0 {
                    lane += equal.trailing_zeros() as usize;
                    break;
                }
                lane += S::LANES;
            }
            self.tree.levels[0].largest[leaf] = largest;
            self.best[0][leaf] = (leaf * LEAF + lane) as u32;
        }
        changed
    }
}

/// Returns the children of `node` (entries of `level`) that a sample at `at` can change.
#[inline(always)]
fn reached<T: Scalar, S: Simd<T>>(
    simd: S,
    tree: &BoxTree<T>,
    level: usize,
    node: usize,
    at: [S::V; 3],
) -> u32 {
    let level = &tree.levels[level];
    let boxes = level.boxes.siblings(node);
    let largest = &level.largest[node * FANOUT..][..FANOUT];
    let zero = simd.splat(T::ZERO);
    let mut hit = 0;
    for lane in (0..FANOUT).step_by(S::LANES) {
        // SAFETY: rows of a group of siblings are `FANOUT` numbers.
        unsafe {
            let row = |a: usize| memory::load(simd, boxes, a * FANOUT + lane);
            let bound =
                box_bound(simd, at, [row(0), row(1), row(2)], [row(3), row(4), row(5)], zero);
            hit |= simd.lt(bound, memory::load(simd, largest, lane)) << lane;
        }
    }
    hit
}

/// Sets the largest value of a node, and its slot, from its children.
#[inline(always)]
fn correct<T: Scalar, S: Simd<T>>(
    simd: S,
    tree: &mut BoxTree<T>,
    best: &mut [Buffer<u32>],
    level: usize,
    node: usize,
) {
    let children = &tree.levels[level - 1].largest[node * FANOUT..][..FANOUT];
    // SAFETY: `FANOUT` numbers, a multiple of every set's lanes.
    let (largest, equal) = unsafe {
        let mut lane_max = memory::load(simd, children, 0);
        for lane in (S::LANES..FANOUT).step_by(S::LANES) {
            lane_max = simd.max(lane_max, memory::load(simd, children, lane));
        }
        let largest = simd.largest(lane_max);
        let same = |lane| simd.eq(memory::load(simd, children, lane), simd.splat(largest)) << lane;
        (largest, (0..FANOUT).step_by(S::LANES).fold(0, |mask, lane| mask | same(lane)))
    };
    let (below, here) = best.split_at_mut(level);
    let candidates = &below[level - 1][node * FANOUT..][..FANOUT];
    let mut slot = candidates[equal.trailing_zeros() as usize];
    for_each_bit(equal & (equal - 1), |c| {
        let other = candidates[c as usize];
        if tree.points[other as usize] < tree.points[slot as usize] {
            slot = other;
        }
    });
    here[0][node] = slot;
    tree.levels[level].largest[node] = largest;
}

/// Calls `f` with the number of each bit set, the lowest first.
#[inline(always)]
pub(super) fn for_each_bit(mut mask: u32, mut f: impl FnMut(u32)) {
    while mask != 0 {
        f(mask.trailing_zeros());
        mask &= mask - 1;
    }
}
