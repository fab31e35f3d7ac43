//! A wide tree of tight boxes over groups of points, with a largest value in every node.
//!
//! Leaves hold up to [`LEAF`] points as whole vectors: the coordinates by axis, then a value
//! for each point (the squared distance to the sample). A node has [`FANOUT`] children whose
//! boxes lie side by side, so that a vector tests them all at once.

use super::cut::Cutter;
use super::entry::{Entry, bounds};
use super::order;
use crate::Scalar;
use crate::arch::Simd;
use crate::cloud::Cloud;
use crate::memory::{Aligned, Shared};
use rayon::prelude::*;

/// Points of a leaf.
pub(crate) const LEAF: usize = 64;

/// Children of a node.
pub(crate) const FANOUT: usize = 16;

/// Stands in for a point in a slot that is empty.
pub(crate) const NONE: u32 = u32::MAX;

/// Numbers that describe a node's children: low and high corners of their boxes.
const BOXES: usize = 6 * FANOUT;

/// The tree. Slot `s` is lane `s % LEAF` of leaf `s / LEAF`.
pub(crate) struct BoxTree<T> {
    /// Axes of a point, at least three; boxes have the first three.
    pub(crate) dims: usize,
    /// For each leaf, `dims` rows of coordinates and one of values, [`LEAF`] numbers each.
    /// Empty slots hold the coordinates of the leaf's first point and the value -1.
    pub(crate) leaves: Aligned<T>,
    /// The point in each slot, or [`NONE`].
    pub(crate) points: Aligned<u32>,
    /// The first leaf beyond a plane that halves the points.
    pub(crate) middle: usize,
    /// The tree's levels from the leaves up; the last has one entry.
    pub(crate) levels: Vec<Level<T>>,
}

/// One level of the tree: level 0 are the leaves, level 1 nodes over leaves, and so on.
pub(crate) struct Level<T> {
    /// Entries of this level, without padding.
    pub(crate) len: usize,
    /// Largest value below each entry, padded to whole groups of siblings with -1.
    pub(crate) largest: Aligned<T>,
    /// Boxes of the entries, by groups of [`FANOUT`] siblings: low x, y, z, high x, y, z.
    pub(crate) boxes: Aligned<T>,
}

impl<T: Scalar> Level<T> {
    fn new(len: usize) -> Self {
        let groups = len.div_ceil(FANOUT);
        let mut boxes = Aligned::new(groups * BOXES, T::INFINITY);
        for group in boxes.chunks_exact_mut(BOXES) {
            group[BOXES / 2..].fill(T::ZERO - T::INFINITY);
        }
        Self { len, largest: Aligned::new(groups * FANOUT, T::from_f64(-1.0)), boxes }
    }

    fn set_box(&mut self, entry: usize, low: [T; 3], high: [T; 3]) {
        let group = &mut self.boxes[entry / FANOUT * BOXES..][..BOXES];
        for a in 0..3 {
            group[a * FANOUT + entry % FANOUT] = low[a];
            group[(a + 3) * FANOUT + entry % FANOUT] = high[a];
        }
    }

    /// Boxes of the siblings from `entry / FANOUT` on, see [`Level::boxes`].
    #[inline(always)]
    pub(crate) fn siblings(&self, group: usize) -> *const T {
        self.boxes[group * BOXES..][..BOXES].as_ptr()
    }
}

/// Squared distance from a point to the nearest point of a box, or less: the operations are
/// those of the distance itself, each monotone, so that it is not above the *computed*
/// distance to any point of the box (docs/semantics.md).
#[inline(always)]
pub(crate) fn box_bound<T, S: Simd<T>>(
    simd: S,
    at: [S::V; 3],
    low: [S::V; 3],
    high: [S::V; 3],
    zero: S::V,
) -> S::V {
    let gap = |a: usize| {
        let outside = simd.max(simd.sub(low[a], at[a]), simd.sub(at[a], high[a]));
        let gap = simd.max(outside, zero);
        simd.mul(gap, gap)
    };
    simd.add(simd.add(gap(0), gap(1)), gap(2))
}

impl<T: Scalar> BoxTree<T> {
    /// Builds the tree on `threads` threads; all values are infinite.
    pub(crate) fn new(cloud: &Cloud<T>, threads: usize) -> Self {
        let parts = threads.min(cloud.len / (1 << 14)).max(1);
        let buckets = order::buckets(cloud, parts);
        let mut tree = Self::leaves(cloud, buckets, parts);
        while tree.levels.last().is_some_and(|level| level.len > 1) {
            tree.add_level();
        }
        tree
    }

    /// Numbers of a leaf.
    #[inline(always)]
    pub(crate) fn stride(&self) -> usize {
        (self.dims + 1) * LEAF
    }

    /// The tree's leaves, from points in buckets.
    fn leaves(cloud: &Cloud<T>, mut buckets: order::Buckets<T>, parts: usize) -> Self {
        let starts = std::iter::once(0).chain(buckets.ends.iter().copied());
        let mut rest = &mut buckets.entries[..];
        let (mut first_leaf, mut middle) = (0, 0);
        let mut jobs = Vec::with_capacity(buckets.ends.len());
        for (start, &end) in starts.zip(&buckets.ends) {
            let (entries, after) = rest.split_at_mut(end - start);
            rest = after;
            if jobs.len() == buckets.middle {
                middle = first_leaf;
            }
            // Buckets begin with a node of their own.
            let leaves = (end - start).div_ceil(LEAF * FANOUT) * FANOUT;
            jobs.push((first_leaf, leaves, entries));
            first_leaf += leaves;
        }
        let dims = cloud.dims();
        let mut level = Level::new(first_leaf);
        let mut points = Aligned::new(first_leaf * LEAF, NONE);
        let fill = |leaves: *mut T| {
            let (leaves, points) = (Shared::new(leaves), Shared::new(points.as_mut_ptr()));
            let writer = LeafWriter { cloud, dims, leaves, points };
            let fill = |cutter: &mut Cutter<T>, (first, leaves, entries): Job<'_, T>| {
                let mut made = Vec::with_capacity(leaves);
                // SAFETY: each job has leaves of its own, at least as many as there are groups.
                unsafe {
                    cutter.groups(entries, &mut |group| {
                        writer.write(first + made.len(), group);
                        made.push(bounds(group));
                    });
                    writer.clear(first + made.len()..first + leaves);
                }
                (first, made)
            };
            let made: Vec<_> = match parts {
                1 => {
                    let mut cutter = Cutter::new();
                    jobs.into_iter().map(|job| fill(&mut cutter, job)).collect()
                }
                _ => jobs.into_par_iter().map_init(Cutter::new, fill).collect(),
            };
            for (first, made) in made {
                for (leaf, (low, high)) in (first..).zip(made) {
                    level.set_box(leaf, low, high);
                    level.largest[leaf] = T::INFINITY;
                }
            }
        };
        // SAFETY: the jobs' leaves are all leaves, and each job writes all of its own.
        let leaves = unsafe { Aligned::write_with(first_leaf * (dims + 1) * LEAF, fill) };
        Self { dims, leaves, points, middle, levels: vec![level] }
    }

    /// Adds the level above the last.
    fn add_level(&mut self) {
        let below = self.levels.last().expect("leaves");
        let mut level = Level::new(below.len.div_ceil(FANOUT));
        for (entry, boxes) in below.boxes.chunks_exact(BOXES).enumerate() {
            let row = |a: usize| boxes[a * FANOUT..][..FANOUT].iter().copied();
            let low = std::array::from_fn(|a| {
                row(a).reduce(|x, y| if y < x { y } else { x }).expect("children")
            });
            let high = std::array::from_fn(|a| {
                row(a + 3).reduce(|x, y| if y > x { y } else { x }).expect("children")
            });
            level.set_box(entry, low, high);
            level.largest[entry] = T::INFINITY;
        }
        self.levels.push(level);
    }

    /// The largest value of all.
    pub(crate) fn largest(&self) -> T {
        self.levels.last().expect("leaves").largest[0]
    }
}

/// A bucket's first leaf, number of leaves, and points.
type Job<'a, T> = (usize, usize, &'a mut [Entry<T>]);

struct LeafWriter<'a, T> {
    cloud: &'a Cloud<T>,
    dims: usize,
    leaves: Shared<T>,
    points: Shared<u32>,
}

impl<T: Scalar> LeafWriter<'_, T> {
    /// Fills leaves that no points are left for.
    ///
    /// # Safety
    /// The leaves must be there and nobody else's.
    unsafe fn clear(&self, leaves: std::ops::Range<usize>) {
        let numbers = (self.dims + 1) * LEAF;
        for k in leaves.start * numbers..leaves.end * numbers {
            // SAFETY: leaves are `numbers` numbers each.
            unsafe { self.leaves.get().add(k).write(T::from_f64(-1.0)) };
        }
    }

    /// # Safety
    /// Leaf `leaf` must be there and nobody else's.
    unsafe fn write(&self, leaf: usize, group: &[Entry<T>]) {
        // SAFETY: leaves are `(dims + 1) * LEAF` numbers and `LEAF` points each.
        let (numbers, points) = unsafe {
            let numbers = (self.dims + 1) * LEAF;
            (
                std::slice::from_raw_parts_mut(self.leaves.get().add(leaf * numbers), numbers),
                std::slice::from_raw_parts_mut(self.points.get().add(leaf * LEAF), LEAF),
            )
        };
        let (coordinates, values) = numbers.split_at_mut(self.dims * LEAF);
        values.fill(T::from_f64(-1.0));
        values[..group.len()].fill(T::INFINITY);
        for lane in 0..LEAF {
            let entry = group.get(lane).unwrap_or(&group[0]);
            for a in 0..3 {
                coordinates[a * LEAF + lane] = entry.at(a);
            }
            for a in 3..self.dims {
                coordinates[a * LEAF + lane] = self.cloud.axes[a][entry.point() as usize];
            }
            if lane < group.len() {
                points[lane] = entry.point();
            }
        }
    }
}
