//! Applies the samples of a band to all points, in one walk down the tree.
//!
//! A node is visited with the list of the samples that can change something below it; each
//! child gets the part of the list that can change something in its box. A leaf's points are
//! loaded once per band, however many samples apply to them.

use super::candidates::lanes_below;
use super::list::List;
use crate::Scalar;
use crate::distance::{square, squared};
use crate::memory::Shared;
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, Boxes, FANOUT, LEAF, Level, box_bound, place};
use crate::threads::prelude::*;

/// What the walk counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) distances: u64,
    pub(super) effective: u64,
    pub(super) tested: u64,
    pub(super) pruned: u64,
}

impl std::ops::Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            distances: self.distances + other.distances,
            effective: self.effective + other.effective,
            tested: self.tested + other.tested,
            pruned: self.pruned + other.pruned,
        }
    }
}

/// Lowers all distances by the samples in `list`, on all threads of the pool if `parallel`.
pub(super) fn apply<T: Scalar, S: Simd<T>>(
    simd: S,
    tree: &mut BoxTree<T>,
    list: &List<T>,
    parallel: bool,
    count: bool,
    scratch: &mut Vec<List<T>>,
) -> Counts {
    let top = tree.levels.len() - 1;
    scratch.resize_with(top, List::default);
    let BoxTree { dims, leaves, levels, .. } = tree;
    let levels = levels.iter_mut().map(|Level { len, largest, boxes }| Part {
        len: *len,
        boxes,
        largest: Shared::new(largest),
    });
    let levels = levels.collect();
    let walk = Walk { dims: *dims, leaves: Shared::new(leaves), levels, parallel, count };
    // SAFETY: the walk has the tree to itself; its threads visit different nodes.
    unsafe { walk.node(simd, top, 0, list, scratch) }
}

/// The walk. Values and largest values are written by the one thread that visits the leaf or node;
/// boxes and coordinates are only read.
struct Walk<'a, T> {
    dims: usize,
    leaves: Shared<'a, T>,
    levels: Vec<Part<'a, T>>,
    parallel: bool,
    count: bool,
}

/// A level of the tree: its largest values are written, the rest is read.
struct Part<'a, T> {
    len: usize,
    boxes: &'a Boxes<T>,
    largest: Shared<'a, T>,
}

/// Nodes at least this high up are shared out.
const SHARE_LEVEL: usize = 3;

impl<T: Scalar> Walk<'_, T> {
    /// Visits entry `node` of `level` with the samples in `list`; `scratch` has a list for
    /// each level below.
    ///
    /// # Safety
    /// No other thread may visit the node or what is below it.
    unsafe fn node<S: Simd<T>>(
        &self,
        simd: S,
        level: usize,
        node: usize,
        list: &List<T>,
        scratch: &mut [List<T>],
    ) -> Counts {
        if level <= 1 {
            let walk = self;
            return simd.vectorize(Leaves { walk, node, list, single: level == 0 });
        }
        let first = node * FANOUT;
        let below = &self.levels[level - 1];
        let children = FANOUT.min(below.len - first);
        let visit = |child: usize, scratch: &mut [List<T>]| {
            let (part, scratch) = scratch.split_last_mut().expect("a list a level");
            // SAFETY: the child is an entry of the level, and visited by this thread alone.
            unsafe {
                let (boxes, largest) = (below.boxes, below.largest.read(child));
                let further = self.dims > 3;
                simd.vectorize(Filter { boxes, child, largest, list, part, further });
                let counts = Counts {
                    tested: list.len as u64,
                    pruned: (list.len - part.len) as u64,
                    ..Counts::default()
                };
                if part.len == 0 {
                    return counts;
                }
                counts + self.node(simd, level - 1, child, part, scratch)
            }
        };
        let counts = if self.parallel && level >= SHARE_LEVEL.min(self.levels.len() - 1) {
            let fresh = || (0..level).map(|_| List::default()).collect::<Vec<_>>();
            (first..first + children)
                .into_par_iter()
                .map_init(fresh, |scratch, child| visit(child, scratch))
                .reduce(Counts::default, |a, b| a + b)
        } else {
            (first..first + children)
                .map(|child| visit(child, scratch))
                .fold(Counts::default(), |a, b| a + b)
        };
        // SAFETY: the children have been visited, and the caller ensures that no other thread
        // visits the node.
        unsafe { self.correct(level, node) };
        counts
    }

    /// Sets a node's largest value from its children's.
    ///
    /// # Safety
    /// The node and its children must be this thread's.
    #[inline(always)]
    unsafe fn correct(&self, level: usize, node: usize) {
        let children = node * FANOUT;
        // SAFETY: levels are padded to whole groups of siblings; the caller ensures that node and
        // children are this thread's.
        unsafe {
            let mut most = self.levels[level - 1].largest.read(children);
            for child in children + 1..children + FANOUT {
                let value = self.levels[level - 1].largest.read(child);
                most = if value > most { value } else { most };
            }
            self.levels[level].largest.write(node, most);
        }
    }
}

/// The samples of `list` that can change something in the box of `child`.
struct Filter<'a, T: Scalar> {
    boxes: &'a Boxes<T>,
    child: usize,
    largest: T,
    list: &'a List<T>,
    part: &'a mut List<T>,
    /// Whether points have more than three axes.
    further: bool,
}

impl<T: Scalar> Kernel<T> for Filter<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { boxes, child, largest, list, part, further } = self;
        part.reserve(list.len);
        let boxes = boxes.siblings(child / FANOUT);
        let side = |row: usize| simd.splat(boxes[row * FANOUT + child % FANOUT]);
        let (low, high) = ([side(0), side(1), side(2)], [side(3), side(4), side(5)]);
        let (zero, largest) = (simd.splat(T::ZERO), simd.splat(largest));
        let mut count = 0;
        for k in (0..list.len).step_by(S::LANES) {
            // SAFETY: `k` is below the list's length, and `count` not above `k`; the part's rows
            // are as long as the list.
            unsafe {
                let at = list.load(simd, k);
                let bound = box_bound(simd, at, low, high, zero);
                let hit = simd.lt(bound, largest) & lanes_below(list.len - k);
                let [x, y, z] = &mut part.at;
                x.compress(simd, hit, at[0], count);
                y.compress(simd, hit, at[1], count);
                z.compress(simd, hit, at[2], count);
                // Slots are looked up for further axes only.
                let (mut left, mut to) = (if further { hit } else { 0 }, count);
                while left != 0 {
                    part.slot[to] = list.slot[k + left.trailing_zeros() as usize];
                    to += 1;
                    left &= left - 1;
                }
                count += hit.count_ones() as usize;
            }
        }
        part.len = count;
    }
}

/// Applies a list to the leaves below a node of level 1, or to the only leaf of a tree.
struct Leaves<'a, 'b, T: Scalar> {
    walk: &'a Walk<'b, T>,
    node: usize,
    list: &'a List<T>,
    single: bool,
}

impl<T: Scalar> Kernel<T> for Leaves<'_, '_, T> {
    type Output = Counts;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> Counts {
        match (self.walk.dims, self.walk.count) {
            (3, false) => self.node::<S, 3, false>(simd),
            (3, true) => self.node::<S, 3, true>(simd),
            (_, false) => self.node::<S, 0, false>(simd),
            (_, true) => self.node::<S, 0, true>(simd),
        }
    }
}

impl<T: Scalar> Leaves<'_, '_, T> {
    #[inline(always)]
    fn node<S: Simd<T>, const DIMS: usize, const COUNT: bool>(self, simd: S) -> Counts {
        let mut counts = Counts::default();
        let first = if self.single { 0 } else { self.node * FANOUT };
        let level = &self.walk.levels[0];
        let end = (first + FANOUT).min(level.len);
        let boxes = level.boxes.siblings(first / FANOUT);
        let zero = simd.splat(T::ZERO);
        for leaf in first..end {
            let side = |row: usize| simd.splat(boxes[row * FANOUT + leaf % FANOUT]);
            let (low, high) = ([side(0), side(1), side(2)], [side(3), side(4), side(5)]);
            // SAFETY: the leaf is one of the tree's, and this thread alone visits its node.
            let largest = unsafe { simd.splat(level.largest.read(leaf)) };
            let mut most = None;
            for k in (0..self.list.len).step_by(S::LANES) {
                // SAFETY: `k` is below the list's length.
                let at = unsafe { self.list.load(simd, k) };
                let bound = box_bound(simd, at, low, high, zero);
                let hit = simd.lt(bound, largest) & lanes_below(self.list.len - k);
                if hit == 0 {
                    continue;
                }
                // SAFETY: this thread alone visits the leaf; bits name samples of the list.
                let (largest, effective) =
                    unsafe { self.leaf::<S, DIMS, COUNT>(simd, leaf, k, hit) };
                most = Some(largest);
                counts.effective += u64::from(effective);
                counts.distances += u64::from(hit.count_ones()) * LEAF as u64;
            }
            if let Some(most) = most {
                // SAFETY: the leaf is one of the tree's, and this thread alone visits its node.
                unsafe { level.largest.write(leaf, simd.largest(most)) };
            }
        }
        counts.tested = ((end - first) * self.list.len) as u64;
        counts.pruned = counts.tested - counts.distances / LEAF as u64;
        if !self.single {
            // SAFETY: this thread alone visits the node and its leaves.
            unsafe { self.walk.correct(1, self.node) };
        }
        counts
    }

    /// Applies the samples `first + lane` for the lanes in `hit` to a leaf, a part of it at a
    /// time, so that it stays in registers. Returns a vector that has the largest value in some
    /// lane, and the number of values that fell, if counted.
    ///
    /// # Safety
    /// The leaf must be one of the tree's and this thread's; bits of `hit` must name samples of
    /// the list.
    #[inline(always)]
    unsafe fn leaf<S: Simd<T>, const DIMS: usize, const COUNT: bool>(
        &self,
        simd: S,
        leaf: usize,
        first: usize,
        hit: u32,
    ) -> (S::V, u32) {
        let dims = if DIMS > 0 { DIMS } else { self.walk.dims };
        let (leaves, stride) = (self.walk.leaves, (dims + 1) * LEAF);
        let mut effective = 0;
        let mut most = simd.splat(T::from_f64(-1.0));
        // SAFETY: the leaf has `dims + 1` rows of `LEAF` numbers, whole vectors of every set, and
        // is this thread's, as the caller ensures; coordinates of others are only read.
        unsafe {
            let first_number = leaf * stride;
            let load =
                |row: usize, lane: usize| leaves.load(simd, first_number + row * LEAF + lane);
            for lane in (0..LEAF).step_by(2 * S::LANES) {
                let other = lane + S::LANES;
                let a = [load(0, lane), load(1, lane), load(2, lane)];
                let b = [load(0, other), load(1, other), load(2, other)];
                let mut old = [load(dims, lane), load(dims, other)];
                let mut left = hit;
                while left != 0 {
                    let k = first + left.trailing_zeros() as usize;
                    left &= left - 1;
                    let [x, y, z] = &self.list.at;
                    let s = [
                        simd.splat(*x.get_unchecked(k)),
                        simd.splat(*y.get_unchecked(k)),
                        simd.splat(*z.get_unchecked(k)),
                    ];
                    let mut new = [squared(simd, a, s), squared(simd, b, s)];
                    for axis in 3..dims {
                        let of = place(self.list.slot[k], stride) + axis * LEAF;
                        let s = simd.splat(leaves.read(of));
                        for (new, lane) in new.iter_mut().zip([lane, other]) {
                            *new = simd.add(*new, square(simd, load(axis, lane), s));
                        }
                    }
                    for (old, new) in old.iter_mut().zip(new) {
                        if COUNT {
                            effective += simd.lt(new, *old).count_ones();
                        }
                        *old = simd.min(new, *old);
                    }
                }
                leaves.store(simd, first_number + dims * LEAF + lane, old[0]);
                leaves.store(simd, first_number + dims * LEAF + other, old[1]);
                most = simd.max(most, simd.max(old[0], old[1]));
            }
        }
        (most, effective)
    }
}
