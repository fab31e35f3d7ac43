//! Brute force over points that fit a cache: the whole run as one loop of vectors.
//!
//! One pass over all points lowers the distances and finds the farthest point: every lane keeps its largest
//! distance and the position of it.

use crate::cloud::WorkingCopy;
use crate::distance::{square, squared};
use crate::fps::selection::Selection;
use crate::memory::{self, Aligned, MAX_LANES};
use crate::simd::{Kernel, Simd};
use crate::{Error, Scalar};
use std::mem;

/// A run of [`super::run`] on one thread, without statistics.
pub(super) struct SmallCloud<'a, 'b, T> {
    pub(super) cloud: &'a WorkingCopy<T>,
    /// Squared distance of each point to the sample, negative if chosen or padding; whole pairs of vectors.
    pub(super) distance: &'a mut Aligned<T>,
    pub(super) selection: &'a mut Selection<'b, T>,
}

impl<T: Scalar> Kernel<T> for SmallCloud<'_, '_, T> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output {
        if self.cloud.dims() == 3 { self.choose::<S, 3>(simd) } else { self.choose::<S, 0>(simd) }
    }
}

impl<T: Scalar> SmallCloud<'_, '_, T> {
    /// `DIMS` is the number of axes if known, else 0.
    #[inline(always)]
    fn choose<S: Simd<T>, const DIMS: usize>(mut self, simd: S) -> Result<(), Error> {
        let mut next = None;
        for &start in &mem::take(&mut self.selection.starts) {
            self.selection.begin(start);
            next = self.apply::<S, DIMS>(simd, start);
        }
        while let Some((point, value)) = next {
            if !self.selection.offer(point, value) {
                break;
            }
            next = self.apply::<S, DIMS>(simd, point);
            self.selection.report(value)?;
        }
        Ok(())
    }

    /// Lowers all distances by a chosen point; returns the lowest index of the farthest points, and its
    /// distance, or `None` if all are chosen.
    #[inline(always)]
    fn apply<S: Simd<T>, const DIMS: usize>(&mut self, simd: S, sample: u32) -> Option<(u32, T)> {
        let axes = &self.cloud.axes;
        let dims = if DIMS > 0 { DIMS } else { axes.len() };
        let chosen = T::from_f64(-1.0);
        // Slices of one length, so that neither bounds nor starts are looked up again.
        let distance = &mut self.distance[..];
        let len = distance.len();
        let first: [&[T]; 3] = [0, 1, 2].map(|a| &axes[a][..len]);
        distance[sample as usize] = chosen;
        let of = |axis: usize| simd.splat(axes[axis][sample as usize]);
        let [x, y, z] = [of(0), of(1), of(2)];
        let step = simd.splat(T::from_f64((2 * S::LANES) as f64));
        let mut here = simd.splat(T::ZERO);
        // By every second vector, so that a maximum need not wait for the one before.
        let mut best = [simd.splat(chosen); 2];
        let mut place = [here; 2];
        for start in (0..len).step_by(2 * S::LANES) {
            for half in 0..2 {
                let at = start + half * S::LANES;
                // SAFETY: the length is a multiple of two vectors of the widest set, `at` is below it, and axes are
                // as long.
                unsafe {
                    let load = |axis: usize| memory::load(simd, first[axis], at);
                    let mut new = squared(simd, [load(0), load(1), load(2)], [x, y, z]);
                    for axis in 3..dims {
                        let load = axes.get_unchecked(axis).load(simd, at);
                        new = simd.add(new, square(simd, load, of(axis)));
                    }
                    let new = simd.min(new, memory::load(simd, distance, at));
                    memory::store(simd, distance, at, new);
                    (best[half], place[half]) = simd.replace_lt(best[half], place[half], new, here);
                }
            }
            here = simd.add(here, step);
        }
        self.selection.statistics.distance_evaluations += self.cloud.len as u64;
        let value = simd.largest(simd.max(best[0], best[1]));
        if value < T::ZERO {
            return None;
        }
        let mut lowest = usize::MAX;
        for half in 0..2 {
            let mut starts = [T::ZERO; MAX_LANES];
            // SAFETY: no vector has more than `MAX_LANES` numbers.
            unsafe { memory::store(simd, &mut starts, 0, place[half]) };
            let mut equal = simd.eq(best[half], simd.splat(value));
            while equal != 0 {
                let lane = equal.trailing_zeros() as usize;
                equal &= equal - 1;
                lowest = lowest.min(starts[lane].to_f64() as usize + half * S::LANES + lane);
            }
        }
        Some((lowest as u32, value))
    }
}
