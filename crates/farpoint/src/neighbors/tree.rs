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
use super::descent::{Part, around, block, children, insert};
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
struct Ahead<T> {
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
    ahead: Ahead<T>,
    /// A leaf of targets where the last group found most of its nearest points.
    last: Option<usize>,
}

impl<'a, T: Scalar> Group<'a, T> for Walk<'a, T> {
    #[inline(always)]
    fn begin(&mut self, queries: Block<'a, T>) {
        self.queries = Queries::new(queries);
    }

    fn again(&mut self, queries: Block<'a, T>) -> bool {
        self.queries.again(queries);
        true
    }

    fn len(&self) -> usize {
        self.queries.len()
    }

    #[inline(always)]
    fn meet<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        dims: usize,
        _first: bool,
    ) {
        self.queries.meet::<S, M>(simd, block, self.queries.all(), dims);
    }

    #[inline(always)]
    fn descend<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        queries: &BoxTree<T>,
        leaf: usize,
        targets: &BoxTree<T>,
    ) {
        let mine = around(simd, queries, 0, leaf);
        if let Some(last) = self.last {
            self.queries.sample::<S, M>(simd, block(targets, last), targets.dims);
        }
        let mut worst = self.queries.worst(simd);
        let (mut begun, mut latest) = (false, NONE);
        self.ahead.nodes.clear();
        self.ahead.nodes.push(Part::top(targets));
        (self.ahead.least, self.ahead.equal) = (T::INFINITY, 0);
        loop {
            let next = self.ahead.nodes.pop();
            // No remaining leaf is as near as the nearest so far, or there are enough of these.
            let enough = self.ahead.equal >= TOGETHER;
            if !begun && (enough || next.is_none_or(|next| next.bound > self.ahead.least)) {
                begun = true;
                self.last = self.visit_nearest::<S, M>(simd, targets);
            }
            if begun {
                worst = self.queries.worst(simd);
                let Self { queries, ahead, .. } = self;
                for leaf in ahead.leaves.drain(..) {
                    if leaf.bound <= worst && visit::<T, S, M>(simd, queries, targets, leaf) {
                        worst = queries.worst(simd);
                    }
                }
                latest = queries.latest();
            }
            let Some(next) = next.filter(|next| next.bound <= worst) else { return };
            if next.lowest <= latest || reached::<T, S, M>(simd, &self.queries, targets, next) != 0
            {
                self.open::<S, M>(simd, mine, worst, next, targets);
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
        let ahead = Ahead { nodes, leaves, least: T::INFINITY, equal: 0 };
        Self { queries: Queries::new(Block::EMPTY), output, ahead, last: None }
    }

    /// Adds the children of a node to the parts ahead.
    #[inline(always)]
    fn open<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        around: [[S::V; 3]; 2],
        worst: T,
        node: Part<T>,
        targets: &BoxTree<T>,
    ) {
        let ahead = &mut self.ahead;
        children::<T, S, M>(simd, targets, around, worst, node, |part| {
            if part.level == 0 {
                ahead.leaves.push(part);
                if part.bound < ahead.least {
                    (ahead.least, ahead.equal) = (part.bound, 0);
                }
                ahead.equal += usize::from(part.bound == ahead.least);
            } else {
                insert(&mut ahead.nodes, part);
            }
        });
    }

    /// Visits the nearest leaves ahead, each query first the one that it is
    /// nearest to. Returns the leaf that most queries are nearest to.
    #[inline(always)]
    fn visit_nearest<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        targets: &BoxTree<T>,
    ) -> Option<usize> {
        let Self { queries, ahead, .. } = self;
        let dims = targets.dims;
        let limit = ahead.least * T::from_f64(EQUALLY_NEAR);
        let count = bring_to_front(&mut ahead.leaves, limit, TOGETHER);
        let leaves = &ahead.leaves[..count];
        let mut bounds = Bounds::new();
        for (k, leaf) in leaves.iter().enumerate() {
            let around = around(simd, targets, 0, leaf.entry);
            queries.add_bounds::<S, M>(simd, around, &mut bounds, k);
        }
        for (k, leaf) in leaves.iter().enumerate() {
            let first = bounds.nearest[k] & queries.all();
            queries.meet::<S, M>(simd, block(targets, leaf.entry), first, dims);
        }
        for (k, leaf) in leaves.iter().enumerate() {
            let reached = queries.within(simd, &bounds, k, leaf.lowest) & !bounds.nearest[k];
            queries.meet::<S, M>(simd, block(targets, leaf.entry), reached, dims);
        }
        let most = (0..count).max_by_key(|&k| bounds.nearest[k].count_ones());
        let most = most.map(|k| leaves[k].entry);
        ahead.leaves.drain(..count);
        most
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
    queries.reached::<S, M>(simd, around(simd, targets, part.level, part.entry), part.lowest)
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
    queries.meet::<S, M>(simd, block(targets, leaf.entry), reached, targets.dims);
    reached != 0
}

/// Brings at most `most` parts within the limit to the front; returns their number.
#[inline(always)]
fn bring_to_front<T: Scalar>(parts: &mut [Part<T>], limit: T, most: usize) -> usize {
    let mut count = 0;
    for k in 0..parts.len() {
        if parts[k].bound <= limit && count < most {
            parts.swap(count, k);
            count += 1;
        }
    }
    count
}
