//! Nearest neighbor search in a fixed set of points, with a tree of tight boxes.
//!
//! Distances use all axes, boxes the first three. The bound of a box is computed with the
//! operations of the distance, each of which is monotone, so it never exceeds the computed
//! distance to a point of the box (further axes only increase that distance): the result is
//! exactly that of brute force.

use crate::Scalar;
use crate::cloud::WorkingCopy;
use crate::memory;
use std::cmp::Ordering;
use std::ops::Range;

/// Points per leaf, whose distances are computed side by side.
const LEAF: usize = 8;

/// A nearest-neighbor search among some points of a cloud.
pub(crate) struct Neighbors<'a, T> {
    cloud: &'a WorkingCopy<T>,
    /// The points, leaf after leaf.
    entries: Vec<Entry<T>>,
    /// Coordinates leaf by leaf, axis by axis within a leaf, [`LEAF`] numbers each; lanes
    /// without a point repeat the leaf's first.
    coordinates: Vec<T>,
    /// A binary heap: node `k` has the children `2 k + 1` and `2 k + 2`, and all leaves are
    /// on the last level.
    boxes: Vec<Box3<T>>,
}

/// A point of the cloud, and its position in the list of points.
#[derive(Clone, Copy)]
struct Entry<T> {
    at: [T; 3],
    point: u32,
    position: u32,
}

#[derive(Clone, Copy)]
struct Box3<T> {
    low: [T; 3],
    high: [T; 3],
}

impl<T: Scalar> Box3<T> {
    /// Returns the box around entries, of which there must be one.
    fn enclosing(entries: &[Entry<T>]) -> Self {
        let mut bounds = Self { low: entries[0].at, high: entries[0].at };
        for entry in entries {
            for a in 0..3 {
                bounds.low[a] =
                    if entry.at[a] < bounds.low[a] { entry.at[a] } else { bounds.low[a] };
                bounds.high[a] =
                    if entry.at[a] > bounds.high[a] { entry.at[a] } else { bounds.high[a] };
            }
        }
        bounds
    }

    fn longest_axis(&self) -> usize {
        let side = |a: usize| self.high[a].to_f64() - self.low[a].to_f64();
        (1..3).fold(0, |best, a| if side(a) > side(best) { a } else { best })
    }

    /// Returns at most the computed squared distance from `at` to any point of the box.
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
}

impl<'a, T: Scalar> Neighbors<'a, T> {
    /// Builds a tree over `points` of the cloud: one or more, a point as often as it is listed.
    pub(crate) fn new(cloud: &'a WorkingCopy<T>, points: &[u32]) -> Self {
        let entry = |(&point, position): (&u32, u32)| {
            let at = std::array::from_fn(|a| cloud.axes[a][point as usize]);
            Entry { at, point, position }
        };
        let mut entries = memory::collected(points.iter().zip(0..).map(entry));
        let leaves = points.len().div_ceil(LEAF).next_power_of_two();
        let empty = Box3 { low: [T::ZERO; 3], high: [T::ZERO; 3] };
        let mut boxes = memory::filled(2 * leaves - 1, empty);
        split(&mut entries, &mut boxes, 0);
        let coordinates = memory::with_capacity((leaves * LEAF).saturating_mul(cloud.dims()));
        let mut tree = Self { cloud, entries, coordinates, boxes };
        for leaf in 0..leaves {
            let entries = &tree.entries[tree.places(leaf)];
            for values in &cloud.axes {
                let value = |lane| entries.get(lane).unwrap_or(&entries[0]).point as usize;
                let row: [T; LEAF] = std::array::from_fn(|lane| values[value(lane)]);
                tree.coordinates.extend(row);
            }
        }
        tree
    }

    /// Returns the tree's points, neighbors after neighbors: position in the list, and point.
    pub(crate) fn points(&self) -> impl Iterator<Item = (u32, u32)> {
        self.entries.iter().map(|entry| (entry.position, entry.point))
    }

    /// Returns the computed squared distance from a point of the cloud to the nearest of the tree's
    /// points, except the one at position `ignore`; infinity if there is no other.
    pub(crate) fn nearest(&self, point: u32, ignore: Option<u32>) -> T {
        let at = std::array::from_fn(|a| self.cloud.axes[a][point as usize]);
        let mut search = Search { tree: self, point, at, ignore, best: T::INFINITY };
        search.node(0);
        search.best
    }

    /// Returns the computed squared distances from a point of the cloud, which is `at`, to the points of a
    /// leaf; lanes without a point have that of the leaf's first.
    #[inline(always)]
    fn distances(&self, leaf: usize, point: u32, at: [T; 3]) -> [T; LEAF] {
        let dims = self.cloud.dims();
        let numbers = &self.coordinates[leaf * LEAF * dims..][..LEAF * dims];
        let mut sums = [T::ZERO; LEAF];
        for (axis, row) in numbers.chunks_exact(LEAF).enumerate() {
            let of = match axis {
                0..3 => at[axis],
                _ => self.cloud.axes[axis][point as usize],
            };
            for (sum, &x) in sums.iter_mut().zip(row) {
                // The first sum is 0 + a square, which is that square.
                *sum = *sum + (x - of) * (x - of);
            }
        }
        sums
    }

    fn leaves(&self) -> usize {
        self.boxes.len().div_ceil(2)
    }

    /// Returns the places of a leaf's points.
    fn places(&self, leaf: usize) -> Range<usize> {
        // Same halves as `split`: the longer half is the second.
        let (mut places, mut half) = (0..self.entries.len(), self.leaves() / 2);
        while half > 0 {
            let middle = places.start + places.len() / 2;
            places = if leaf & half == 0 { places.start..middle } else { middle..places.end };
            half /= 2;
        }
        places
    }
}

/// Halves the entries along the longest side of their box, until each part is a leaf.
fn split<T: Scalar>(entries: &mut [Entry<T>], boxes: &mut [Box3<T>], node: usize) {
    let bounds = Box3::enclosing(entries);
    boxes[node] = bounds;
    if 2 * node + 1 >= boxes.len() {
        return;
    }
    let axis = bounds.longest_axis();
    let middle = entries.len() / 2;
    entries.select_nth_unstable_by(middle, |a, b| {
        a.at[axis].partial_cmp(&b.at[axis]).unwrap_or(Ordering::Equal)
    });
    let (left, right) = entries.split_at_mut(middle);
    split(left, boxes, 2 * node + 1);
    split(right, boxes, 2 * node + 2);
}

struct Search<'a, T> {
    tree: &'a Neighbors<'a, T>,
    point: u32,
    at: [T; 3],
    ignore: Option<u32>,
    best: T,
}

impl<T: Scalar> Search<'_, T> {
    /// Lowers `best` to the nearest point below a node.
    fn node(&mut self, node: usize) {
        let first_leaf = self.tree.leaves() - 1;
        if node >= first_leaf {
            return self.leaf(node - first_leaf);
        }
        let (left, right) = (2 * node + 1, 2 * node + 2);
        let bounds = [left, right].map(|child| self.tree.boxes[child].bound(self.at));
        let order = if bounds[1] < bounds[0] { [1, 0] } else { [0, 1] };
        for child in order {
            if bounds[child] < self.best {
                self.node(left + child);
            }
        }
    }

    fn leaf(&mut self, leaf: usize) {
        let mut sums = self.tree.distances(leaf, self.point, self.at);
        if let Some(ignore) = self.ignore {
            let entries = &self.tree.entries[self.tree.places(leaf)];
            for (lane, sum) in sums.iter_mut().enumerate() {
                if entries.get(lane).unwrap_or(&entries[0]).position == ignore {
                    *sum = T::INFINITY;
                }
            }
        }
        self.best = sums.iter().fold(self.best, |a, &b| if b < a { b } else { a });
    }
}

#[cfg(test)]
mod tests {
    use super::Neighbors;
    use crate::cloud::WorkingCopy;
    use crate::{NonFinite, random::SplitMix64};

    #[test]
    fn nearest_matches_brute_force() {
        let mut random = SplitMix64::new(1);
        for n in [1usize, 2, 7, 8, 9, 16, 17, 63, 500] {
            // A coarse grid, so that there are ties and duplicates; the fourth axis counts.
            let rows: Vec<[f32; 4]> =
                (0..n).map(|_| std::array::from_fn(|_| random.below(7) as f32)).collect();
            let cloud = WorkingCopy::new(&rows, NonFinite::Error, 1).unwrap();
            let selected: Vec<u32> = (0..n as u32).filter(|p| p % 3 == 0).collect();
            let tree = Neighbors::new(&cloud, &selected);
            assert_eq!(tree.points().count(), selected.len());
            for point in 0..n as u32 {
                for ignore in [None, Some(0), Some(selected.len() as u32 / 2)] {
                    let others =
                        selected.iter().zip(0..).filter(|(_, position)| Some(*position) != ignore);
                    let best = others
                        .map(|(&other, _)| cloud.squared_distance(point, other))
                        .fold(f32::INFINITY, f32::min);
                    assert_eq!(tree.nearest(point, ignore), best);
                }
            }
        }
    }
}
