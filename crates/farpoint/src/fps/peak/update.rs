//! Applies the samples of a band to all points, in one walk over the tree.
//!
//! A node is visited with the list of the samples that can change something below it, gathered from
//! the list of the node above it. A leaf's points are loaded once per band, however many samples apply to
//! them. Threads own runs of nodes: nothing is written by two of them.

use super::candidates::lanes_below;
use super::leaves::Leaves;
use super::list::List;
use super::search::boxes_distance;
use super::walk::{Counts, Part, Source, Walk};
use crate::Scalar;
use crate::memory::Shared;
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, FANOUT, Level, box_bound};
use crate::threads::Team;
use std::ops::Range;

/// What one thread needs for its walk. Aligned, for threads write to neighbors.
#[repr(align(128))]
pub(super) struct Scratch<T: Scalar> {
    /// By level, the samples that can change something below the entry that was visited last.
    lists: Vec<List<T>>,
    /// That entry.
    entries: Vec<usize>,
    counts: Counts,
}

impl<T: Scalar> Scratch<T> {
    pub(super) fn new(tree: &BoxTree<T>) -> Self {
        let lists = tree.levels.iter().map(|_| List::default()).collect();
        Self { lists, entries: vec![NOWHERE; tree.levels.len()], counts: Counts::default() }
    }
}

const NOWHERE: usize = usize::MAX;

/// Runs of nodes are dealt out in about so many pieces a member: some take longer than others.
const PIECES: usize = 12;

/// Lowers all distances by the samples of `sources`; there is a scratch for each member of the team.
pub(super) fn apply<T: Scalar, S: Simd<T>>(
    simd: S,
    team: Option<&Team>,
    tree: &mut BoxTree<T>,
    sources: &[Source<'_, T>],
    count: bool,
    scratch: &mut [Scratch<T>],
) -> Counts {
    let BoxTree { dims, leaves, levels, .. } = tree;
    let levels = levels.iter_mut().map(|Level { len, largest, boxes }| Part {
        len: *len,
        boxes,
        largest: Shared::new(largest),
    });
    let levels = levels.collect();
    let walk = Walk { dims: *dims, leaves: Shared::new(leaves), levels, sources, count };
    for own in &mut *scratch {
        own.entries.fill(NOWHERE);
        own.counts = Counts::default();
    }
    let nodes = walk.levels.get(1).map_or(0, |level| level.len);
    match team {
        _ if nodes == 0 => walk.only_leaf(simd, &mut scratch[0]),
        Some(team) => {
            let piece = nodes.div_ceil(PIECES * team.members()).min(FANOUT);
            team.each_with(nodes.div_ceil(piece), scratch, |k, own| {
                // SAFETY: pieces are runs of different nodes.
                unsafe { walk.nodes(simd, k * piece..(k * piece + piece).min(nodes), own) };
            });
        }
        // SAFETY: there is no other thread.
        None => unsafe { walk.nodes(simd, 0..nodes, &mut scratch[0]) },
    }
    walk.correct_upper();
    scratch.iter().fold(Counts::default(), |sum, own| sum + own.counts)
}

impl<T: Scalar> Walk<'_, '_, T> {
    /// Visits a run of nodes of level 1.
    ///
    /// # Safety
    /// No other thread may visit them.
    unsafe fn nodes<S: Simd<T>>(&self, simd: S, nodes: Range<usize>, own: &mut Scratch<T>) {
        let top = self.levels.len() - 1;
        let mut node = nodes.start;
        'nodes: while node < nodes.end {
            for level in (1..top.max(2)).rev() {
                // Nodes of level 1 below an entry of this level.
                let below = FANOUT.pow(level as u32 - 1);
                let entry = node / below;
                if own.entries[level] != entry {
                    self.gather(simd, level, entry, own);
                }
                if own.lists[level].len() == 0 {
                    node = (entry + 1) * below;
                    continue 'nodes;
                }
            }
            let list = &own.lists[1];
            let counts = simd.vectorize(Leaves { walk: self, node, list, single: false });
            own.counts = own.counts + counts;
            node += 1;
        }
    }

    /// Visits the leaf of a tree that has only one.
    fn only_leaf<S: Simd<T>>(&self, simd: S, own: &mut Scratch<T>) {
        for source in self.sources {
            let leaves = Leaves { walk: self, node: 0, list: source.list, single: true };
            own.counts = own.counts + simd.vectorize(leaves);
        }
    }

    /// Makes the list of an entry from that of the entry above.
    fn gather<S: Simd<T>>(&self, simd: S, level: usize, entry: usize, own: &mut Scratch<T>) {
        own.entries[level] = entry;
        let (lists, above) = own.lists.split_at_mut(level + 1);
        let part = &mut lists[level];
        part.clear();
        let here = &self.levels[level];
        // SAFETY: the entry is one of the level's. Largest values of entries above level 1 are written between
        // walks; those of level 1 by the thread that visits the node, which is this one.
        let largest = unsafe { here.largest.read(entry) };
        let boxes = here.boxes.siblings(entry / FANOUT);
        let corner =
            |row: usize| std::array::from_fn(|a| boxes[(row + a) * FANOUT + entry % FANOUT]);
        let corners: [[T; 3]; 2] = [corner(0), corner(3)];
        let further = self.dims > 3;
        let mut tested = 0;
        let mut filter = |list: &List<T>| {
            tested += list.len() as u64;
            simd.vectorize(Filter { corners, largest, list, part, further });
        };
        // The list above the highest but one level is all samples.
        if level + 1 < self.levels.len() - 1 {
            filter(&above[0]);
        } else {
            let near = |from: &&Source<'_, T>| boxes_distance(from.corners, corners) < largest;
            self.sources.iter().filter(near).for_each(|from| filter(from.list));
        }
        let pruned = tested - part.len() as u64;
        own.counts = own.counts + Counts { tested, pruned, ..Counts::default() };
    }

    /// Sets the largest values above level 1.
    fn correct_upper(&self) {
        for level in 2..self.levels.len() {
            for node in 0..self.levels[level].len {
                // SAFETY: the walk is over, so all nodes are this thread's.
                unsafe { self.correct(level, node) };
            }
        }
    }
}

/// The samples of `list` that can change something in a box, added to `part`.
struct Filter<'a, T: Scalar> {
    corners: [[T; 3]; 2],
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
        let Self { corners, largest, list, part, further } = self;
        let mut count = part.len;
        part.reserve(count + list.len);
        let [low, high] = corners;
        let (low, high) = (
            [simd.splat(low[0]), simd.splat(low[1]), simd.splat(low[2])],
            [simd.splat(high[0]), simd.splat(high[1]), simd.splat(high[2])],
        );
        let (zero, largest) = (simd.splat(T::ZERO), simd.splat(largest));
        for k in (0..list.len).step_by(S::LANES) {
            // SAFETY: `k` is below the list's length, and `count` not above what it was by more; the part
            // has room for all of the list.
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
