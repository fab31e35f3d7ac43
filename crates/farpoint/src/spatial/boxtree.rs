//! A wide tree of tight boxes over groups of points, with a largest value in every node.
//!
//! Leaves hold up to [`LEAF`] points as whole vectors: the coordinates by axis, then a value
//! for each point (the squared distance to the sample). A node has [`FANOUT`] children whose
//! boxes lie side by side, so that a vector tests them all at once.

use super::cut::Cutter;
use super::entry::{Entry, GroupBox, bounds};
use super::order::{self, Buckets};
use crate::clock::Clock;
use crate::cloud::WorkingCopy;
use crate::memory::{Aligned, Buffer, Shared};
use crate::simd::Simd;
use crate::threads::Team;
use crate::{Scalar, Stages};
use std::mem::MaybeUninit;

/// Points per leaf.
pub(crate) const LEAF: usize = 64;

/// Children per node.
pub(crate) const FANOUT: usize = 16;

/// Marks an empty slot.
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
    /// The tree's levels from the leaves up; the last has one entry.
    pub(crate) levels: Buffer<Level<T>>,
}

/// One level of the tree: level 0 are the leaves, level 1 nodes over leaves, and so on.
pub(crate) struct Level<T> {
    /// Entries of this level, without padding.
    pub(crate) len: usize,
    /// Largest value below each entry, padded to whole groups of siblings with -1.
    pub(crate) largest: Aligned<T>,
    /// Boxes of the entries.
    pub(crate) boxes: Boxes<T>,
    /// Lowest point below each entry, padded to whole groups of siblings with [`NONE`].
    pub(crate) lowest: Aligned<u32>,
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
    /// Returns the box around a group of siblings.
    fn group_box(&self, group: usize) -> GroupBox<T> {
        let boxes = self.boxes.siblings(group);
        let row = |a: usize| boxes[a * FANOUT..][..FANOUT].iter().copied();
        let low = |a| row(a).reduce(|x, y| if y < x { y } else { x }).expect("children");
        let high = |a| row(a + 3).reduce(|x, y| if y > x { y } else { x }).expect("children");
        let lowest = self.lowest[group * FANOUT..][..FANOUT].iter().copied().min();
        GroupBox {
            low: std::array::from_fn(low),
            high: std::array::from_fn(high),
            lowest: lowest.unwrap_or(NONE),
        }
    }

    /// Creates a level of `len` entries, whose groups of siblings are written by `write`: each group's boxes, largest
    /// values and lowest points, all of them.
    fn new(len: usize, write: impl FnOnce(Groups<'_, T>)) -> Self {
        let groups = len.div_ceil(FANOUT);
        let mut boxes = Aligned::unwritten(groups * BOXES);
        let mut largest = Aligned::unwritten(groups * FANOUT);
        let mut lowest = Aligned::unwritten(groups * FANOUT);
        write(Groups {
            boxes: Shared::new(&mut boxes),
            largest: Shared::new(&mut largest),
            lowest: Shared::new(&mut lowest),
        });
        // SAFETY: `write` must write all groups, by its contract.
        unsafe {
            let boxes = Boxes(boxes.written());
            Self { len, largest: largest.written(), boxes, lowest: lowest.written() }
        }
    }
}

/// Groups of siblings that are still to be written.
#[derive(Clone, Copy)]
struct Groups<'a, T> {
    boxes: Shared<'a, MaybeUninit<T>>,
    largest: Shared<'a, MaybeUninit<T>>,
    lowest: Shared<'a, MaybeUninit<u32>>,
}

impl<T: Scalar> Groups<'_, T> {
    /// Writes the groups of siblings from `group` on, entries without a box as empty.
    ///
    /// # Safety
    /// The groups must be below the number of all, and no other thread's.
    unsafe fn write(self, group: usize, entries: &[Option<GroupBox<T>>]) {
        for (group, entries) in (group..).zip(entries.chunks(FANOUT)) {
            // SAFETY: as the caller ensures.
            let (boxes, largest, points) = unsafe {
                let siblings = group * FANOUT..(group + 1) * FANOUT;
                let boxes = self.boxes.part(group * BOXES..(group + 1) * BOXES);
                (boxes, self.largest.part(siblings.clone()), self.lowest.part(siblings))
            };
            for k in 0..FANOUT {
                let (low, high) = ([T::INFINITY; 3], [T::ZERO - T::INFINITY; 3]);
                let empty = GroupBox { low, high, lowest: NONE };
                let found = entries.get(k).copied().flatten();
                let GroupBox { low, high, lowest } = found.unwrap_or(empty);
                for a in 0..3 {
                    boxes[a * FANOUT + k].write(low[a]);
                    boxes[(a + 3) * FANOUT + k].write(high[a]);
                }
                largest[k].write(if found.is_some() { T::INFINITY } else { T::from_f64(-1.0) });
                points[k].write(lowest);
            }
        }
    }
}

/// Returns the squared distance from a point to the nearest point of a box, or less: the operations are
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
    pub(crate) fn new(cloud: &WorkingCopy<T>, threads: usize) -> Self {
        let threads = threads.min(cloud.len / (1 << 14)).max(1);
        Self::with_team(&Team::new(threads), cloud, &mut Stages::default())
    }

    /// Builds the tree; all values are infinite. Adds the time of its two stages.
    pub(crate) fn with_team(team: &Team, cloud: &WorkingCopy<T>, seconds: &mut Stages) -> Self {
        let mut clock = Clock::now();
        let buckets = order::buckets(team, cloud);
        clock.lap(&mut seconds.order);
        let mut tree = Self::leaves(team, cloud, buckets);
        while tree.levels.last().is_some_and(|level| level.len > 1) {
            tree.add_level(team);
        }
        clock.lap(&mut seconds.build);
        tree
    }

    /// Returns the number of numbers of a leaf.
    #[inline(always)]
    pub(crate) fn stride(&self) -> usize {
        (self.dims + 1) * LEAF
    }

    /// Returns the offset of a slot's first coordinate in the leaves; the next is [`LEAF`] places on.
    #[inline(always)]
    pub(crate) fn coordinates(&self, slot: u32) -> usize {
        place(slot, self.stride())
    }

    /// Creates the tree's leaves, from points in buckets.
    fn leaves(team: &Team, cloud: &WorkingCopy<T>, mut buckets: Buckets<T>) -> Self {
        // Buckets begin with a node of their own.
        let room = |points: usize| points.div_ceil(LEAF * FANOUT) * FANOUT;
        let mut places = Buffer::filled(1, (0, 0));
        for &end in &buckets.ends {
            let (start, leaf) = places[places.len() - 1];
            places.push((end, leaf + room(end - start)));
        }
        let count = places[places.len() - 1].1;
        let dims = cloud.dims();
        let stride = (dims + 1) * LEAF;
        let mut numbers = Aligned::unwritten(count * stride);
        let mut points = Aligned::unwritten(count * LEAF);
        let (to, points_to) = (Shared::new(&mut numbers), Shared::new(&mut points));
        let entries = Shared::new(&mut buckets.entries);
        let mut cutters = Buffer::collected((0..team.size()).map(|_| Cutter::new()));
        let level = Level::new(count, |groups| {
            team.each_with(places.len() - 1, &mut cutters, |bucket, cutter| {
                let [(start, leaf), (end, last)] = [places[bucket], places[bucket + 1]];
                // SAFETY: buckets have points and leaves of their own, whole groups of siblings.
                unsafe {
                    let numbers = to.part(leaf * stride..last * stride);
                    let points = points_to.part(leaf * LEAF..last * LEAF);
                    let writer = LeafWriter { cloud, numbers, points };
                    let made = writer.fill(cutter, entries.part(start..end));
                    groups.write(leaf / FANOUT, &made);
                }
            });
        });
        // SAFETY: the buckets' leaves are all leaves, and `LeafWriter::fill` writes all numbers and points
        // of a bucket's.
        let (leaves, points) = unsafe { (numbers.written(), points.written()) };
        Self { dims, leaves, points, levels: Buffer::collected([level]) }
    }

    /// Adds the level above the last.
    fn add_level(&mut self, team: &Team) {
        let below = self.levels.last().expect("leaves");
        let len = below.len.div_ceil(FANOUT);
        let level = Level::new(len, |groups| {
            team.each(len.div_ceil(FANOUT), |group, _| {
                let entries = group * FANOUT..(group * FANOUT + FANOUT).min(len);
                let boxes = Buffer::collected(entries.map(|entry| Some(below.group_box(entry))));
                // SAFETY: the group is below the number of groups, and the task's alone.
                unsafe { groups.write(group, &boxes) };
            });
        });
        self.levels.push(level);
    }

    /// Sets the largest value of each leaf, and of the nodes above.
    pub(crate) fn set_largest(&mut self, of_leaves: &[T]) {
        self.levels[0].largest.copy_from_slice(of_leaves);
        for level in 1..self.levels.len() {
            let (below, here) = self.levels.split_at_mut(level);
            let children = below[level - 1].largest.chunks_exact(FANOUT);
            for (largest, children) in here[0].largest.iter_mut().zip(children) {
                let higher = |a, b| if b > a { b } else { a };
                *largest = children.iter().copied().fold(T::from_f64(-1.0), higher);
            }
        }
    }

    /// Returns the largest value of all.
    pub(crate) fn largest(&self) -> T {
        self.levels.last().expect("leaves").largest[0]
    }
}

/// Returns the offset of a slot's first coordinate, for leaves of `stride` numbers: beyond `u32` in trees of
/// many axes.
#[inline(always)]
pub(crate) fn place(slot: u32, stride: usize) -> usize {
    slot as usize / LEAF * stride + slot as usize % LEAF
}

/// Writes the leaves of a bucket.
struct LeafWriter<'a, T> {
    cloud: &'a WorkingCopy<T>,
    /// `dims + 1` rows of [`LEAF`] numbers a leaf.
    numbers: &'a mut [MaybeUninit<T>],
    /// [`LEAF`] points per leaf.
    points: &'a mut [MaybeUninit<u32>],
}

impl<T: Scalar> LeafWriter<'_, T> {
    /// Cuts the points into leaves and writes all numbers and points; returns the box of each leaf that has
    /// points.
    fn fill(
        mut self,
        cutter: &mut Cutter<T>,
        entries: &mut [Entry<T>],
    ) -> Buffer<Option<GroupBox<T>>> {
        let stride = (self.cloud.dims() + 1) * LEAF;
        let leaves = self.points.len() / LEAF;
        let mut made = Buffer::with_capacity(leaves);
        cutter.groups(entries, &mut |group| {
            self.write(made.len(), stride, group);
            let ([x, y, z, _], [u, v, w, _]) = bounds(group);
            let lowest = group[0].point();
            made.push(Some(GroupBox { low: [x, y, z], high: [u, v, w], lowest }));
        });
        self.numbers[made.len() * stride..].fill(MaybeUninit::new(T::from_f64(-1.0)));
        self.points[made.len() * LEAF..].fill(MaybeUninit::new(NONE));
        made.resize(leaves, None);
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
            points[lane].write(if lane < group.len() { entry.point() } else { NONE });
        }
    }
}
