//! Applies the samples of a band to all points, in one walk over the tree, and collects the points of the next
//! band on the way.
//!
//! A node is visited with the list of the samples that can change something below it, gathered from
//! the list of the node above it. A leaf's points are loaded once per band, however many samples apply to
//! them. Threads own runs of nodes: nothing is written by two of them.

use super::leaves::Leaves;
use super::list::{List, lanes_below};
use super::search::boxes_distance;
use super::slots::Slots;
use super::staged::{Collect, Segment, Staged};
use super::walk::{BandSamples, Counts, Part, Walk};
use crate::Scalar;
use crate::memory::{Buffer, Shared};
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, FANOUT, Level, box_bound};
use crate::threads::Team;
use std::ops::Range;

/// Working memory of one thread's walk. Aligned, for threads write to neighbors.
#[repr(align(128))]
pub(super) struct Scratch<T: Scalar> {
    /// Samples that can change something below the entry visited last, by level.
    lists: Buffer<List<T>>,
    /// Entry visited last at each level.
    entries: Buffer<usize>,
    /// Points of the next band.
    staged: Staged<T>,
    counts: Counts,
}

impl<T: Scalar> Scratch<T> {
    /// Creates working memory for a tree.
    pub(super) fn new(tree: &BoxTree<T>) -> Self {
        Self {
            lists: Buffer::collected(tree.levels.iter().map(|_| List::default())),
            entries: Buffer::filled(tree.levels.len(), NOT_VISITED),
            staged: Staged::default(),
            counts: Counts::default(),
        }
    }
}

const NOT_VISITED: usize = usize::MAX;

/// Approximate number of runs of nodes per member: some take longer than others.
const PIECES: usize = 12;

/// Leaves of more than this many bytes in all are prefetched.
const LARGE: usize = if cfg!(test) { 1 << 14 } else { 4 << 20 };

/// Samples to apply, and the floor of the points to collect.
pub(super) struct Update<'a, T: Scalar> {
    /// Samples to apply.
    pub(super) sources: &'a [BandSamples<'a, T>],
    /// Points whose value stays above this are collected.
    pub(super) beta: T,
    /// True if changes are counted, which costs time.
    pub(super) count: bool,
}

/// Points of the next band, in the order of the tree: the staging member and the range of each run.
#[derive(Default)]
pub(super) struct Collected {
    runs: Buffer<(usize, Range<usize>)>,
}

impl Collected {
    /// Returns the number of points.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(|(_, places)| places.len()).sum()
    }

    /// Returns the part `range` of all points, in runs as the members of the team staged them.
    pub(super) fn segments<'a, T: Scalar>(
        &'a self,
        scratch: &'a [Scratch<T>],
        range: Range<usize>,
    ) -> impl Iterator<Item = Segment<'a, T>> + Clone {
        let mut before = 0;
        self.runs.iter().filter_map(move |(member, places)| {
            let (from, to) = (range.start.max(before), range.end.min(before + places.len()));
            let start = places.start + from - before;
            before += places.len();
            let staged = &scratch[*member].staged;
            (from < to).then(|| Segment { staged, places: start..start + (to - from) })
        })
    }
}

/// Lowers all distances by samples, and collects the points that stay above a floor; there is a scratch for each
/// member of the team.
pub(super) fn apply<T: Scalar, S: Simd<T>>(
    simd: S,
    team: Option<&Team>,
    tree: &mut BoxTree<T>,
    update: &Update<'_, T>,
    scratch: &mut [Scratch<T>],
    collected: &mut Collected,
) -> Counts {
    let BoxTree { dims, leaves, levels, .. } = tree;
    let levels = levels.iter_mut().map(|Level { len, largest, boxes, .. }| Part {
        len: *len,
        boxes,
        largest: Shared::new(largest),
    });
    let levels = Buffer::collected(levels);
    let &Update { sources, beta, count } = update;
    let highest = highest(&levels, sources.len());
    let large = size_of_val(&leaves[..]) > LARGE;
    let slots = Slots { dims: *dims, leaves: Shared::new(leaves) };
    let walk = Walk { slots, levels, highest, beta, sources, count, large };
    for member_scratch in &mut *scratch {
        member_scratch.entries.fill(NOT_VISITED);
        member_scratch.counts = Counts::default();
        member_scratch.staged.clear();
    }
    let nodes = walk.levels.get(1).map_or(0, |level| level.len);
    let members = team.map_or(1, Team::members);
    let piece = nodes.div_ceil(PIECES * members).clamp(1, FANOUT);
    let pieces = if members > 1 { nodes.div_ceil(piece) } else { 1 };
    collected.runs.clear();
    collected.runs.resize(pieces, (0, 0..0));
    let (shared_scratch, runs) = (Shared::new(scratch), Shared::new(&mut collected.runs));
    let visit = |k: usize, member: usize| {
        // SAFETY: the number of a member is this thread's alone, and the run is the task's.
        let (member_scratch, run) = unsafe {
            (&mut shared_scratch.part(member..member + 1)[0], &mut runs.part(k..k + 1)[0])
        };
        let start = member_scratch.staged.len();
        match pieces {
            _ if nodes == 0 => walk.only_leaf(simd, member_scratch),
            // SAFETY: there is no other piece.
            1 => unsafe { walk.nodes(simd, 0..nodes, member_scratch) },
            // SAFETY: pieces are runs of different nodes.
            _ => unsafe {
                walk.nodes(simd, k * piece..(k * piece + piece).min(nodes), member_scratch)
            },
        }
        *run = (member, start..member_scratch.staged.len());
    };
    match team {
        Some(team) if pieces > 1 => team.each(pieces, visit),
        _ => visit(0, 0),
    }
    walk.correct_upper();
    scratch.iter().fold(Counts::default(), |sum, member_scratch| sum + member_scratch.counts)
}

/// Returns the level whose entries gather from the sources themselves: not one of fewer entries than there are
/// sources, of which each would reach most.
fn highest<T>(levels: &[Part<'_, T>], sources: usize) -> usize {
    let below_top = 1..levels.len().max(3) - 1;
    below_top.rev().find(|&level| level < levels.len() && levels[level].len >= sources).unwrap_or(1)
}

impl<T: Scalar> Walk<'_, '_, T> {
    /// Visits a run of nodes of level 1.
    ///
    /// # Safety
    /// No other thread may visit them.
    unsafe fn nodes<S: Simd<T>>(&self, simd: S, nodes: Range<usize>, scratch: &mut Scratch<T>) {
        let mut node = nodes.start;
        'nodes: while node < nodes.end {
            for level in (1..=self.highest).rev() {
                // Nodes of level 1 below an entry of this level.
                let below = FANOUT.pow(level as u32 - 1);
                let entry = node / below;
                if scratch.entries[level] != entry {
                    self.gather(simd, level, entry, scratch);
                }
                // SAFETY: as in `gather`.
                let largest = unsafe { self.levels[level].largest.read(entry) };
                if scratch.lists[level].len() == 0 && largest <= self.beta {
                    node = (entry + 1) * below;
                    continue 'nodes;
                }
            }
            if scratch.lists[1].len() > 0 {
                let list = &scratch.lists[1];
                let counts = simd.vectorize(Leaves { walk: self, node, list, single: false });
                scratch.counts = scratch.counts + counts;
            }
            simd.vectorize(Collect { walk: self, node, staged: &mut scratch.staged });
            node += 1;
        }
    }

    /// Visits the only leaf of a tree.
    fn only_leaf<S: Simd<T>>(&self, simd: S, scratch: &mut Scratch<T>) {
        for source in self.sources {
            let leaves = Leaves { walk: self, node: 0, list: source.list, single: true };
            scratch.counts = scratch.counts + simd.vectorize(leaves);
        }
        simd.vectorize(Collect { walk: self, node: 0, staged: &mut scratch.staged });
    }

    /// Makes the list of an entry from that of the entry above.
    fn gather<S: Simd<T>>(&self, simd: S, level: usize, entry: usize, scratch: &mut Scratch<T>) {
        scratch.entries[level] = entry;
        let (lists, above) = scratch.lists.split_at_mut(level + 1);
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
        let further = self.slots.dims > 3;
        let mut tested = 0;
        let mut filter = |list: &List<T>| {
            tested += list.len() as u64;
            simd.vectorize(Filter { corners, largest, list, part, further });
        };
        if level < self.highest {
            filter(&above[0]);
        } else {
            let near = |from: &&BandSamples<'_, T>| boxes_distance(from.corners, corners) < largest;
            self.sources.iter().filter(near).for_each(|from| filter(from.list));
        }
        let pruned = tested - part.len() as u64;
        scratch.counts = scratch.counts + Counts { tested, pruned, ..Counts::default() };
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

/// Adds the samples of `list` that can change something in a box to `part`.
struct Filter<'a, T: Scalar> {
    corners: [[T; 3]; 2],
    largest: T,
    list: &'a List<T>,
    part: &'a mut List<T>,
    /// True if points have more than three axes.
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
                let (mut remaining, mut to) = (if further { hit } else { 0 }, count);
                while remaining != 0 {
                    part.slot[to] = list.slot[k + remaining.trailing_zeros() as usize];
                    to += 1;
                    remaining &= remaining - 1;
                }
                count += hit.count_ones() as usize;
            }
        }
        part.len = count;
    }
}
