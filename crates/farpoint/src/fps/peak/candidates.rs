//! The points of a band: collected from a part of the tree, and sorted into a grid.

use crate::Scalar;
use crate::memory::{self, Padded};
use crate::scalar::extremes;
use crate::simd::{Kernel, Simd};
use crate::spatial::{BoxTree, Cells, Grid, LEAF};
use std::ops::Range;

/// Candidates of a band from one part of the cloud, in grid order.
pub(super) struct Candidates<T: Scalar> {
    pub(super) grid: Grid<T>,
    /// First three coordinates by axis.
    pub(super) at: [Padded<T>; 3],
    /// Squared distance at the start of the band.
    pub(super) value: Padded<T>,
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

#[derive(Default)]
struct Staged<T: Scalar> {
    /// Coordinates and values, in rows that are longer than there are candidates.
    rows: [Padded<T>; 4],
    slot: Vec<u32>,
    point: Vec<u32>,
    /// Leaves that hold candidates.
    leaves: Vec<u32>,
}

impl<T: Scalar> Candidates<T> {
    pub(super) fn new(cells: Cells<T>) -> Self {
        Self {
            grid: Grid::new(cells),
            at: Default::default(),
            value: Padded::default(),
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

    /// Takes all points of `leaves` whose value is above `beta`.
    pub(super) fn collect<S: Simd<T>>(
        &mut self,
        simd: S,
        tree: &BoxTree<T>,
        leaves: Range<usize>,
        beta: T,
        cells: Cells<T>,
    ) {
        self.staged.clear();
        simd.vectorize(Collect { tree, leaves, beta, staged: &mut self.staged });
        self.sort(cells);
    }

    /// Takes these candidates, each with its coordinates, value, slot and point.
    pub(super) fn take(
        &mut self,
        candidates: impl Iterator<Item = ([T; 3], T, u32, u32)>,
        cells: Cells<T>,
    ) {
        self.staged.clear();
        for (at, value, slot, point) in candidates {
            let count = self.staged.slot.len();
            self.staged.reserve(count + 1);
            for (row, x) in self.staged.rows.iter_mut().zip(at.into_iter().chain([value])) {
                row[count] = x;
            }
            self.staged.slot.push(slot);
            self.staged.point.push(point);
        }
        self.sort(cells);
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

fn scatter<T: Copy>(to: &mut [T], from: &[T], places: &[u32]) {
    for (&value, &place) in from.iter().zip(places) {
        to[place as usize] = value;
    }
}

struct Collect<'a, T: Scalar> {
    tree: &'a BoxTree<T>,
    leaves: Range<usize>,
    beta: T,
    staged: &'a mut Staged<T>,
}

impl<T: Scalar> Kernel<T> for Collect<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let beta = simd.splat(self.beta);
        let Self { tree, leaves, staged, .. } = self;
        let mut found = std::mem::take(&mut staged.leaves);
        found.clear();
        for leaf in leaves.clone().step_by(S::LANES) {
            // SAFETY: `leaf` is below the level's length. What lies beyond the part is left out.
            let largest = unsafe { tree.levels[0].largest.load(simd, leaf) };
            let mut over = simd.lt(beta, largest) & lanes_below(leaves.end - leaf);
            while over != 0 {
                found.push(leaf as u32 + over.trailing_zeros());
                over &= over - 1;
            }
        }
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
        staged.leaves = found;
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
