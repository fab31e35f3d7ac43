//! Points in memory with their distances: lowered by many samples at a time, searched for candidates.
//!
//! Points are kept in leaves of 64 as whole vectors. Above them are nodes of 16 leaves, and parts of 16 nodes,
//! each with a box and the largest distance inside. Parts are dealt out to threads.

mod collect;
mod lower;

pub(crate) use collect::{Collected, keep_first};
pub(crate) use lower::Samples;

use crate::{Corners, Pages};
use farpoint::backend::memory;
use farpoint::{Level, Scalar};

/// Points in a leaf.
pub(crate) const LEAF: usize = 64;

/// Leaves in a node, and nodes in a part.
const FANOUT: usize = 16;

/// Leaves in a part.
const PART: usize = FANOUT * FANOUT;

/// Marks a point without a slot.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// 64 points: coordinates by axis, and distances. Lanes without a point repeat the first one, with a
/// distance of -1.
#[derive(Clone)]
#[repr(align(64))]
struct Leaf<T> {
    at: [[T; LEAF]; 3],
    value: [T; LEAF],
}

/// Bounds of the points below a leaf, node or part.
#[derive(Clone, Copy)]
struct Node<T> {
    corners: Corners<T>,
    /// Largest distance; -1 without points.
    largest: T,
}

/// Points of whole pages. Slot `s` is lane `s % 64` of leaf `s / 64`; pages are in the order in which they were added.
pub(crate) struct Slab<T> {
    level: Level,
    /// True to use the threads of the current pool.
    threads: bool,
    leaves: Vec<Leaf<T>>,
    /// Bounds of each leaf.
    tops: Vec<Node<T>>,
    nodes: Vec<Node<T>>,
    parts: Vec<Node<T>>,
    /// Row of each slot.
    rows: Vec<u64>,
}

impl<T: Scalar> Slab<T> {
    pub(crate) fn new(level: Level, threads: bool) -> Self {
        let (leaves, tops, nodes, parts, rows) = Default::default();
        Self { level, threads, leaves, tops, nodes, parts, rows }
    }

    /// Reserves memory for `points` points, before any is added.
    pub(crate) fn reserve(&mut self, points: usize) {
        self.leaves = memory::with_capacity(points.div_ceil(LEAF));
        self.tops = memory::with_capacity(points.div_ceil(LEAF));
        self.rows = memory::with_capacity(points);
    }

    /// Adds pages, of which only the very last may be short. Missing distances are infinite.
    pub(crate) fn add(&mut self, pages: &Pages<T>) {
        for start in (0..pages.len()).step_by(LEAF) {
            let count = LEAF.min(pages.len() - start);
            let from = |lane: usize| start + if lane < count { lane } else { 0 };
            let value = |lane: usize| match pages.values.get(start + lane) {
                _ if lane >= count => T::from_f64(-1.0),
                Some(&value) => value,
                None => T::INFINITY,
            };
            let at = |a: usize| std::array::from_fn(|lane| pages.at[a][from(lane)]);
            let leaf = Leaf { at: [at(0), at(1), at(2)], value: std::array::from_fn(value) };
            let mut top = Node { corners: Corners::none(), largest: T::from_f64(-1.0) };
            for lane in 0..count {
                top.corners.add([0, 1, 2].map(|a| leaf.at[a][lane]));
                top.largest = larger(top.largest, leaf.value[lane]);
            }
            self.leaves.push(leaf);
            self.tops.push(top);
        }
        self.rows.extend_from_slice(&pages.rows);
    }

    /// Builds nodes and parts, after all pages were added.
    pub(crate) fn build(&mut self) {
        let above = |below: &[Node<T>]| below.chunks(FANOUT).map(Node::above).collect::<Vec<_>>();
        self.nodes = above(&self.tops);
        self.parts = above(&self.nodes);
    }

    /// Returns the largest distance; -1 without points.
    pub(crate) fn largest(&self) -> T {
        self.parts.iter().fold(T::from_f64(-1.0), |max, part| larger(max, part.largest))
    }

    /// Returns the largest distance of each page of `page_points` points.
    pub(crate) fn largest_of_pages(&self, page_points: usize) -> impl Iterator<Item = T> {
        let largest = |leaves: &[Node<T>]| Node::above(leaves).largest;
        self.tops.chunks(page_points / LEAF).map(largest)
    }

    /// Returns the distances of all points in order.
    pub(crate) fn values(&self) -> impl Iterator<Item = T> {
        let all = self.leaves.iter().flat_map(|leaf| leaf.value);
        all.take(self.rows.len())
    }

    /// Returns the rows of all points in order.
    pub(crate) fn rows(&self) -> &[u64] {
        &self.rows
    }
}

impl<T: Scalar> Node<T> {
    fn above(below: &[Self]) -> Self {
        let none = Self { corners: Corners::none(), largest: T::from_f64(-1.0) };
        below.iter().fold(none, |mut sum, node| {
            sum.corners.merge(&node.corners);
            Self { largest: larger(sum.largest, node.largest), ..sum }
        })
    }

    /// Updates the largest distance from the nodes below.
    fn correct(&mut self, below: &[Self]) {
        self.largest = below.iter().fold(T::from_f64(-1.0), |max, node| larger(max, node.largest));
    }
}

#[inline(always)]
pub(crate) fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if b > a { b } else { a }
}
