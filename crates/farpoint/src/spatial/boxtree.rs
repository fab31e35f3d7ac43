//! A wide tree of tight boxes over groups of points, with a largest value in every node.
//!
//! Leaves hold up to [`LEAF`] points as whole vectors: the coordinates by axis, then a value
//! for each point (the squared distance to the sample). A node has [`FANOUT`] children whose
//! boxes lie side by side, so that a vector tests them all at once.

use super::cut::Cutter;
use super::entry::{Entry, bounds};
use super::order;
use crate::Scalar;
use crate::cloud::Cloud;
use crate::memory::Aligned;
use crate::simd::Simd;
use crate::threads::prelude::*;
use std::mem::MaybeUninit;

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
    /// Boxes of the entries.
    pub(crate) boxes: Boxes<T>,
}

/// Boxes by groups of [`FANOUT`] siblings: a row of low x, of low y, z, then of high x, y, z.
pub(crate) struct Boxes<T>(Aligned<T>);

impl<T> Boxes<T> {
    /// A group of siblings: six rows of [`FANOUT`] numbers.
    #[inline(always)]
    pub(crate) fn siblings(&self, group: usize) -> &[T; BOXES] {
        self.0[group * BOXES..].first_chunk().expect("whole groups")
    }
}

impl<T: Scalar> Level<T> {
    fn new(len: usize) -> Self {
        let groups = len.div_ceil(FANOUT);
        let mut boxes = Aligned::new(groups * BOXES, T::INFINITY);
        for group in boxes.chunks_exact_mut(BOXES) {
            group[BOXES / 2..].fill(T::ZERO - T::INFINITY);
        }
        let largest = Aligned::new(groups * FANOUT, T::from_f64(-1.0));
        Self { len, largest, boxes: Boxes(boxes) }
    }

    fn set_box(&mut self, entry: usize, low: [T; 3], high: [T; 3]) {
        let group = &mut self.boxes.0[entry / FANOUT * BOXES..][..BOXES];
        for a in 0..3 {
            group[a * FANOUT + entry % FANOUT] = low[a];
            group[(a + 3) * FANOUT + entry % FANOUT] = high[a];
        }
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

    /// Where the first coordinate of a slot lies in the leaves; the next is [`LEAF`] places on.
    #[inline(always)]
    pub(crate) fn coordinates(&self, slot: u32) -> usize {
        place(slot, self.stride())
    }

    /// The tree's leaves, from points in buckets.
    fn leaves(cloud: &Cloud<T>, mut buckets: order::Buckets<T>, parts: usize) -> Self {
        // Buckets begin with a node of their own.
        let room = |points: usize| points.div_ceil(LEAF * FANOUT) * FANOUT;
        let starts = std::iter::once(0).chain(buckets.ends.iter().copied());
        let sizes: Vec<_> = starts.zip(&buckets.ends).map(|(start, end)| end - start).collect();
        let leaves_of = |sizes: &[usize]| sizes.iter().map(|&size| room(size)).sum::<usize>();
        let (middle, count) = (leaves_of(&sizes[..buckets.middle]), leaves_of(&sizes));
        let dims = cloud.dims();
        let mut level = Level::new(count);
        let mut points = Aligned::new(count * LEAF, NONE);
        let fill = |mut numbers: &mut [MaybeUninit<T>]| {
            let (mut entries, mut points) = (&mut buckets.entries[..], &mut points[..]);
            let mut first = 0;
            let jobs: Vec<_> = sizes
                .iter()
                .map(|&size| {
                    let leaves = room(size);
                    let entries = take(&mut entries, size);
                    let numbers = take(&mut numbers, leaves * (dims + 1) * LEAF);
                    let points = take(&mut points, leaves * LEAF);
                    first += leaves;
                    (first - leaves, entries, LeafWriter { cloud, numbers, points })
                })
                .collect();
            let fill = |cutter: &mut Cutter<T>, (first, entries, writer): Job<'_, T>| {
                (first, writer.fill(cutter, entries))
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
        // SAFETY: the jobs' leaves are all leaves, and `LeafWriter::fill` writes all numbers of a
        // job's.
        let leaves = unsafe { Aligned::write_with(count * (dims + 1) * LEAF, fill) };
        Self { dims, leaves, points, middle, levels: vec![level] }
    }

    /// Adds the level above the last.
    fn add_level(&mut self) {
        let below = self.levels.last().expect("leaves");
        let mut level = Level::new(below.len.div_ceil(FANOUT));
        for (entry, boxes) in below.boxes.0.chunks_exact(BOXES).enumerate() {
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

/// Where a slot's first coordinate lies, of leaves of so many numbers: beyond `u32` in trees of
/// many axes.
#[inline(always)]
pub(crate) fn place(slot: u32, stride: usize) -> usize {
    slot as usize / LEAF * stride + slot as usize % LEAF
}

/// Splits the first `count` values off.
fn take<'a, V>(values: &mut &'a mut [V], count: usize) -> &'a mut [V] {
    values.split_off_mut(..count).expect("room for every bucket")
}

/// A bucket's first leaf, its points, and where they are written.
type Job<'a, T> = (usize, &'a mut [Entry<T>], LeafWriter<'a, T>);

/// Writes the leaves of a bucket.
struct LeafWriter<'a, T> {
    cloud: &'a Cloud<T>,
    /// `dims + 1` rows of [`LEAF`] numbers a leaf.
    numbers: &'a mut [MaybeUninit<T>],
    /// [`LEAF`] points per leaf, none yet.
    points: &'a mut [u32],
}

impl<T: Scalar> LeafWriter<'_, T> {
    /// Cuts the points into leaves and writes all numbers; the boxes of the leaves that have points.
    fn fill(mut self, cutter: &mut Cutter<T>, entries: &mut [Entry<T>]) -> Vec<([T; 3], [T; 3])> {
        let stride = (self.cloud.dims() + 1) * LEAF;
        let mut made = Vec::with_capacity(self.points.len() / LEAF);
        cutter.groups(entries, &mut |group| {
            self.write(made.len(), stride, group);
            made.push(bounds(group));
        });
        self.numbers[made.len() * stride..].fill(MaybeUninit::new(T::from_f64(-1.0)));
        made
    }

    fn write(&mut self, leaf: usize, stride: usize, group: &[Entry<T>]) {
        let numbers = &mut self.numbers[leaf * stride..][..stride];
        let points = &mut self.points[leaf * LEAF..][..LEAF];
        let (coordinates, values) = numbers.split_at_mut(stride - LEAF);
        values[..group.len()].fill(MaybeUninit::new(T::INFINITY));
        values[group.len()..].fill(MaybeUninit::new(T::from_f64(-1.0)));
        for lane in 0..LEAF {
            let entry = group.get(lane).unwrap_or(&group[0]);
            for a in 0..3 {
                coordinates[a * LEAF + lane].write(entry.at(a));
            }
            for (a, axis) in self.cloud.axes.iter().enumerate().skip(3) {
                coordinates[a * LEAF + lane].write(axis[entry.point() as usize]);
            }
            if lane < group.len() {
                points[lane] = entry.point();
            }
        }
    }
}
