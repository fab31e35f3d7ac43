//! All pairs, in vectors. Fastest for small clouds, and for few queries of a large one.

use super::block::Block;
use super::gather::{Group, Search};
use super::metric::Metric;
use crate::Scalar;
use crate::cloud::WorkingCopy;
use crate::memory::{self, Aligned};
use crate::simd::{Kernel, Simd};
use crate::spatial::{LEAF, NONE};
use crate::threads::for_each;
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
    pub(super) fn new(cloud: &WorkingCopy<T>) -> Self {
        let (dims, count) = (cloud.dims(), cloud.len.div_ceil(LEAF));
        let mut numbers = Aligned::new(count * dims * LEAF, T::ZERO);
        let mut points = memory::filled(count, [NONE; LEAF]);
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

    fn block(&self, k: usize) -> Block<'_, T> {
        let numbers = &self.numbers[k * self.dims * LEAF..][..self.dims * LEAF];
        Block { numbers, points: &self.points[k] }
    }
}

/// Searches for all points of the first cloud in all of the second, unless the watch stops it.
pub(super) fn search<T: Scalar, S: Simd<T>, M: Metric, O: Search<T>>(
    simd: S,
    [queries, targets]: [&Blocks<T>; 2],
    threads: usize,
    output: &O,
    watch: &Watch<'_>,
) {
    let pass = |blocks: Range<usize>| {
        let metric = PhantomData::<M>;
        simd.vectorize(Pass { queries, targets, blocks, output, watch, metric });
    };
    let count = queries.points.len();
    // Each block of queries belongs to one job, and comes once.
    match threads {
        1 => pass(0..count),
        _ => for_each(count, threads, &|block| pass(block..block + 1)),
    }
}

/// Meetings of blocks between two checks of the watch: some milliseconds.
const MEETINGS: usize = 1 << 12;

struct Pass<'a, 'b, T, M, O> {
    queries: &'a Blocks<T>,
    targets: &'a Blocks<T>,
    /// Blocks of queries, which no other pass to the same output has.
    blocks: Range<usize>,
    output: &'a O,
    watch: &'a Watch<'b>,
    metric: PhantomData<M>,
}

impl<T: Scalar, M: Metric, O: Search<T>> Kernel<T> for Pass<'_, '_, T, M, O> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let (targets, dims) = (self.targets.points.len(), self.targets.dims);
        let mut group = self.output.group();
        for k in self.blocks {
            group.begin(self.queries.block(k));
            for first in (0..targets).step_by(MEETINGS) {
                for target in first..(first + MEETINGS).min(targets) {
                    group.visit_block::<S, M>(simd, self.targets.block(target), dims, target == 0);
                }
                let found = if first + MEETINGS < targets { 0 } else { group.len() };
                if !self.watch.step(found) {
                    return;
                }
            }
            // SAFETY: every point of the cloud is in one block, and the block is this pass's
            // alone (`search` gives each out once).
            unsafe { group.write(simd) };
        }
    }
}
