//! Several samples out of one pass over the leaves, for trees of few leaves and points of three axes.
//!
//! Every leaf offers its farthest point, the lowest of equal ones, and with it a bound: none of its other points is
//! farther. Let the limit be the largest bound. The first of all offers is the next choice. Once offers are lowered to
//! it, the first offer is again the next choice if it is above the limit: all points that are not offered are at or
//! below it, and distances only fall. And so on, until an offer is not above the limit. Then the points of the leaves
//! that the choices reach are lowered, and these leaves offer anew.
//!
//! A choice by a walk waits for the distances of a few leaves, one after the other; here it waits for those of the
//! offers, and the leaves of several choices are visited side by side.

use crate::cloud::WorkingCopy;
use crate::distance::squared;
use crate::fps::selection::Selection;
use crate::memory::{self, Aligned, Buffer};
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, FANOUT, LEAF, NONE, box_bound};
use crate::{Error, Scalar};

/// Leaves of a mask of hits.
const WORD: usize = u64::BITS as usize;

/// Numbers of a leaf.
const STRIDE: usize = 4 * LEAF;

/// What the leaves offer, by leaf, in whole groups of siblings.
pub(super) struct Offers<'a, 'b, T: Scalar> {
    cloud: &'a WorkingCopy<T>,
    tree: &'a mut BoxTree<T>,
    selection: &'a mut Selection<'b, T>,
    /// Coordinates of the point offered.
    at: [Aligned<T>; 3],
    /// Its distance, lowered by all choices; not positive if there is nothing to offer.
    value: Aligned<T>,
    /// The largest distance of the leaf's other points before the choices of this pass.
    bound: Aligned<T>,
    point: Buffer<u32>,
    /// Choices of this pass.
    choices: Buffer<[T; 3]>,
    /// Leaves that these can change: a word for each [`WORD`] leaves.
    hits: Buffer<u64>,
}

impl<'a, 'b, T: Scalar> Offers<'a, 'b, T> {
    pub(super) fn new(
        cloud: &'a WorkingCopy<T>,
        tree: &'a mut BoxTree<T>,
        selection: &'a mut Selection<'b, T>,
    ) -> Self {
        let leaves = tree.levels[0].largest.len();
        let row = || Aligned::new(leaves, T::from_f64(-1.0));
        Self {
            at: [row(), row(), row()],
            value: row(),
            bound: row(),
            point: Buffer::filled(leaves, NONE),
            choices: Buffer::default(),
            hits: Buffer::default(),
            cloud,
            tree,
            selection,
        }
    }
}

impl<T: Scalar> Kernel<T> for Offers<'_, '_, T> {
    /// Whether the sample is complete; if not, all distances are zero.
    type Output = Result<bool, Error>;

    #[inline(always)]
    fn run<S: Simd<T>>(mut self, simd: S) -> Self::Output {
        for &start in &std::mem::take(&mut self.selection.starts) {
            self.selection.begin(start);
            self.choices.push([0, 1, 2].map(|a| self.cloud.axes[a][start as usize]));
            // All leaves that have points.
            let leaves = self.tree.points.len() / LEAF;
            let all = |first: usize| u64::MAX >> WORD.saturating_sub(leaves - first);
            self.hits.extend((0..leaves).step_by(WORD).map(all));
        }
        loop {
            self.apply(simd);
            let (mut value, limit) = self.ends(simd);
            if value <= T::ZERO {
                return Ok(false);
            }
            // The first choice is certain.
            loop {
                let leaf = self.first(simd, value);
                if !self.selection.offer(self.point[leaf], value) {
                    return Ok(true);
                }
                let largest = self.choose(simd, leaf);
                self.selection.report(value)?;
                value = largest;
                if value <= limit {
                    break;
                }
            }
        }
    }
}

impl<T: Scalar> Offers<'_, '_, T> {
    /// Returns the largest offer, and the largest bound.
    #[inline(always)]
    fn ends<S: Simd<T>>(&self, simd: S) -> (T, T) {
        let mut ends = [simd.splat(T::ZERO); 2];
        for at in (0..self.value.len()).step_by(S::LANES) {
            // SAFETY: rows are whole groups of siblings, a multiple of every set's lanes, as is `at`, which is below.
            unsafe {
                ends[0] = simd.max(ends[0], memory::load(simd, &self.value, at));
                ends[1] = simd.max(ends[1], memory::load(simd, &self.bound, at));
            }
        }
        (simd.largest(ends[0]), simd.largest(ends[1]))
    }

    /// Returns the leaf that offers the lowest point of this value, which there must be.
    #[inline(always)]
    fn first<S: Simd<T>>(&self, simd: S, value: T) -> usize {
        let (mut leaf, mut count) = (0, 0);
        let value = simd.splat(value);
        for first in (0..self.value.len()).step_by(WORD) {
            let mut equal = 0;
            for at in (first..(first + WORD).min(self.value.len())).step_by(S::LANES) {
                // SAFETY: as in `ends`.
                let here = unsafe { memory::load(simd, &self.value, at) };
                equal |= u64::from(simd.eq(here, value)) << (at - first);
            }
            leaf = if equal > 0 { first + equal.trailing_zeros() as usize } else { leaf };
            count += equal.count_ones();
        }
        if count > 1 { self.lowest(self.value[leaf]) } else { leaf }
    }

    /// Returns the leaf that offers the lowest point of this value, which several have.
    #[cold]
    fn lowest(&self, value: T) -> usize {
        let leaves = (0..self.value.len()).filter(|&leaf| self.value[leaf] == value);
        leaves.min_by_key(|&leaf| self.point[leaf]).unwrap_or_default()
    }

    /// Lowers all offers by that of a leaf, which is now chosen: its own becomes 0. Returns the largest.
    #[inline(always)]
    fn choose<S: Simd<T>>(&mut self, simd: S, leaf: usize) -> T {
        let Self { tree, at: offered, value, bound, .. } = self;
        let [x, y, z] = &*offered;
        let choice = [x[leaf], y[leaf], z[leaf]];
        self.choices.push(choice);
        let choice = choice.map(|x| simd.splat(x));
        let zero = simd.splat(T::ZERO);
        let mut largest = zero;
        let len = value.len();
        for first in (0..len).step_by(WORD) {
            let mut hits = 0;
            for at in (first..(first + WORD).min(len)).step_by(S::LANES) {
                let boxes = tree.levels[0].boxes.siblings(at / FANOUT);
                // SAFETY: as in `ends`; rows of a group of siblings are `FANOUT` numbers.
                unsafe {
                    let row = |a: usize| memory::load(simd, boxes, a * FANOUT + at % FANOUT);
                    let low = [row(0), row(1), row(2)];
                    let distance =
                        box_bound(simd, choice, low, [row(3), row(4), row(5)], zero);
                    let load = |row: &[T]| memory::load(simd, row, at);
                    let old = load(value);
                    let reached = simd.lt(distance, simd.max(old, load(bound)));
                    hits |= u64::from(reached) << (at - first);
                    let new = simd.min(old, squared(simd, [load(x), load(y), load(z)], choice));
                    memory::store(simd, value, at, new);
                    largest = simd.max(largest, new);
                }
            }
            self.hits.push(hits);
        }
        simd.largest(largest)
    }

    /// Lowers all distances by the choices of a pass, and has the leaves they reach offer anew.
    #[inline(always)]
    fn apply<S: Simd<T>>(&mut self, simd: S) {
        let choices = std::mem::take(&mut self.choices);
        let hits = std::mem::take(&mut self.hits);
        let words = self.value.len().div_ceil(WORD);
        for (choice, hits) in choices.iter().zip(hits.chunks_exact(words)) {
            let choice = choice.map(|x| simd.splat(x));
            for (first, &hits) in (0..).step_by(WORD).zip(hits) {
                let mut hits = hits;
                while hits != 0 {
                    self.lower(simd, first + hits.trailing_zeros() as usize, choice);
                    hits &= hits - 1;
                }
            }
        }
        (self.choices, self.hits) = (choices, hits);
        self.choices.clear();
        self.hits.clear();
    }

    /// Lowers the distances in a leaf by a choice.
    #[inline(always)]
    fn lower<S: Simd<T>>(&mut self, simd: S, leaf: usize, choice: [S::V; 3]) {
        let numbers = &mut self.tree.leaves[leaf * STRIDE..][..STRIDE];
        let mut largest = simd.splat(T::from_f64(-1.0));
        let mut second = largest;
        let (value, bound, equal);
        // SAFETY: rows are `LEAF` numbers, a multiple of every set's lanes.
        unsafe {
            for lane in (0..LEAF).step_by(S::LANES) {
                let load = |row: usize| memory::load(simd, numbers, row * LEAF + lane);
                let new = squared(simd, [load(0), load(1), load(2)], choice);
                let new = simd.min(new, load(3));
                memory::store(simd, numbers, 3 * LEAF + lane, new);
                second = simd.max(second, simd.min(largest, new));
                largest = simd.max(largest, new);
            }
            value = simd.largest(largest);
            let top = simd.splat(value);
            bound = simd.largest(simd.replace_lt(largest, second, top, largest).1);
            equal = (0..LEAF).step_by(S::LANES).fold(0, |mask, lane| {
                let values = memory::load(simd, numbers, 3 * LEAF + lane);
                mask | u64::from(simd.eq(values, top)) << lane
            });
        }
        // Points of a leaf are in index order, so the first lane is the lowest index.
        let lane = equal.trailing_zeros() as usize % LEAF;
        for (a, row) in self.at.iter_mut().enumerate() {
            row[leaf] = numbers[a * LEAF + lane];
        }
        self.point[leaf] = self.tree.points[leaf * LEAF + lane];
        self.value[leaf] = value;
        self.bound[leaf] = if equal & (equal - 1) == 0 { bound } else { value };
    }
}
