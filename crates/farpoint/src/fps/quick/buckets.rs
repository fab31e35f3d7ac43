//! The buckets: a KD-tree of fixed height, of which only the leaves are kept.

use crate::Scalar;
use crate::cloud::{PADDING, WorkingCopy};
use crate::memory::{self, Aligned, MAX_LANES};
use crate::spatial::NONE;
use crate::threads::Team;

/// Capacity of a bucket's pending list; a full one is visited.
pub(super) const PENDING: usize = 32;

/// Points are stored in slots; bucket `b` has the slots `first[b]..first[b + 1]`, of which the
/// last may be empty.
pub(super) struct Buckets<T> {
    /// Number of buckets. Arrays over buckets are longer by [`PADDING`], where the largest distance
    /// is -1; those over slots are of whole vectors, at multiples of which buckets begin.
    pub(super) len: usize,
    pub(super) first: Vec<u32>,
    /// The point in each slot, in index order within a bucket, or [`NONE`].
    pub(super) points: Vec<u32>,
    /// Coordinates of the points, by axis.
    pub(super) axes: Vec<Aligned<T>>,
    /// Squared distances, as far as pending samples have been applied; -1 for chosen points
    /// and empty slots.
    pub(super) distance: Aligned<T>,
    /// Largest squared distance of each bucket, pending samples included.
    pub(super) largest: Aligned<T>,
    /// The first slot with the largest distance.
    pub(super) best: Vec<u32>,
    /// Corners of the buckets' boxes, by axis.
    pub(super) low: Vec<Aligned<T>>,
    pub(super) high: Vec<Aligned<T>>,
    /// Slots of the delayed samples, [`PENDING`] places a bucket.
    pub(super) pending: Vec<u32>,
    pub(super) waiting: Vec<u8>,
}

impl<T: Scalar> Buckets<T> {
    /// Splits the cloud; all distances are infinite.
    pub(super) fn new(cloud: &WorkingCopy<T>, height: u32, team: &Team) -> Self {
        let mut order = memory::collected(0..cloud.len as u32);
        let mut leaves = Leaves { points: Vec::new(), corners: Vec::new() };
        let mut splitter = Splitter { cloud, spare: Vec::new(), leaves: &mut leaves, team };
        splitter.split(&mut order, height);
        let len = leaves.points.len();
        let mut first = vec![0u32];
        memory::extend(
            &mut first,
            leaves.points.iter().scan(0, |end, points| {
                *end += points.div_ceil(MAX_LANES) * MAX_LANES;
                Some(*end as u32)
            }),
        );
        let slots = first[len] as usize;
        let (below, padded) = (T::from_f64(-1.0), len + PADDING);
        let array = |n: usize, value: T| Aligned::new(n, value);
        let dims = cloud.dims();
        let mut buckets = Self {
            len,
            points: memory::filled(slots, NONE),
            axes: (0..dims).map(|_| array(slots, T::ZERO)).collect(),
            distance: array(slots, below),
            largest: array(padded, below),
            best: memory::collected(first[..len].iter().copied()),
            low: (0..dims).map(|_| array(padded, T::ZERO)).collect(),
            high: (0..dims).map(|_| array(padded, T::ZERO)).collect(),
            pending: memory::zeros(len * PENDING),
            waiting: memory::zeros(len),
            first,
        };
        let mut rest = &order[..];
        for (bucket, corners) in leaves.corners.chunks_exact(dims).enumerate() {
            let (points, after) = rest.split_at(leaves.points[bucket]);
            rest = after;
            team.check();
            buckets.fill(cloud, bucket, points, corners);
        }
        buckets
    }

    fn fill(&mut self, cloud: &WorkingCopy<T>, bucket: usize, points: &[u32], corners: &[(T, T)]) {
        let start = self.first[bucket] as usize;
        self.points[start..][..points.len()].copy_from_slice(points);
        self.distance[start..][..points.len()].fill(T::INFINITY);
        self.largest[bucket] = T::INFINITY;
        for (axis, &(low, high)) in corners.iter().enumerate() {
            for (stored, &point) in self.axes[axis][start..].iter_mut().zip(points) {
                *stored = cloud.axes[axis][point as usize];
            }
            (self.low[axis][bucket], self.high[axis][bucket]) = (low, high);
        }
    }

    /// Returns the slots of points.
    pub(super) fn slots(&self, points: &[u32]) -> Vec<usize> {
        if let [point] = points[..] {
            return self.points.iter().position(|&p| p == point).into_iter().collect();
        }
        let mut slot_of = memory::zeros(self.points.len());
        for (slot, &point) in self.points.iter().enumerate().filter(|(_, p)| **p != NONE) {
            slot_of[point as usize] = slot;
        }
        memory::collected(points.iter().map(|&point| slot_of[point as usize]))
    }

    /// Returns the bucket of a slot.
    pub(super) fn bucket_of(&self, slot: usize) -> usize {
        self.first.partition_point(|&first| first as usize <= slot) - 1
    }
}

/// Future buckets: the number of points of each, and its box by axis, one after another.
struct Leaves<T> {
    points: Vec<usize>,
    corners: Vec<(T, T)>,
}

struct Splitter<'a, T> {
    cloud: &'a WorkingCopy<T>,
    spare: Vec<u32>,
    leaves: &'a mut Leaves<T>,
    /// Checked before each part.
    team: &'a Team,
}

impl<T: Scalar> Splitter<'_, T> {
    /// Halves the points at the mean of their widest axis, `height` times; each half keeps the
    /// order of indices.
    fn split(&mut self, points: &mut [u32], height: u32) {
        self.team.check();
        let corners = self.corners(points);
        let width = |axis: usize| corners[axis].1.to_f64() - corners[axis].0.to_f64();
        let widest = (1..corners.len())
            .fold(0, |best, axis| if width(axis) > width(best) { axis } else { best });
        let (low, high) = corners[widest];
        if height == 0 || points.len() <= MAX_LANES || low >= high {
            memory::push(&mut self.leaves.points, points.len());
            memory::extend(&mut self.leaves.corners, corners);
            return;
        }
        let share = 1.0 / points.len() as f64;
        let values = &self.cloud.axes[widest];
        let value = |&point: &u32| values[point as usize];
        // Shares are added, so that no sum overflows.
        let mean = T::from_f64(points.iter().map(|point| value(point).to_f64() * share).sum());
        // Rounded out of the box: then the highest are parted from the others.
        let mean = if mean > low && mean <= high { mean } else { high };
        self.spare.clear();
        let mut below_count = 0;
        for k in 0..points.len() {
            let point = points[k];
            if value(&point) < mean {
                points[below_count] = point;
                below_count += 1;
            } else {
                memory::push(&mut self.spare, point);
            }
        }
        points[below_count..].copy_from_slice(&self.spare);
        let (below, above) = points.split_at_mut(below_count);
        self.split(below, height - 1);
        self.split(above, height - 1);
    }

    /// Returns the bounding box of the points, as the bounds of each axis.
    fn corners(&self, points: &[u32]) -> Vec<(T, T)> {
        let corners = |values: &Aligned<T>| {
            let first = values[points[0] as usize];
            points.iter().fold((first, first), |(low, high), &point| {
                let x = values[point as usize];
                (if x < low { x } else { low }, if x > high { x } else { high })
            })
        };
        self.cloud.axes.iter().map(corners).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NonFinite;

    fn buckets(rows: &[[f32; 2]], height: u32) -> Buckets<f32> {
        let cloud = WorkingCopy::new(&rows, NonFinite::Error, 1).unwrap();
        Buckets::new(&cloud, height, &Team::single())
    }

    #[test]
    fn every_point_is_in_one_bucket_and_in_its_box() {
        let mut random = crate::random::SplitMix64::new(1);
        let rows: Vec<[f32; 2]> =
            (0..3000).map(|_| std::array::from_fn(|_| random.below(50) as f32)).collect();
        let found = buckets(&rows, 5);
        assert_eq!(found.len, 32);
        let mut seen = vec![false; rows.len()];
        for bucket in 0..found.len {
            let slots = found.first[bucket] as usize..found.first[bucket + 1] as usize;
            let points: Vec<u32> =
                found.points[slots].iter().copied().filter(|p| *p != NONE).collect();
            assert!(points.windows(2).all(|pair| pair[0] < pair[1]), "in index order");
            for point in points {
                assert!(!std::mem::replace(&mut seen[point as usize], true));
                for (axis, x) in rows[point as usize].into_iter().enumerate() {
                    assert!(found.low[axis][bucket] <= x && x <= found.high[axis][bucket]);
                }
            }
        }
        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn numbers_at_the_edge_can_be_split() {
        let far = [f32::MAX, -f32::MAX, 1e-45, 0.0];
        let rows: Vec<[f32; 2]> = (0..400).map(|k| [far[k % 4], far[k / 4 % 4]]).collect();
        assert!(buckets(&rows, 8).len > 4);
        assert_eq!(buckets(&vec![[1.0, 1.0]; 400], 8).len, 1);
        assert_eq!(buckets(&vec![[1.0, 1.0]; 400], 0).len, 1);
    }
}
