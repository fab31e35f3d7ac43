//! The points of a band: collected from a part of the tree, and sorted into a grid.

use crate::Scalar;
use crate::memory::{self, Padded};
use crate::scalar::extremes;
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, Cells, FANOUT, Grid, LEAF};
use std::sync::atomic::{AtomicU64, Ordering};

/// Candidates of a band from one part of the cloud, in grid order. Aligned, for threads write to
/// neighbors.
#[repr(align(128))]
pub(super) struct Candidates<T: Scalar> {
    pub(super) grid: Grid<T>,
    /// First three coordinates by axis.
    pub(super) at: [Padded<T>; 3],
    /// Squared distance at the start of the band.
    pub(super) value: Padded<T>,
    /// Tentative distance, as sorting bits; 0 for those that are decided.
    pub(super) live: Vec<AtomicU64>,
    /// Slot in the tree.
    pub(super) slot: Vec<u32>,
    /// Point in that slot.
    pub(super) point: Vec<u32>,
    /// Box around them; the low corner is infinite when there is none.
    pub(super) low: [T; 3],
    pub(super) high: [T; 3],
    /// Collected, not yet sorted.
    staged: Staged<T>,
    places: Vec<u32>,
}

/// A point about to be chosen.
#[derive(Clone, Copy)]
pub(super) struct Sample<T> {
    pub(super) at: [T; 3],
    pub(super) value: T,
    /// The point's number in the cloud.
    pub(super) point: u32,
    /// Slot in the tree.
    pub(super) slot: u32,
}

#[derive(Default)]
struct Staged<T: Scalar> {
    /// Coordinates and values, in rows that are longer than there are candidates.
    rows: [Padded<T>; 4],
    slot: Vec<u32>,
    point: Vec<u32>,
    /// Leaves that hold candidates, where they are listed here.
    leaves: Vec<u32>,
}

impl<T: Scalar> Candidates<T> {
    pub(super) fn new(cells: Cells<T>) -> Self {
        Self {
            grid: Grid::new(cells),
            at: Default::default(),
            value: Padded::default(),
            live: Vec::new(),
            slot: Vec::new(),
            point: Vec::new(),
            low: [T::INFINITY; 3],
            high: [T::INFINITY; 3],
            staged: Staged::default(),
            places: Vec::new(),
        }
    }

    /// Number of candidates.
    pub(super) fn len(&self) -> usize {
        self.slot.len()
    }

    /// The tentative distance of a candidate; zero if it is decided.
    #[inline(always)]
    pub(super) fn value_of(&self, place: u32) -> T {
        T::from_sorting_bits(self.live[place as usize].load(Ordering::Acquire))
    }

    /// A candidate about to be chosen.
    #[inline(always)]
    pub(super) fn sample(&self, place: u32, value: T) -> Sample<T> {
        let place = place as usize;
        let at = [0, 1, 2].map(|a| self.at[a][place]);
        Sample { at, value, point: self.point[place], slot: self.slot[place] }
    }

    /// Takes all points of these leaves, or of those below these nodes of level 1, whose value is above
    /// `beta`.
    pub(super) fn collect<S: Simd<T>>(
        &mut self,
        simd: S,
        tree: &BoxTree<T>,
        from: From<'_>,
        beta: T,
        cells: Cells<T>,
    ) {
        self.staged.clear();
        let mut own = std::mem::take(&mut self.staged.leaves);
        let leaves = match from {
            From::Leaves(leaves) => leaves,
            From::Nodes(nodes) => {
                own.clear();
                simd.vectorize(Leaves { tree, beta, nodes, leaves: &mut own });
                &own
            }
        };
        simd.vectorize(Collect { tree, leaves, beta, staged: &mut self.staged });
        self.staged.leaves = own;
        self.sort(cells);
        self.live.clear();
        self.live.extend(self.value.iter().map(|value| AtomicU64::new(value.sorting_bits())));
    }

    /// From staged order to grid order.
    fn sort(&mut self, cells: Cells<T>) {
        let [xs, ys, zs, values] = &self.staged.rows;
        let n = self.staged.slot.len();
        let points = (0..n).map(|k| [xs[k], ys[k], zs[k]]);
        self.grid.sort(cells, points, &mut self.places);
        for row in self.at.iter_mut().chain([&mut self.value]) {
            row.resize(n);
        }
        self.slot.resize(n, 0);
        self.point.resize(n, 0);
        let places = &self.places[..n];
        for (row, staged) in self.at.iter_mut().zip([xs, ys, zs]) {
            scatter(row, &staged[..n], places);
        }
        scatter(&mut self.value, &values[..n], places);
        scatter(&mut self.slot, &self.staged.slot, places);
        scatter(&mut self.point, &self.staged.point, places);
        for (a, row) in [xs, ys, zs].into_iter().enumerate() {
            let none = (T::INFINITY, T::INFINITY);
            (self.low[a], self.high[a]) = extremes(&row[..n]).unwrap_or(none);
        }
    }
}

/// Where candidates are collected from.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    Leaves(&'a [u32]),
    /// Of level 1.
    Nodes(&'a [u32]),
}

fn scatter<T: Copy>(to: &mut [T], from: &[T], places: &[u32]) {
    for (&value, &place) in from.iter().zip(places) {
        to[place as usize] = value;
    }
}

/// Lists the nodes of level 1 that hold candidates; of a tree of one leaf, that one.
pub(super) struct Nodes<'a, T> {
    pub(super) tree: &'a BoxTree<T>,
    pub(super) beta: T,
    pub(super) nodes: &'a mut Vec<u32>,
}

impl<T: Scalar> Kernel<T> for Nodes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { tree, beta, nodes } = self;
        let Some(level) = tree.levels.get(1) else { return nodes.push(0) };
        let beta = simd.splat(beta);
        for node in (0..level.len).step_by(S::LANES) {
            // SAFETY: `node` is below the level's length, which is padded with values below `beta`.
            let mut over = simd.lt(beta, unsafe { level.largest.load(simd, node) });
            while over != 0 {
                nodes.push(node as u32 + over.trailing_zeros());
                over &= over - 1;
            }
        }
    }
}

/// Lists the leaves below nodes of level 1 that hold candidates.
pub(super) struct Leaves<'a, T> {
    pub(super) tree: &'a BoxTree<T>,
    pub(super) beta: T,
    pub(super) nodes: &'a [u32],
    pub(super) leaves: &'a mut Vec<u32>,
}

impl<T: Scalar> Kernel<T> for Leaves<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { tree, beta, nodes, leaves } = self;
        let beta = simd.splat(beta);
        for &node in nodes {
            let first = node as usize * FANOUT;
            for leaf in (first..first + FANOUT).step_by(S::LANES) {
                // SAFETY: levels are padded to whole groups of siblings, with values below `beta`.
                let largest = unsafe { tree.levels[0].largest.load(simd, leaf) };
                let mut over = simd.lt(beta, largest);
                while over != 0 {
                    leaves.push(leaf as u32 + over.trailing_zeros());
                    over &= over - 1;
                }
            }
        }
    }
}

struct Collect<'a, T: Scalar> {
    tree: &'a BoxTree<T>,
    leaves: &'a [u32],
    beta: T,
    staged: &'a mut Staged<T>,
}

impl<T: Scalar> Kernel<T> for Collect<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let beta = simd.splat(self.beta);
        let Self { tree, leaves: found, staged, .. } = self;
        for (k, &leaf) in found.iter().enumerate() {
            if let Some(&ahead) = found.get(k + AHEAD) {
                let numbers = tree.leaves.as_ptr().wrapping_add(ahead as usize * tree.stride());
                for line in 0..4 * LEAF / 16 {
                    simd.prefetch(numbers.wrapping_add(line * 16).cast());
                }
                let points = tree.points.as_ptr().wrapping_add(ahead as usize * LEAF);
                simd.prefetch(points.cast());
                simd.prefetch(points.wrapping_add(LEAF / 2).cast());
            }
            staged.leaf(simd, tree, leaf as usize, beta);
        }
    }
}

/// Leaves to ask for ahead of their use.
const AHEAD: usize = 6;

/// The lanes of a vector that starts `left` places before the end of a run.
#[inline(always)]
pub(super) fn lanes_below(left: usize) -> u32 {
    if left >= 32 { u32::MAX } else { (1 << left) - 1 }
}

impl<T: Scalar> Staged<T> {
    /// Forgets all candidates. The rows keep their length: they are overwritten.
    fn clear(&mut self) {
        self.slot.clear();
        self.point.clear();
    }

    /// Makes room for so many candidates.
    #[inline(always)]
    fn reserve(&mut self, count: usize) {
        if self.rows[0].len() < count {
            let room = 2 * count + 64 * LEAF;
            self.rows.iter_mut().for_each(|row| row.resize(room));
        }
    }

    #[inline(always)]
    fn leaf<S: Simd<T>>(&mut self, simd: S, tree: &BoxTree<T>, leaf: usize, beta: S::V) {
        let mut count = self.slot.len();
        self.reserve(count + LEAF);
        let numbers = &tree.leaves[leaf * tree.stride()..][..tree.stride()];
        // SAFETY: leaves have `dims + 1` rows of `LEAF` numbers, `dims` at least 3; the rows
        // have room for a whole leaf more.
        unsafe {
            for lane in (0..LEAF).step_by(S::LANES) {
                let value = memory::load(simd, numbers, tree.dims * LEAF + lane);
                let mut over = simd.lt(beta, value);
                if over == 0 {
                    continue;
                }
                for a in 0..3 {
                    let x = memory::load(simd, numbers, a * LEAF + lane);
                    self.rows[a].compress(simd, over, x, count);
                }
                self.rows[3].compress(simd, over, value, count);
                count += over.count_ones() as usize;
                while over != 0 {
                    let slot = leaf * LEAF + lane + over.trailing_zeros() as usize;
                    self.slot.push(slot as u32);
                    self.point.push(tree.points[slot]);
                    over &= over - 1;
                }
            }
        }
    }
}
