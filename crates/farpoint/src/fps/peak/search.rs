//! Candidates near a point about to be chosen: the vector code of [`super::solve`].

use super::candidates::{Candidates, Sample};
use super::list::lanes_below;
use crate::Scalar;
use crate::distance::squared;
use crate::memory::{self, Buffer, MAX_LANES};
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, LEAF};
use std::sync::atomic::Ordering;

/// A candidate that a sample lowers, with its new distance.
#[derive(Clone, Copy)]
pub(super) struct Hit<T> {
    pub(super) part: u32,
    pub(super) place: u32,
    pub(super) value: T,
}

/// Like [`crate::spatial::box_bound`], between two boxes, each a pair of corners: not above any distance computed
/// between points of the two.
pub(super) fn boxes_distance<T: Scalar>(a: [[T; 3]; 2], b: [[T; 3]; 2]) -> T {
    let gap = |axis: usize| {
        let [below, above] = [b[0][axis] - a[1][axis], a[0][axis] - b[1][axis]];
        let outside = if below > above { below } else { above };
        if outside > T::ZERO { outside * outside } else { T::ZERO }
    };
    gap(0) + gap(1) + gap(2)
}

/// Visits the candidates of a part within a sample's distance. With `SHARED`, other threads decide
/// candidates meanwhile.
///
/// Lists the candidates that the sample lowers; or finds one that is undecided and may come before the sample,
/// and returns its place.
pub(super) struct Near<'a, T: Scalar, const SHARED: bool> {
    pub(super) tree: &'a BoxTree<T>,
    pub(super) candidates: &'a Candidates<T>,
    /// Number of the candidates' part.
    pub(super) part: u32,
    pub(super) runs: &'a [(u32, u32)],
    pub(super) sample: Sample<T>,
    pub(super) hits: &'a mut Buffer<Hit<T>>,
}

impl<T: Scalar, const SHARED: bool> Kernel<T> for Near<'_, T, SHARED> {
    type Output = Option<u32>;

    #[inline(always)]
    fn run<S: Simd<T>>(mut self, simd: S) -> Option<u32> {
        let [x, y, z] = self.sample.at;
        let at = [simd.splat(x), simd.splat(y), simd.splat(z)];
        let sample_value = simd.splat(self.sample.value);
        let mut distances = [T::ZERO; MAX_LANES];
        for &(start, end) in self.runs {
            let (start, end) = (start as usize, end as usize);
            for place in (start..end).step_by(S::LANES) {
                // SAFETY: `place` is a candidate's, and all rows are as long as there are candidates.
                let load = |a: usize| unsafe { self.candidates.at[a].load(simd, place) };
                let squared = squared(simd, [load(0), load(1), load(2)], at);
                let mut near = simd.lt(squared, sample_value) & lanes_below(end - place);
                if near == 0 {
                    continue;
                }
                // SAFETY: no vector has more than `MAX_LANES` numbers.
                unsafe { memory::store(simd, &mut distances, 0, squared) };
                while near != 0 {
                    let lane = near.trailing_zeros() as usize;
                    near &= near - 1;
                    if self.threatens(place + lane, distances[lane]) {
                        return Some((place + lane) as u32);
                    }
                }
            }
        }
        None
    }
}

impl<T: Scalar, const SHARED: bool> Near<'_, T, SHARED> {
    /// Visits a candidate within the sample's distance over the first three axes; returns whether it is
    /// undecided and may come before the sample. The sample itself has no distance to fall.
    #[inline(always)]
    fn threatens(&mut self, place: usize, mut squared: T) -> bool {
        // Acquire: the thread that decided the candidate has lowered others before.
        let order = if SHARED { Ordering::Acquire } else { Ordering::Relaxed };
        let live = self.candidates.live[place].load(order);
        let slot = self.candidates.slot[place];
        if live == 0 || slot == self.sample.slot {
            return false;
        }
        if self.tree.dims > 3 {
            squared = further_axes(self.tree, squared, self.sample.slot, slot);
            if squared >= self.sample.value {
                return false;
            }
        }
        if SHARED {
            let sample_bits = self.sample.value.sorting_bits();
            let first = self.candidates.point[place] < self.sample.point;
            if live > sample_bits || (live == sample_bits && first) {
                return true;
            }
        }
        if squared.sorting_bits() < live {
            let (part, place) = (self.part, place as u32);
            self.hits.push(Hit { part, place, value: squared });
        }
        false
    }
}

/// Adds the further axes to the squared distance over the first three.
#[inline(always)]
fn further_axes<T: Scalar>(tree: &BoxTree<T>, mut squared: T, a: u32, b: u32) -> T {
    let [a, b] = [a, b].map(|slot| tree.coordinates(slot));
    for axis in 3..tree.dims {
        let difference = tree.leaves[b + axis * LEAF] - tree.leaves[a + axis * LEAF];
        squared = squared + difference * difference;
    }
    squared
}
