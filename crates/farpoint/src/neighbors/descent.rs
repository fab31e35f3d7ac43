//! Descent of a box tree with a leaf of queries, shared by all searches through trees.

use super::block::Block;
use super::gather::{Group, Search};
use super::metric::{Metric, bound};
use super::work;
use crate::Scalar;
use crate::memory;
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, FANOUT, LEAF, NONE};
use crate::threads::for_each;
use crate::watch::Watch;
use std::marker::PhantomData;
use std::ops::Range;

/// Maximum number of leaves of queries per job.
const MAX_LEAVES: usize = 128;

/// Jobs per thread, if there are leaves enough: some take longer than others.
const JOBS_A_THREAD: usize = 8;

/// Searches for all points of the first cloud in the tree of the second, unless the watch stops it.
pub(super) fn search<T: Scalar, S: Simd<T>, M: Metric, O: Search<T>>(
    simd: S,
    [queries, targets]: [&BoxTree<T>; 2],
    threads: usize,
    output: &O,
    watch: &Watch<'_>,
) {
    let walk = |leaves: Range<usize>| {
        let metric = PhantomData::<M>;
        simd.vectorize(Walk { queries, targets, leaves, output, watch, metric });
    };
    // Each leaf of queries belongs to one job, and comes once.
    let leaves = queries.levels[0].len;
    if threads == 1 {
        return walk(0..leaves);
    }
    let size = (leaves / (threads * JOBS_A_THREAD)).clamp(O::MIN_LEAVES, MAX_LEAVES);
    let job = |job: usize| walk(job * size..((job + 1) * size).min(leaves));
    for_each(leaves.div_ceil(size), threads, &job);
}

struct Walk<'a, 'b, T, M, O> {
    queries: &'a BoxTree<T>,
    targets: &'a BoxTree<T>,
    /// Leaves of queries, which no other walk to the same output has.
    leaves: Range<usize>,
    output: &'a O,
    watch: &'a Watch<'b>,
    metric: PhantomData<M>,
}

impl<T: Scalar, M: Metric, O: Search<T>> Kernel<T> for Walk<'_, '_, T, M, O> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let mut group = self.output.group();
        let mut last = Block::EMPTY;
        for leaf in self.leaves {
            let queries = block(self.queries, leaf);
            if queries.points[0] == NONE {
                continue;
            }
            let begun = M::ZEROS_ALIKE && last.points[0] != NONE;
            let alike = begun && last.coincides(queries, self.queries.dims);
            last = queries;
            if !(alike && group.reuse(queries)) {
                group.begin(queries);
                group.descend::<S, M>(simd, self.queries, leaf, self.targets);
            }
            if !self.watch.step(group.len()) {
                return;
            }
            // SAFETY: every point of the cloud is in one leaf, and the leaf is this walk's
            // alone (`search` gives each out once).
            unsafe { group.write(simd) };
        }
    }
}

/// A part of the tree that may hold neighbors.
#[derive(Clone, Copy)]
pub(super) struct Part<T> {
    pub(super) bound: T,
    /// Lowest point of the part.
    pub(super) lowest: u32,
    pub(super) level: usize,
    pub(super) entry: usize,
}

impl<T: Scalar> Part<T> {
    /// Returns the whole tree.
    #[inline(always)]
    pub(super) fn top(tree: &BoxTree<T>) -> Self {
        Self { bound: T::ZERO, lowest: 0, level: tree.levels.len() - 1, entry: 0 }
    }
}

/// Passes the children of a node that are within `worst` of a box to `each`.
#[inline(always)]
pub(super) fn children<T: Scalar, S: Simd<T>, M: Metric>(
    simd: S,
    tree: &BoxTree<T>,
    corners: [[S::V; 3]; 2],
    worst: T,
    node: Part<T>,
    mut each: impl FnMut(Part<T>),
) {
    work::add(1);
    let level = node.level - 1;
    let boxes = tree.levels[level].boxes.siblings(node.entry);
    let lowest = &tree.levels[level].lowest[node.entry * FANOUT..][..FANOUT];
    let (worst, zero, end) = (simd.splat(worst), simd.splat(T::ZERO), simd.splat(T::INFINITY));
    let (mut bounds, mut near) = ([T::ZERO; FANOUT], 0);
    for at in (0..FANOUT).step_by(S::LANES) {
        // SAFETY: siblings have `6 * FANOUT` numbers, and no vector is longer than `FANOUT`.
        unsafe {
            let row = |k: usize| memory::load(simd, boxes, k * FANOUT + at);
            let other = [[row(0), row(1), row(2)], [row(3), row(4), row(5)]];
            let bound = bound::<T, S, M>(simd, corners, other, zero);
            memory::store(simd, &mut bounds, at, bound);
            // Missing children have boxes that begin at infinity.
            near |= (simd.le(bound, worst) & simd.lt(other[0][0], end)) << at;
        }
    }
    while near != 0 {
        let lane = near.trailing_zeros() as usize % FANOUT;
        near &= near - 1;
        let entry = node.entry * FANOUT + lane;
        each(Part { bound: bounds[lane], lowest: lowest[lane], level, entry });
    }
}

/// Inserts a part in order: the nearest are last, and of equally near ones the one with the lowest point.
/// So points that coincide come in index order, and those after the last that counts are not visited.
#[inline(always)]
pub(super) fn insert<T: Scalar>(parts: &mut Vec<Part<T>>, part: Part<T>) {
    let mut place = parts.len();
    parts.push(part);
    while place > 0 {
        let before = parts[place - 1];
        let equal = before.bound == part.bound;
        if before.bound > part.bound || (equal && before.lowest > part.lowest) {
            break;
        }
        parts[place] = before;
        place -= 1;
    }
    parts[place] = part;
}

/// Returns the points of a leaf.
#[inline(always)]
pub(super) fn block<T: Scalar>(tree: &BoxTree<T>, leaf: usize) -> Block<'_, T> {
    let points = tree.points[leaf * LEAF..].first_chunk().expect("leaves are whole");
    Block { numbers: &tree.leaves[leaf * tree.stride()..][..tree.stride()], points }
}

/// Returns the box of an entry of a level, in every lane.
#[inline(always)]
pub(super) fn box_corners<T: Scalar, S: Simd<T>>(
    simd: S,
    tree: &BoxTree<T>,
    level: usize,
    entry: usize,
) -> [[S::V; 3]; 2] {
    let boxes = tree.levels[level].boxes.siblings(entry / FANOUT);
    let row = |k: usize| simd.splat(boxes[k * FANOUT + entry % FANOUT]);
    [[row(0), row(1), row(2)], [row(3), row(4), row(5)]]
}
