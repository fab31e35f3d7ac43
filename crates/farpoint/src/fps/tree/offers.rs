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

/// Number of leaves per word of a mask.
const WORD: usize = u64::BITS as usize;

/// Maximum number of leaves: all are looked at for each choice.
pub(super) const MAX_LEAVES: usize = 8 * WORD;

/// Minimum number of lanes: with shorter vectors it takes less time to look at a few leaves for each choice.
pub(super) const MIN_LANES: usize = if cfg!(test) { 1 } else { 8 };

/// Set of leaves, one bit each.
type Mask = [u64; MAX_LEAVES / WORD];

/// Maximum number of choices of a pass.
const PASS: usize = 64;

/// Number of passes after which this gives up unless each has made 1.5 choices on average: there are fewer if most
/// distances are equal, and choices one by one then take less time.
const TRIAL: usize = 64;

/// Length of a leaf's rows: coordinates and distances.
const STRIDE: usize = 4 * LEAF;

/// A choice of a pass, and the leaves in which it can change a distance.
#[derive(Clone, Copy)]
struct Choice<T> {
    point: u32,
    value: T,
    at: [T; 3],
    hits: Mask,
}

/// A run of the tree's algorithm.
pub(super) struct Offers<'a, 'b, T: Scalar> {
    pub(super) cloud: &'a WorkingCopy<T>,
    pub(super) tree: &'a mut BoxTree<T>,
    pub(super) selection: &'a mut Selection<'b, T>,
}

impl<T: Scalar> Kernel<T> for Offers<'_, '_, T> {
    /// `true` if the sample is complete; otherwise the tree has the largest distances of all nodes.
    type Output = Result<bool, Error>;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output {
        let Self { cloud, tree, selection } = self;
        let leaves = tree.points.len() / LEAF;
        let words = leaves.div_ceil(WORD);
        let mut offered = Offered::new(tree.levels[0].largest.len());
        for &start in &std::mem::take(&mut selection.starts) {
            selection.begin(start);
            let at = [0, 1, 2].map(|a| simd.splat(cloud.axes[a][start as usize]));
            (0..leaves).for_each(|leaf| lower(simd, tree, leaf, at));
        }
        (0..leaves).for_each(|leaf| offered.offer(simd, tree, leaf));
        let none = Choice { point: NONE, value: T::ZERO, at: [T::ZERO; 3], hits: Mask::default() };
        let mut choices = [none; PASS];
        for pass in 0.. {
            let (mut value, limit) = offered.begin(simd);
            if value <= T::ZERO || (pass >= TRIAL && selection.points.len() < pass * 3 / 2) {
                break;
            }
            let mut count = 0;
            // The first choice is certain.
            while count == 0 || (value > limit && count < PASS) {
                let leaf = offered.first(simd, value);
                let choice = &mut choices[count];
                choice.point = offered.point[leaf];
                choice.value = value;
                choice.at = offered.at.each_ref().map(|row| row[leaf]);
                value = offered.choose(simd, tree, choice);
                count += 1;
            }
            for choice in &choices[..count] {
                if !selection.offer(choice.point, choice.value) {
                    return Ok(true);
                }
                selection.report(choice.value)?;
            }
            for choice in &choices[..count] {
                let at = choice.at.map(|x| simd.splat(x));
                for_each_leaf(&choice.hits[..words], |leaf| lower(simd, tree, leaf, at));
            }
            for_each_leaf(&offered.stale(simd)[..words], |leaf| offered.offer(simd, tree, leaf));
        }
        tree.set_largest(&offered.value);
        Ok(false)
    }
}

/// Calls `f` with each leaf of a mask.
#[inline(always)]
fn for_each_leaf(mask: &[u64], mut f: impl FnMut(usize)) {
    for (first, &leaves) in (0..).step_by(WORD).zip(mask) {
        let mut leaves = leaves;
        while leaves != 0 {
            f(first + leaves.trailing_zeros() as usize);
            leaves &= leaves - 1;
        }
    }
}

/// Lowers the distances in a leaf by a choice.
#[inline(always)]
fn lower<T: Scalar, S: Simd<T>>(simd: S, tree: &mut BoxTree<T>, leaf: usize, choice: [S::V; 3]) {
    let numbers = &mut tree.leaves[leaf * STRIDE..][..STRIDE];
    for lane in (0..LEAF).step_by(S::LANES) {
        // SAFETY: rows are `LEAF` numbers, a multiple of every set's lanes.
        unsafe {
            let load = |row: usize| memory::load(simd, numbers, row * LEAF + lane);
            let new = squared(simd, [load(0), load(1), load(2)], choice);
            memory::store(simd, numbers, 3 * LEAF + lane, simd.min(new, load(3)));
        }
    }
}

/// Offers of the leaves, in whole groups of siblings.
struct Offered<T> {
    /// Coordinates of the farthest point of each leaf.
    at: [Aligned<T>; 3],
    /// Its distance, lowered by all choices.
    value: Aligned<T>,
    /// Upper bound of the distances of the leaf's other points.
    bound: Aligned<T>,
    /// Upper bound of the distances of all its points at the beginning of the pass.
    reach: Aligned<T>,
    point: Buffer<u32>,
}

impl<T: Scalar> Offered<T> {
    fn new(leaves: usize) -> Self {
        let row = || Aligned::new(leaves, T::from_f64(-1.0));
        let at = [row(), row(), row()];
        let point = Buffer::filled(leaves, NONE);
        Self { at, value: row(), bound: row(), reach: row(), point }
    }

    /// Begins a pass; returns the largest offer, and the largest bound.
    #[inline(always)]
    fn begin<S: Simd<T>>(&mut self, simd: S) -> (T, T) {
        let mut ends = [simd.splat(T::ZERO); 2];
        for at in (0..self.value.len()).step_by(S::LANES) {
            // SAFETY: rows are whole groups of siblings, a multiple of every set's lanes, as is `at`, which is below.
            unsafe {
                let value = memory::load(simd, &self.value, at);
                let bound = memory::load(simd, &self.bound, at);
                memory::store(simd, &mut self.reach, at, simd.max(value, bound));
                ends = [simd.max(ends[0], value), simd.max(ends[1], bound)];
            }
        }
        (simd.largest(ends[0]), simd.largest(ends[1]))
    }

    /// Returns the leaves whose offer may not be their farthest point any more.
    #[inline(always)]
    fn stale<S: Simd<T>>(&self, simd: S) -> Mask {
        let mut mask = Mask::default();
        for at in (0..self.value.len()).step_by(S::LANES) {
            // SAFETY: as in `begin`.
            unsafe {
                let load = |row: &[T]| memory::load(simd, row, at);
                let value = load(&self.value);
                // An offer that has not been lowered is the lowest of those at the bound.
                let stale = simd.le(value, load(&self.bound)) & simd.lt(value, load(&self.reach));
                mask[at / WORD] |= u64::from(stale) << (at % WORD);
            }
        }
        mask
    }

    /// Returns the leaf that offers the lowest point of this value, which there must be.
    #[inline(always)]
    fn first<S: Simd<T>>(&self, simd: S, value: T) -> usize {
        let (mut leaf, mut count) = (0, 0);
        let (offers, top) = (&self.value[..], simd.splat(value));
        for first in (0..offers.len()).step_by(WORD) {
            let mut equal = 0;
            for at in (first..(first + WORD).min(offers.len())).step_by(S::LANES) {
                // SAFETY: as in `begin`.
                let here = unsafe { memory::load(simd, offers, at) };
                equal |= u64::from(simd.eq(here, top)) << (at - first);
            }
            leaf = if equal > 0 { first + equal.trailing_zeros() as usize } else { leaf };
            count += equal.count_ones();
        }
        if count > 1 { self.lowest(value) } else { leaf }
    }

    /// Returns the leaf that offers the lowest point of this value, which several have.
    #[cold]
    fn lowest(&self, value: T) -> usize {
        let leaves = (0..self.value.len()).filter(|&leaf| self.value[leaf] == value);
        leaves.min_by_key(|&leaf| self.point[leaf]).unwrap_or_default()
    }

    /// Lowers all offers by a choice, which was one of them and becomes 0. Fills in its hits; returns the largest
    /// offer.
    #[inline(always)]
    fn choose<S: Simd<T>>(&mut self, simd: S, tree: &BoxTree<T>, choice: &mut Choice<T>) -> T {
        let [x, y, z] = self.at.each_ref().map(|row| &row[..self.value.len()]);
        let (value, reach) = (&mut self.value[..], &self.reach[..]);
        let (len, zero) = (value.len(), simd.splat(T::ZERO));
        let choice_at = choice.at.map(|x| simd.splat(x));
        let mut largest = zero;
        // What the next choice waits for comes first.
        for at in (0..len).step_by(S::LANES) {
            // SAFETY: as in `begin`.
            unsafe {
                let load = |row: &[T]| memory::load(simd, row, at);
                let new = squared(simd, [load(x), load(y), load(z)], choice_at);
                let new = simd.min(new, load(value));
                memory::store(simd, value, at, new);
                largest = simd.max(largest, new);
            }
        }
        let largest = simd.largest(largest);
        for first in (0..len).step_by(WORD) {
            let mut hits = 0;
            for at in (first..(first + WORD).min(len)).step_by(S::LANES) {
                let boxes = tree.levels[0].boxes.siblings(at / FANOUT);
                // SAFETY: as in `begin`; rows of a group of siblings are `FANOUT` numbers.
                unsafe {
                    let row = |a: usize| memory::load(simd, boxes, a * FANOUT + at % FANOUT);
                    let (low, high) = ([row(0), row(1), row(2)], [row(3), row(4), row(5)]);
                    let distance = box_bound(simd, choice_at, low, high, zero);
                    let hit = simd.lt(distance, memory::load(simd, reach, at));
                    hits |= u64::from(hit) << (at - first);
                }
            }
            choice.hits[first / WORD] = hits;
        }
        largest
    }

    /// Finds the offer of a leaf: its farthest point, the lowest of equal ones.
    #[inline(always)]
    fn offer<S: Simd<T>>(&mut self, simd: S, tree: &BoxTree<T>, leaf: usize) {
        let numbers = &tree.leaves[leaf * STRIDE..][..STRIDE];
        let mut largest = simd.splat(T::from_f64(-1.0));
        let mut second = largest;
        // SAFETY: rows are `LEAF` numbers, a multiple of every set's lanes.
        let load = |lane: usize| unsafe { memory::load(simd, numbers, 3 * LEAF + lane) };
        for lane in (0..LEAF).step_by(S::LANES) {
            second = simd.max(second, simd.min(largest, load(lane)));
            largest = simd.max(largest, load(lane));
        }
        let value = simd.largest(largest);
        let top = simd.splat(value);
        let bound = simd.largest(simd.replace_lt(largest, second, top, largest).1);
        let lanes = (0..LEAF).step_by(S::LANES);
        let equal = lanes.fold(0, |mask, lane| mask | u64::from(simd.eq(load(lane), top)) << lane);
        // Points of a leaf are in index order, so the first lane is the lowest index.
        let lane = equal.trailing_zeros() as usize % LEAF;
        for (a, row) in self.at.iter_mut().enumerate() {
            row[leaf] = numbers[a * LEAF + lane];
        }
        self.point[leaf] = tree.points[leaf * LEAF + lane];
        self.value[leaf] = value;
        self.bound[leaf] = if equal & (equal - 1) == 0 { bound } else { value };
    }
}
