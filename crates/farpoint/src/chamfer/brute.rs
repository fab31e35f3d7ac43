//! All pairs, in vectors. Fastest for small clouds, and for few queries of a large one.

use super::block::{Block, Group};
use super::metric::Metric;
use super::run::Output;
use crate::Scalar;
use crate::arch::{Kernel, Simd};
use crate::cloud::Cloud;
use crate::memory::Aligned;
use crate::spatial::{LEAF, NONE};
use rayon::prelude::*;
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

    fn block(&self, k: usize) -> Block<'_, T> {
        let numbers = &self.numbers[k * self.dims * LEAF..][..self.dims * LEAF];
        Block { numbers, points: &self.points[k] }
    }
}

/// For each point of `queries` the nearest of `targets`.
pub(super) fn search<T: Scalar, S: Simd<T>, M: Metric>(
    simd: S,
    queries: &Blocks<T>,
    targets: &Blocks<T>,
    threads: usize,
    output: Output<'_, T>,
) {
    let pass = |blocks: Range<usize>| {
        simd.vectorize(Pass { queries, targets, blocks, output, metric: PhantomData::<M> });
    };
    match threads {
        1 => pass(0..queries.points.len()),
        _ => (0..queries.points.len()).into_par_iter().for_each(|block| pass(block..block + 1)),
    }
}

struct Pass<'a, T, M> {
    queries: &'a Blocks<T>,
    targets: &'a Blocks<T>,
    /// Blocks of queries.
    blocks: Range<usize>,
    output: Output<'a, T>,
    metric: PhantomData<M>,
}

impl<T: Scalar, M: Metric> Kernel<T> for Pass<'_, T, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        for k in self.blocks {
            let mut group = Group::new(self.queries.block(k));
            for target in 0..self.targets.points.len() {
                let all = group.all();
                group.meet::<S, M>(simd, self.targets.block(target), all, self.targets.dims);
            }
            self.output.write(&group);
        }
    }
}
