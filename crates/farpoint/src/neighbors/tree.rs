//! Nearest neighbors through a box tree: a leaf of queries at a time goes down the tree of the
//! other cloud.
//!
//! Both clouds lie in trees of tight boxes over 64 points. The queries of a leaf are neighbors,
//! so one walk serves them all: it leaves out what is farther from their box than the worst of
//! their best distances. The nearest leaves are collected before any is looked through, so that
//! each query can begin with the one that it is nearest to: that mostly holds its nearest point,
//! and little is left to be looked for in others. In every leaf the queries that may find
//! something are picked out by bounds of their own, a vector at a time.

use super::block::{Bounds, Group, TOGETHER};
use super::descent::{Part, around, block, children, insert, spread};
use super::metric::Metric;
use super::output::Output;
use crate::Scalar;
use crate::simd::{Kernel, Simd};
use crate::spatial::BoxTree;
use crate::watch::Watch;
use std::marker::PhantomData;
use std::ops::Range;

/// Leaves of queries that a thread takes at least at a time: the first of them has no neighbor to learn
/// from.
const LEAST_LEAVES: usize = 32;

/// Leaves are as good as equally near if their bounds differ by a smaller factor.
const EQUALLY_NEAR: f64 = 1.0625;

/// For each point of `queries` the nearest of `targets`, unless the watch stops it.
pub(super) fn search<T: Scalar, S: Simd<T>, M: Metric>(
    simd: S,
    queries: &BoxTree<T>,
    targets: &BoxTree<T>,
    threads: usize,
    output: &Output<'_, T>,
    watch: &Watch<'_>,
) {
    let leaves = queries.levels[0].len;
    let walk = |leaves: Range<usize>| {
        simd.vectorize(Walk { queries, targets, leaves, output, watch, metric: PhantomData::<M> });
    };
    // Each leaf of queries is one job's, and comes once.
    spread(leaves, LEAST_LEAVES, threads, walk);
}

struct Walk<'a, 'b, T, M> {
    queries: &'a BoxTree<T>,
    targets: &'a BoxTree<T>,
    /// Leaves of queries, which no other walk to the same output has.
    leaves: Range<usize>,
    output: &'a Output<'a, T>,
    watch: &'a Watch<'b>,
    metric: PhantomData<M>,
}

/// What is still to be visited for a leaf of queries.
struct Ahead<T> {
    /// Nodes, the nearest last.
    nodes: Vec<Part<T>>,
    leaves: Vec<Part<T>>,
    /// The least bound of those leaves.
    least: T,
}

impl<T: Scalar, M: Metric> Kernel<T> for Walk<'_, '_, T, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let mut ahead = Ahead { nodes: Vec::new(), leaves: Vec::new(), least: T::INFINITY };
        let mut last = None;
        for leaf in self.leaves.clone() {
            let mut group = Group::new(block(self.queries, leaf));
            if group.len() > 0 {
                last = self.serve(simd, &mut group, leaf, last, &mut ahead);
                if !self.watch.step(group.len()) {
                    return;
                }
                // SAFETY: every point of the cloud is in one leaf, and the leaf is this walk's
                // alone (`search` gives each out once).
                unsafe { self.output.write(&group) };
            }
        }
    }
}

impl<T: Scalar, M: Metric> Walk<'_, '_, T, M> {
    /// Finds the nearest points of a leaf of queries. `last` is a leaf that may be near; a
    /// better one for the next queries is returned.
    #[inline(always)]
    fn serve<S: Simd<T>>(
        &self,
        simd: S,
        group: &mut Group<'_, T>,
        leaf: usize,
        mut last: Option<usize>,
        ahead: &mut Ahead<T>,
    ) -> Option<usize> {
        let mine = around(simd, self.queries, leaf);
        if let Some(last) = last {
            group.sample::<S, M>(simd, block(self.targets, last), self.targets.dims);
        }
        let mut worst = group.worst(simd);
        let mut begun = false;
        ahead.nodes.clear();
        ahead.nodes.push(Part::top(self.targets));
        ahead.least = T::INFINITY;
        loop {
            let next = ahead.nodes.pop();
            // No leaf to come is as near as the nearest so far.
            if !begun && next.is_none_or(|next| next.bound > ahead.least) {
                begun = true;
                last = self.visit_nearest(simd, group, ahead);
            }
            if begun {
                worst = group.worst(simd);
                for leaf in ahead.leaves.drain(..) {
                    if leaf.bound <= worst && self.visit(simd, group, leaf.entry) {
                        worst = group.worst(simd);
                    }
                }
            }
            match next {
                Some(next) if next.bound <= worst => self.open(simd, mine, worst, next, ahead),
                _ => return last,
            }
        }
    }

    /// Adds the children of a node to what is ahead.
    #[inline(always)]
    fn open<S: Simd<T>>(
        &self,
        simd: S,
        around: [[S::V; 3]; 2],
        worst: T,
        node: Part<T>,
        ahead: &mut Ahead<T>,
    ) {
        children::<T, S, M>(simd, self.targets, around, worst, node, |part| {
            if part.level == 0 {
                ahead.leaves.push(part);
                ahead.least = if part.bound < ahead.least { part.bound } else { ahead.least };
            } else {
                insert(&mut ahead.nodes, part);
            }
        });
    }

    /// Looks through the nearest leaves ahead, each query first through the one that it is
    /// nearest to. Returns the leaf that most queries are nearest to.
    #[inline(always)]
    fn visit_nearest<S: Simd<T>>(
        &self,
        simd: S,
        group: &mut Group<'_, T>,
        ahead: &mut Ahead<T>,
    ) -> Option<usize> {
        let dims = self.targets.dims;
        let limit = ahead.least * T::from_f64(EQUALLY_NEAR);
        let count = bring_to_front(&mut ahead.leaves, limit, TOGETHER);
        let leaves = &ahead.leaves[..count];
        let mut bounds = Bounds::new();
        for (k, leaf) in leaves.iter().enumerate() {
            let around = around(simd, self.targets, leaf.entry);
            group.add_bounds::<S, M>(simd, around, &mut bounds, k);
        }
        for (k, leaf) in leaves.iter().enumerate() {
            let first = bounds.nearest[k] & group.all();
            group.meet::<S, M>(simd, block(self.targets, leaf.entry), first, dims);
        }
        for (k, leaf) in leaves.iter().enumerate() {
            let reached = group.within(simd, &bounds, k) & !bounds.nearest[k];
            group.meet::<S, M>(simd, block(self.targets, leaf.entry), reached, dims);
        }
        let most = (0..count).max_by_key(|&k| bounds.nearest[k].count_ones());
        let most = most.map(|k| leaves[k].entry);
        ahead.leaves.drain(..count);
        most
    }

    /// Looks through a leaf for those queries that may find something there; whether there are
    /// any.
    #[inline(always)]
    fn visit<S: Simd<T>>(&self, simd: S, group: &mut Group<'_, T>, leaf: usize) -> bool {
        let reached = group.reached::<S, M>(simd, around(simd, self.targets, leaf));
        group.meet::<S, M>(simd, block(self.targets, leaf), reached, self.targets.dims);
        reached != 0
    }
}

/// Brings parts within the limit to the front, `most` of them; returns how many.
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
