//! All pairs, in vectors. Fastest for small clouds, and for few queries of a large one.

use super::group::Group;
use super::output::Output;
use crate::Scalar;
use crate::neighbors::brute::Blocks;
use crate::neighbors::metric::Metric;
use crate::simd::{Kernel, Simd};
use crate::threads::prelude::*;
use crate::watch::Watch;
use std::marker::PhantomData;
use std::ops::Range;

/// The neighbors of each point of `queries`, unless the watch stops it.
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
        1 => pass(0..queries.len()),
        _ => (0..queries.len()).into_par_iter().for_each(|block| pass(block..block + 1)),
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
        let (targets, dims) = (self.targets.len(), self.targets.dims());
        let mut keys = Vec::new();
        for k in self.blocks {
            let mut group = Group::new(self.queries.block(k), self.output, &mut keys);
            let all = group.all();
            group.seed::<S, M>(simd, self.targets.block(0), dims);
            for first in (0..targets).step_by(MEETINGS) {
                for target in first..(first + MEETINGS).min(targets) {
                    group.meet::<S, M>(simd, self.targets.block(target), all, dims);
                }
                let found = if first + MEETINGS < targets { 0 } else { group.len() };
                if !self.watch.step(found) {
                    return;
                }
            }
            // SAFETY: every point of the cloud is in one block, and the block is this pass's
            // alone (`search` gives each out once).
            unsafe { group.write(self.output) };
        }
    }
}
