//! Several neighbors through a box tree: a leaf of queries at a time goes down the tree of the other
//! cloud, the nearest parts first.
//!
//! The first leaf that is reached tells every query a limit: the distance of its k-th nearest point
//! there. Parts of the tree beyond the largest limit are left out; within a leaf, only those queries
//! compute distances whose limit reaches it.

use super::group::Group;
use super::output::Output;
use crate::Scalar;
use crate::memory;
use crate::neighbors::metric::{Metric, bound};
use crate::neighbors::tree::{around, block};
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, FANOUT};
use crate::threads::prelude::*;
use crate::watch::Watch;
use std::marker::PhantomData;
use std::ops::Range;

/// Leaves of queries that a thread takes at a time, at least and at most.
const LEAVES_A_JOB: (usize, usize) = (8, 128);

/// Jobs for each thread, where there are leaves enough: some take longer than others.
const JOBS_A_THREAD: usize = 8;

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
    match threads {
        1 => walk(0..leaves),
        _ => {
            let (least, most) = LEAVES_A_JOB;
            let size = (leaves / (threads * JOBS_A_THREAD)).clamp(least, most);
            let jobs = (0..leaves.div_ceil(size)).into_par_iter();
            jobs.for_each(|job| walk(job * size..((job + 1) * size).min(leaves)));
        }
    }
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

/// A part of the tree that may hold neighbors.
#[derive(Clone, Copy)]
struct Part<T> {
    bound: T,
    level: usize,
    entry: usize,
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
        ahead.push(Part { bound: T::ZERO, level: targets.levels.len() - 1, entry: 0 });
        let (mut worst, mut begun) = (group.worst(simd), false);
        while let Some(next) = ahead.pop() {
            if next.bound > worst {
                return;
            }
            if next.level > 0 {
                self.open(simd, mine, worst, next, ahead);
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

    /// Adds the children of a node to what is ahead, the nearest last.
    #[inline(always)]
    fn open<S: Simd<T>>(
        &self,
        simd: S,
        around: [[S::V; 3]; 2],
        worst: T,
        node: Part<T>,
        ahead: &mut Vec<Part<T>>,
    ) {
        let level = node.level - 1;
        let boxes = self.targets.levels[level].boxes.siblings(node.entry);
        let (worst, zero, end) = (simd.splat(worst), simd.splat(T::ZERO), simd.splat(T::INFINITY));
        let (mut bounds, mut near) = ([T::ZERO; FANOUT], 0);
        for at in (0..FANOUT).step_by(S::LANES) {
            // SAFETY: siblings have `6 * FANOUT` numbers, and no vector is longer than `FANOUT`.
            unsafe {
                let row = |k: usize| memory::load(simd, boxes, k * FANOUT + at);
                let other = [[row(0), row(1), row(2)], [row(3), row(4), row(5)]];
                let bound = bound::<T, S, M>(simd, around, other, zero);
                memory::store(simd, &mut bounds, at, bound);
                // Where there is no child, the box begins at infinity.
                near |= (simd.le(bound, worst) & simd.lt(other[0][0], end)) << at;
            }
        }
        while near != 0 {
            let lane = near.trailing_zeros() as usize % FANOUT;
            near &= near - 1;
            insert(ahead, Part { bound: bounds[lane], level, entry: node.entry * FANOUT + lane });
        }
    }
}

/// Inserts a part where it belongs: the nearest are last.
#[inline(always)]
fn insert<T: Scalar>(parts: &mut Vec<Part<T>>, part: Part<T>) {
    let mut place = parts.len();
    parts.push(part);
    while place > 0 && parts[place - 1].bound < part.bound {
        parts[place] = parts[place - 1];
        place -= 1;
    }
    parts[place] = part;
}
