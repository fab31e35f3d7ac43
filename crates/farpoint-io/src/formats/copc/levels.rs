//! Builds the nodes of an octree from farthest-first order.
//!
//! The points of a node, among those left over by its parents, are the first in farthest-first order. That leaves
//! three choices, which only add points to coarser levels and so never harm their coverage: a node takes at least a
//! thousand (so none is empty), all points of a child that would hold fewer, and duplicates for which no deeper node
//! is there.

use super::cube::DEEPEST;
use super::spacing::Ordered;
use crate::bytes::parallel;

/// Fewer points make no node of their own.
const MIN_POINTS: usize = 1000;
/// A spacing that leaves a node with few points is increased by this factor, at most this many times.
const LARGER: f64 = 1.01;
const TRIES: usize = 8;
/// Nodes of more points are worth a thread.
const MIN_PARALLEL: usize = 1 << 14;

/// Key of a node: its level, and the number of its cell on each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) level: u32,
    pub(super) cell: [u32; 3],
}

impl Key {
    pub(super) const ROOT: Key = Key { level: 0, cell: [0; 3] };

    /// Returns one of the eight below it.
    pub(super) fn child(self, octant: usize) -> Key {
        let bit = |axis: usize| (octant >> axis & 1) as u32;
        Key { level: self.level + 1, cell: std::array::from_fn(|a| 2 * self.cell[a] + bit(a)) }
    }

    /// Returns the one above it.
    pub(super) fn parent(self) -> Key {
        Key { level: self.level - 1, cell: self.cell.map(|at| at >> 1) }
    }

    /// Sort key: coarse before fine, and neighbors near each other.
    fn place(self) -> (u32, u128) {
        let bits = (0..DEEPEST).flat_map(|bit| (0..3).map(move |axis| (bit, axis)));
        let code = bits.fold(0, |code, (bit, axis)| {
            code | u128::from(self.cell[axis] >> bit & 1) << (3 * bit + axis as u32)
        });
        (self.level, code)
    }
}

/// A node, with the indices of its points in farthest-first order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) key: Key,
    pub(super) points: Vec<u32>,
}

/// All nodes, coarse before fine.
#[derive(Debug)]
pub(super) struct Levels {
    /// Declared spacing of the root; half of it a level deeper.
    pub(super) spacing: f64,
    pub(super) nodes: Vec<Node>,
}

impl Levels {
    /// Builds the levels of points in a cube with this side, with at most `node_points` points per node.
    pub(super) fn new(points: &Ordered<'_>, side: f64, node_points: usize) -> Levels {
        let mut spacing = points.finest(side, node_points);
        let min_points = MIN_POINTS.min(node_points / 8);
        for _ in 0..TRIES {
            let nodes = build_nodes(points, spacing, min_points, node_points);
            if nodes.iter().skip(1).all(|node| node.points.len() >= min_points) {
                return Levels { spacing, nodes };
            }
            spacing *= LARGER;
        }
        Levels { spacing, nodes: build_nodes(points, spacing, min_points, node_points) }
    }
}

/// Builds the nodes with this spacing.
fn build_nodes(
    points: &Ordered<'_>,
    spacing: f64,
    min_points: usize,
    node_points: usize,
) -> Vec<Node> {
    let grower = Grower {
        cells: points.cells,
        cuts: points.cuts(spacing),
        distinct: points.distinct(),
        min_points,
        max_points: node_points,
    };
    let mut nodes = grower.grow(Key::ROOT, (0..points.cells.len() as u32).collect());
    nodes.sort_by_cached_key(|node| node.key.place());
    nodes
}

struct Grower<'a> {
    cells: &'a [[u32; 3]],
    cuts: Vec<usize>,
    distinct: usize,
    min_points: usize,
    max_points: usize,
}

impl Grower<'_> {
    /// Builds the node and all below it, from the points that those above it left over.
    fn grow(&self, key: Key, mut points: Vec<u32>) -> Vec<Node> {
        let cut = self.cuts[key.level as usize];
        let count = points.partition_point(|&point| (point as usize) < cut);
        let remaining = points.split_off(count.max(self.min_points.min(points.len())));
        let mut children = Vec::new();
        if key.level == DEEPEST || self.only_duplicates(&remaining) {
            points.extend(remaining);
        } else {
            for (octant, child) in self.split(key.level, &remaining).into_iter().enumerate() {
                let is_small =
                    child.len() < self.min_points && points.len() + child.len() <= self.max_points;
                match is_small || self.only_duplicates(&child) {
                    true => points.extend(child),
                    false => children.push((key.child(octant), child)),
                }
            }
        }
        let in_parallel = total_points(&children) > MIN_PARALLEL;
        let (children, grow) =
            (children.into_iter(), |(key, child_points)| self.grow(key, child_points));
        let below: Vec<Vec<Node>> = match in_parallel {
            true => parallel::map(children, grow),
            false => children.map(grow).collect(),
        };
        std::iter::once(Node { key, points }).chain(below.into_iter().flatten()).collect()
    }

    /// Returns whether all these points are duplicates of earlier ones.
    fn only_duplicates(&self, points: &[u32]) -> bool {
        points.first().is_none_or(|&first| first as usize >= self.distinct)
    }

    /// Splits the points of a node by octants, still farthest first.
    fn split(&self, level: u32, points: &[u32]) -> [Vec<u32>; 8] {
        let mut octants = [const { Vec::new() }; 8];
        let bit = DEEPEST - 1 - level;
        for &point in points {
            let [x, y, z] = self.cells[point as usize].map(|at| at >> bit & 1);
            octants[(x | y << 1 | z << 2) as usize].push(point);
        }
        octants
    }
}

fn total_points(children: &[(Key, Vec<u32>)]) -> usize {
    children.iter().map(|(_, points)| points.len()).sum()
}
