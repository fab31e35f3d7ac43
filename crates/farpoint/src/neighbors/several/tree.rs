//! Several neighbors through a box tree: a leaf of queries at a time goes down the tree of the other
//! cloud, the nearest parts first.
//!
//! The first leaf that is reached tells every query a limit: the distance of its k-th nearest point
//! there. Parts of the tree beyond the largest limit are left out; within a leaf, only those queries
//! compute distances whose limit reaches it.

use super::group::Group;
use super::output::Output;
use crate::Scalar;
use crate::neighbors::descent::{Part, around, block, children, insert, spread};
use crate::neighbors::metric::Metric;
use crate::simd::{Kernel, Simd};
use crate::spatial::BoxTree;
use crate::watch::Watch;
use std::marker::PhantomData;
use std::ops::Range;

/// Leaves of queries that a thread takes at least at a time.
const LEAST_LEAVES: usize = 8;

/// The neighbors of each point of `queries`, unless the watch stops it.
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

impl<T: Scalar, M: Metric> Kernel<T> for Walk<'_, '_, T, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let (mut ahead, mut keys) = (Vec::new(), Vec::new());
        for leaf in self.leaves.clone() {
            let mut group = Group::new(block(self.queries, leaf), self.output, &mut keys);
            if group.len() > 0 {
                self.serve(simd, &mut group, leaf, &mut ahead);
                if !self.watch.step(group.len()) {
                    return;
                }
                // SAFETY: every point of the cloud is in one leaf, and the leaf is this walk's
                // alone (`search` gives each out once).
                unsafe { group.write(self.output) };
            }
        }
    }
}

impl<T: Scalar, M: Metric> Walk<'_, '_, T, M> {
    /// Collects the neighbors of a leaf of queries.
    #[inline(always)]
    fn serve<S: Simd<T>>(
        &self,
        simd: S,
        group: &mut Group<'_, '_, T>,
        leaf: usize,
        ahead: &mut Vec<Part<T>>,
    ) {
        let (targets, dims) = (self.targets, self.targets.dims);
        let mine = around(simd, self.queries, leaf);
        ahead.clear();
        ahead.push(Part::top(targets));
        let (mut worst, mut begun) = (group.worst(simd), false);
        while let Some(next) = ahead.pop() {
            if next.bound > worst {
                return;
            }
            if next.level > 0 {
                children::<T, S, M>(simd, targets, mine, worst, next, |part| insert(ahead, part));
                continue;
            }
            if !begun {
                begun = true;
                group.seed::<S, M>(simd, block(targets, next.entry), dims);
            }
            let reached = group.reached::<S, M>(simd, around(simd, targets, next.entry));
            group.meet::<S, M>(simd, block(targets, next.entry), reached, dims);
            worst = group.worst(simd);
        }
    }
}
