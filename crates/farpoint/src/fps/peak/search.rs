//! What lies near a point about to be chosen: the vector code of [`super::solve`].

use super::candidates::{Candidates, lanes_below};
use crate::Scalar;
use crate::distance::squared;
use crate::memory::{self, MOST_LANES, Padded};
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, LEAF};

/// A point about to be chosen.
#[derive(Clone, Copy)]
pub(super) struct Sample<T> {
    pub(super) at: [T; 3],
    pub(super) value: T,
    /// Slot in the tree.
    pub(super) slot: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Threat {
    None,
    After,
    Before,
}

/// As [`crate::spatial::box_bound`], for one box.
pub(super) fn box_distance<T: Scalar>(at: [T; 3], low: [T; 3], high: [T; 3]) -> T {
    let gap = |a: usize| {
        let outside = if low[a] > at[a] { low[a] - at[a] } else { at[a] - high[a] };
        if outside > T::ZERO { outside * outside } else { T::ZERO }
    };
    gap(0) + gap(1) + gap(2)
}

/// Distances over the axes beyond the third, added to what the first three gave.
#[inline(always)]
fn further_axes<T: Scalar>(tree: &BoxTree<T>, mut squared: T, a: u32, b: u32) -> T {
    let [a, b] = [a, b].map(|slot| tree.coordinates(slot));
    for axis in 3..tree.dims {
        let difference = tree.leaves[b + axis * LEAF] - tree.leaves[a + axis * LEAF];
        squared = squared + difference * difference;
    }
    squared
}

/// Squared distances over the first three axes from `at` to candidates from `place` on.
#[inline(always)]
fn distances<T: Scalar, S: Simd<T>>(
    simd: S,
    candidates: &Candidates<T>,
    place: usize,
    at: [S::V; 3],
) -> S::V {
    // SAFETY: `place` is a candidate's, and all rows are as long as there are candidates.
    let load = |a: usize| unsafe { candidates.at[a].load(simd, place) };
    squared(simd, [load(0), load(1), load(2)], at)
}

/// Lowers candidates within reach of a sample that come after it, and lists them.
pub(super) struct Reach<'a, T: Scalar> {
    pub(super) tree: &'a BoxTree<T>,
    pub(super) candidates: &'a Candidates<T>,
    pub(super) runs: &'a [(u32, u32)],
    pub(super) live: &'a mut Padded<T>,
    pub(super) sample: Sample<T>,
    pub(super) hits: &'a mut Vec<(u32, T)>,
}

impl<T: Scalar> Kernel<T> for Reach<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let [x, y, z] = self.sample.at;
        let at = [simd.splat(x), simd.splat(y), simd.splat(z)];
        let own = simd.splat(self.sample.value);
        let mut new = [T::ZERO; MOST_LANES];
        for &(start, end) in self.runs {
            let (start, end) = (start as usize, end as usize);
            for place in (start..end).step_by(S::LANES) {
                let squared = distances(simd, self.candidates, place, at);
                // SAFETY: `live` has a value for each candidate, of which `place` is one.
                let live = unsafe { self.live.load(simd, place) };
                // Equal values: the one before the sample is not within its distance.
                let after = simd.le(live, own) & simd.lt(squared, live);
                let mut hit = after & lanes_below(end - place);
                if hit == 0 {
                    continue;
                }
                // SAFETY: no vector has more than `MOST_LANES` numbers.
                unsafe { memory::store(simd, &mut new, 0, squared) };
                while hit != 0 {
                    let lane = hit.trailing_zeros() as usize;
                    hit &= hit - 1;
                    let mut value = new[lane];
                    if self.tree.dims > 3 {
                        let slot = self.candidates.slot[place + lane];
                        value = further_axes(self.tree, value, self.sample.slot, slot);
                        if value >= self.live[place + lane] {
                            continue;
                        }
                    }
                    self.live[place + lane] = value;
                    self.hits.push(((place + lane) as u32, value));
                }
            }
        }
    }
}

/// Looks for undecided candidates near a sample.
pub(super) struct Search<'a, T: Scalar> {
    pub(super) tree: &'a BoxTree<T>,
    pub(super) candidates: &'a Candidates<T>,
    pub(super) runs: &'a [(u32, u32)],
    /// Upper bounds of their distances.
    pub(super) live: &'a Padded<T>,
    pub(super) sample: Sample<T>,
    pub(super) key: T::Key,
}

impl<T: Scalar> Kernel<T> for Search<'_, T> {
    type Output = Threat;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> Threat {
        let [x, y, z] = self.sample.at;
        let at = [simd.splat(x), simd.splat(y), simd.splat(z)];
        let own = simd.splat(self.sample.value);
        let mut threat = Threat::None;
        for &(start, end) in self.runs {
            let (start, end) = (start as usize, end as usize);
            for place in (start..end).step_by(S::LANES) {
                let squared = distances(simd, self.candidates, place, at);
                // SAFETY: `live` has a value for each candidate, of which `place` is one.
                let live = unsafe { self.live.load(simd, place) };
                let alive = simd.lt(simd.splat(T::ZERO), live);
                let near = simd.lt(squared, own) & alive & lanes_below(end - place);
                let mut near = if threat == Threat::Before { 0 } else { near };
                while near != 0 {
                    let other = place + near.trailing_zeros() as usize;
                    near &= near - 1;
                    threat = threat.max(self.judge(other));
                }
            }
        }
        threat
    }
}

impl<T: Scalar> Search<'_, T> {
    /// A candidate within the sample's distance over the first three axes.
    fn judge(&self, place: usize) -> Threat {
        let slot = self.candidates.slot[place];
        let key = self.live[place].key(self.candidates.point[place]);
        if key == self.key {
            return Threat::None;
        }
        if self.tree.dims > 3 {
            let at = [0, 1, 2].map(|a| self.candidates.at[a][place]);
            let square = |a: usize| {
                let difference = at[a] - self.sample.at[a];
                difference * difference
            };
            let three = square(0) + square(1) + square(2);
            let squared = further_axes(self.tree, three, self.sample.slot, slot);
            if squared >= self.sample.value {
                return Threat::None;
            }
        }
        if key < self.key { Threat::Before } else { Threat::After }
    }
}
