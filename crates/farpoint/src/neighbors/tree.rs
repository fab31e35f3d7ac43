//! Nearest neighbors through a box tree: a leaf of queries at a time goes down the tree of the
//! other cloud.
//!
//! Both clouds lie in trees of tight boxes over 64 points. The queries of a leaf are neighbors,
//! so one walk serves them all: it prunes parts farther from their box than the worst of
//! their best distances. The nearest leaves are collected before any is visited, so that
//! each query can begin with the one that it is nearest to: that mostly holds its nearest point,
//! and little is left to search in others. In every leaf the queries that may find
//! something are selected by bounds of their own, a vector at a time.

use super::block::Block;
use super::descent::{Part, block, box_corners, children, insert};
use super::gather::Group;
use super::metric::Metric;
use super::nearest::{Bounds, Queries, TOGETHER};
use super::output::Output;
use crate::Scalar;
use crate::simd::Simd;
use crate::spatial::{BoxTree, NONE};

/// Leaves count as equally near if their bounds differ by a smaller factor.
const EQUALLY_NEAR: f64 = 1.0625;

/// Parts of the tree not yet visited for a leaf of queries.
struct Pending<T> {
    /// Nodes, the nearest last.
    nodes: Vec<Part<T>>,
    leaves: Vec<Part<T>>,
    /// The smallest bound of those leaves, and the number of leaves that have it.
    least: T,
    equal: usize,
}

/// Finds a nearest point for each query, group by group.
pub(super) struct Walk<'a, T: Scalar> {
    queries: Queries<'a, T>,
    output: &'a Output<'a, T>,
    pending: Pending<T>,
    /// A leaf of targets where the last group found most of its nearest points.
    last: Option<usize>,
}

impl<'a, T: Scalar> Group<'a, T> for Walk<'a, T> {
    #[inline(always)]
    fn begin(&mut self, queries: Block<'a, T>) {
        self.queries = Queries::new(queries);
    }

    fn reuse(&mut self, queries: Block<'a, T>) -> bool {
        self.queries.reuse(queries);
        true
    }

    fn len(&self) -> usize {
        self.queries.len()
    }

    #[inline(always)]
    fn visit_block<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        dims: usize,
        _first: bool,
    ) {
        self.queries.visit_block::<S, M>(simd, block, self.queries.all(), dims);
    }

    #[inline(always)]
    fn descend<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        queries: &BoxTree<T>,
        leaf: usize,
        targets: &BoxTree<T>,
    ) {
        let query_corners = box_corners(simd, queries, 0, leaf);
        if let Some(last) = self.last {
            self.queries.sample::<S, M>(simd, block(targets, last), targets.dims);
        }
        let mut worst = self.queries.worst(simd);
        let (mut begun, mut latest) = (false, NONE);
        self.pending.nodes.clear();
        self.pending.nodes.push(Part::top(targets));
        (self.pending.least, self.pending.equal) = (T::INFINITY, 0);
        loop {
            let next = self.pending.nodes.pop();
            // No remaining leaf is as near as the nearest so far, or there are enough of these.
            let enough = self.pending.equal >= TOGETHER;
            if !begun && (enough || next.is_none_or(|next| next.bound > self.pending.least)) {
                begun = true;
                self.last = self.visit_nearest::<S, M>(simd, targets);
            }
            if begun {
                worst = self.queries.worst(simd);
                let Self { queries, pending, .. } = self;
                for leaf in pending.leaves.drain(..) {
                    if leaf.bound <= worst && visit::<T, S, M>(simd, queries, targets, leaf) {
                        worst = queries.worst(simd);
                    }
                }
                latest = queries.latest();
            }
            let Some(next) = next.filter(|next| next.bound <= worst) else { return };
            if next.lowest <= latest || reached::<T, S, M>(simd, &self.queries, targets, next) != 0
            {
                self.open::<S, M>(simd, query_corners, worst, next, targets);
            }
        }
    }

    unsafe fn write<S: Simd<T>>(&mut self, _: S) {
        for (query, nearest, distance) in self.queries.found() {
            // SAFETY: the query is of the group, which no other thread writes for.
            unsafe { self.output.set(query, nearest, distance) };
        }
    }
}

impl<'a, T: Scalar> Walk<'a, T> {
    pub(super) fn new(output: &'a Output<'a, T>) -> Self {
        let (nodes, leaves) = (Vec::new(), Vec::new());
        let pending = Pending { nodes, leaves, least: T::INFINITY, equal: 0 };
        Self { queries: Queries::new(Block::EMPTY), output, pending, last: None }
    }

    /// Adds the children of a node to the parts ahead.
    #[inline(always)]
    fn open<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        corners: [[S::V; 3]; 2],
        worst: T,
        node: Part<T>,
        targets: &BoxTree<T>,
    ) {
        let pending = &mut self.pending;
        children::<T, S, M>(simd, targets, corners, worst, node, |part| {
            if part.level == 0 {
                pending.leaves.push(part);
                if part.bound < pending.least {
                    (pending.least, pending.equal) = (part.bound, 0);
                }
                pending.equal += usize::from(part.bound == pending.least);
            } else {
                insert(&mut pending.nodes, part);
            }
        });
    }

    /// Visits the nearest leaves first, for each query the leaf nearest to it.
    /// Returns the leaf that is nearest to most queries.
    #[inline(always)]
    fn visit_nearest<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        targets: &BoxTree<T>,
    ) -> Option<usize> {
        let Self { queries, pending, .. } = self;
        let dims = targets.dims;
        let limit = pending.least * T::from_f64(EQUALLY_NEAR);
        let count = bring_to_front(&mut pending.leaves, limit, TOGETHER);
        let leaves = &pending.leaves[..count];
        let mut bounds = Bounds::new();
        for (k, leaf) in leaves.iter().enumerate() {
            let corners = box_corners(simd, targets, 0, leaf.entry);
            queries.add_bounds::<S, M>(simd, corners, &mut bounds, k);
        }
        for (k, leaf) in leaves.iter().enumerate() {
            let first = bounds.nearest[k] & queries.all();
            queries.visit_block::<S, M>(simd, block(targets, leaf.entry), first, dims);
        }
        for (k, leaf) in leaves.iter().enumerate() {
            let reached = queries.within(simd, &bounds, k, leaf.lowest) & !bounds.nearest[k];
            queries.visit_block::<S, M>(simd, block(targets, leaf.entry), reached, dims);
        }
        let best_leaf = (0..count).max_by_key(|&k| bounds.nearest[k].count_ones());
        let best_leaf = best_leaf.map(|k| leaves[k].entry);
        pending.leaves.drain(..count);
        best_leaf
    }
}

/// Returns the queries that may find something in a part.
#[inline(always)]
fn reached<T: Scalar, S: Simd<T>, M: Metric>(
    simd: S,
    queries: &Queries<'_, T>,
    targets: &BoxTree<T>,
    part: Part<T>,
) -> u64 {
    queries.reached::<S, M>(simd, box_corners(simd, targets, part.level, part.entry), part.lowest)
}

/// Visits a leaf for those queries that may find something there; returns whether there are any.
#[inline(always)]
fn visit<T: Scalar, S: Simd<T>, M: Metric>(
    simd: S,
    queries: &mut Queries<'_, T>,
    targets: &BoxTree<T>,
    leaf: Part<T>,
) -> bool {
    let reached = reached::<T, S, M>(simd, queries, targets, leaf);
    queries.visit_block::<S, M>(simd, block(targets, leaf.entry), reached, targets.dims);
    reached != 0
}

/// Brings at most `max_count` parts within the limit to the front; returns their number.
#[inline(always)]
fn bring_to_front<T: Scalar>(parts: &mut [Part<T>], limit: T, max_count: usize) -> usize {
    let mut count = 0;
    for k in 0..parts.len() {
        if parts[k].bound <= limit && count < max_count {
            parts.swap(count, k);
            count += 1;
        }
    }
    count
}
