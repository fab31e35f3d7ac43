//! All pairs, in vectors. Fastest for small clouds, and for few queries of a large one.

use super::block::{Block, Group};
use super::metric::Metric;
use super::output::Output;
use crate::Scalar;
use crate::cloud::Cloud;
use crate::memory::Aligned;
use crate::simd::{Kernel, Simd};
use crate::spatial::{LEAF, NONE};
use crate::threads::prelude::*;
use crate::watch::Watch;
use std::marker::PhantomData;
use std::ops::Range;

/// A cloud in blocks of [`LEAF`] points, in index order.
pub(super) struct Blocks<T> {
    dims: usize,
    numbers: Aligned<T>,
    points: Vec<[u32; LEAF]>,
}

impl<T: Scalar> Blocks<T> {
    pub(super) fn new(cloud: &Cloud<T>) -> Self {
        let (dims, count) = (cloud.dims(), cloud.len.div_ceil(LEAF));
        let mut numbers = Aligned::new(count * dims * LEAF, T::ZERO);
        let mut points = vec![[NONE; LEAF]; count];
        for (k, rows) in numbers.chunks_exact_mut(dims * LEAF).enumerate() {
            let from = k * LEAF..(k * LEAF + LEAF).min(cloud.len);
            for (row, axis) in rows.chunks_exact_mut(LEAF).zip(&cloud.axes) {
                row.fill(axis[from.start]);
                row[..from.len()].copy_from_slice(&axis[from.clone()]);
            }
            for (place, point) in points[k].iter_mut().zip(from) {
                *place = point as u32;
            }
        }
        Self { dims, numbers, points }
    }

    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    pub(super) fn dims(&self) -> usize {
        self.dims
    }

    pub(super) fn block(&self, k: usize) -> Block<'_, T> {
        let numbers = &self.numbers[k * self.dims * LEAF..][..self.dims * LEAF];
        Block { numbers, points: &self.points[k] }
    }
}

/// For each point of `queries` the nearest of `targets`, unless the watch stops it.
pub(super) fn search<T: Scalar, S: Simd<T>, M: Metric>(
    simd: S,
    queries: &Blocks<T>,
    targets: &Blocks<T>,
    threads: usize,
    output: &Output<'_, T>,
    watch: &Watch<'_>,
) {
    let pass = |blocks: Range<usize>| {
        simd.vectorize(Pass { queries, targets, blocks, output, watch, metric: PhantomData::<M> });
    };
    // Each block of queries is one job's, and comes once.
    match threads {
        1 => pass(0..queries.points.len()),
        _ => (0..queries.points.len()).into_par_iter().for_each(|block| pass(block..block + 1)),
    }
}

/// The watch is asked whenever a block of queries has met this many blocks: some milliseconds.
const MEETINGS: usize = 1 << 12;

struct Pass<'a, 'b, T, M> {
    queries: &'a Blocks<T>,
    targets: &'a Blocks<T>,
    /// Blocks of queries, which no other pass to the same output has.
    blocks: Range<usize>,
    output: &'a Output<'a, T>,
    watch: &'a Watch<'b>,
    metric: PhantomData<M>,
}

impl<T: Scalar, M: Metric> Kernel<T> for Pass<'_, '_, T, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let targets = self.targets.points.len();
        for k in self.blocks {
            let mut group = Group::new(self.queries.block(k));
            let all = group.all();
            for first in (0..targets).step_by(MEETINGS) {
                for target in first..(first + MEETINGS).min(targets) {
                    group.meet::<S, M>(simd, self.targets.block(target), all, self.targets.dims);
                }
                let found = if first + MEETINGS < targets { 0 } else { group.len() };
                if !self.watch.step(found) {
                    return;
                }
            }
            // SAFETY: every point of the cloud is in one block, and the block is this pass's
            // alone (`search` gives each out once).
            unsafe { self.output.write(&group) };
        }
    }
}
