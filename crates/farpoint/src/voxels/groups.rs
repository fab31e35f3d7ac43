//! Points by voxel, and the point that stands for each voxel.

use super::keys::Keys;
use super::numbering::Numbers;
use super::prepared::{Prepared, random_place};
use crate::memory::{self, Aligned};
use crate::{Scalar, VoxelGrid, Voxels, threads};
use std::cmp::Ordering;

/// Points by voxel.
pub(crate) struct Groups {
    /// Voxel of each point, or `NONE`.
    pub(crate) of: Vec<u32>,
    /// Number of points of each voxel.
    pub(crate) counts: Vec<u32>,
    /// First point of each voxel.
    pub(crate) first: Vec<u32>,
}

const NONE: u32 = Voxels::<f32>::NONE;

/// Number of axes that are summed at a time.
const AXES: usize = 3;

impl Groups {
    pub(crate) fn new(Numbers { of, first }: Numbers) -> Self {
        let mut counts = memory::zeros(first.len());
        of.iter().for_each(|&voxel| counts[voxel as usize] += 1);
        Self { of, counts, first }
    }

    /// Returns the voxels that remain, in the order of their new numbers.
    pub(super) fn kept<T: Scalar>(
        &self,
        job: &VoxelGrid,
        cloud: &Prepared<T>,
        keys: &Keys,
        threads: usize,
    ) -> Vec<u32> {
        let enough = |&voxel: &u32| self.counts[voxel as usize] >= job.min_points;
        let kept = memory::collected((0..self.counts.len() as u32).filter(enough));
        match (job.sorted, keys.unique) {
            (false, _) => kept,
            (true, true) => self.sorted_by_key(&kept, keys, threads),
            (true, false) => self.sorted_by_cell(kept, cloud),
        }
    }

    fn sorted_by_key(&self, voxels: &[u32], keys: &Keys, threads: usize) -> Vec<u32> {
        let key = |voxel: u32| keys.all[self.first[voxel as usize] as usize];
        let mut pairs = memory::collected(voxels.iter().map(|&voxel| (key(voxel), voxel)));
        match threads {
            1 => pairs.sort_unstable(),
            _ => threads::sort(&mut pairs),
        }
        memory::collected(pairs.into_iter().map(|(_, voxel)| voxel))
    }

    fn sorted_by_cell<T: Scalar>(&self, mut voxels: Vec<u32>, cloud: &Prepared<T>) -> Vec<u32> {
        let cell = |voxel: u32, axis| cloud.cell_at(axis, self.first[voxel as usize] as usize).0;
        let on_axis = |a, b, axis| cell(a, axis).cmp(&cell(b, axis));
        voxels.sort_unstable_by(|&a, &b| {
            let by_axis = |order: Ordering, axis| order.then_with(|| on_axis(a, b, axis));
            (0..cloud.dims()).fold(Ordering::Equal, by_axis)
        });
        voxels
    }

    /// Numbers these voxels as they come and leaves out all others.
    pub(super) fn renumber(&mut self, kept: &[u32]) {
        let mut numbers = memory::filled(self.counts.len(), NONE);
        (0..).zip(kept).for_each(|(number, &voxel)| numbers[voxel as usize] = number);
        self.of.iter_mut().for_each(|voxel| *voxel = numbers[*voxel as usize]);
        let pick = |from: &[u32]| memory::collected(kept.iter().map(|&voxel| from[voxel as usize]));
        (self.counts, self.first) = (pick(&self.counts), pick(&self.first));
    }

    /// Calls `visit` with each point that is in a voxel, ascending, and its voxel.
    fn for_each(&self, mut visit: impl FnMut(usize, usize)) {
        for (point, &voxel) in self.of.iter().enumerate().filter(|(_, voxel)| **voxel != NONE) {
            visit(point, voxel as usize);
        }
    }

    /// Returns the point of each voxel that is nearest to its center.
    pub(crate) fn nearest_to_center<T: Scalar>(&self, cloud: &Prepared<T>) -> Vec<u32> {
        let half = T::from_f64(0.5);
        let mut best = memory::filled(self.counts.len(), (T::INFINITY, NONE));
        self.for_each(|point, voxel| {
            let distance = (0..cloud.dims()).fold(T::ZERO, |sum, axis| {
                let (cell, q) = cloud.cell_at(axis, point);
                let off = (q - T::from_f64(f64::from(cell))) - half;
                sum + off * off
            });
            if distance < best[voxel].0 {
                best[voxel] = (distance, point as u32);
            }
        });
        memory::collected(best.into_iter().map(|(_, point)| point))
    }

    /// Returns the random point of each voxel; `cells` has `dims` numbers for each.
    pub(crate) fn random(&self, seed: u64, cells: &[i32], dims: usize) -> Vec<u32> {
        let cell = |voxel: usize| &cells[voxel * dims..][..dims];
        let place = |(voxel, &count)| random_place(seed, cell(voxel), count);
        // Number of points of the voxel to pass over.
        let mut skips = memory::collected(self.counts.iter().enumerate().map(place));
        let mut chosen = memory::zeros(self.counts.len());
        self.for_each(|point, voxel| {
            if skips[voxel] == 0 {
                chosen[voxel] = point as u32;
            }
            skips[voxel] = skips[voxel].wrapping_sub(1);
        });
        chosen
    }

    /// Returns the means of the coordinates of each voxel.
    pub(crate) fn means<T: Scalar>(&self, cloud: &Prepared<T>, threads: usize) -> Vec<T> {
        let (dims, voxels) = (cloud.dims(), self.counts.len());
        let mut means = memory::zeros(voxels * dims);
        // A part of the voxels per thread: each thread reads the voxels of all points from its first one on.
        let each = voxels.div_ceil(threads).max(1);
        threads::for_each_chunk(&mut means, each * dims.max(1), threads, |part, means| {
            for first_axis in (0..dims).step_by(AXES) {
                self.means_of_axes(cloud, part * each, first_axis, means);
            }
        });
        means
    }

    /// Computes the means of some voxels, from `first` on, on up to `AXES` axes.
    fn means_of_axes<T: Scalar>(
        &self,
        cloud: &Prepared<T>,
        first: usize,
        first_axis: usize,
        means: &mut [T],
    ) {
        let dims = cloud.dims();
        let voxels = first..first + means.len() / dims;
        // Axes beyond the last are the last one again, and not used.
        let axes: [&[T]; AXES] =
            std::array::from_fn(|k| cloud.axis((first_axis + k).min(dims - 1)));
        let mut sums = Aligned::new(voxels.len(), [0.0f64; AXES]);
        let start = self.first[voxels.clone()].iter().min().map_or(0, |&point| point as usize);
        for (point, &voxel) in self.of.iter().enumerate().skip(start) {
            // Voxels of other parts, and none, are beyond the end.
            if let Some(sums) = sums.get_mut((voxel as usize).wrapping_sub(first)) {
                sums.iter_mut().zip(axes).for_each(|(sum, axis)| *sum += axis[point].to_f64());
            }
        }
        let counts = &self.counts[voxels];
        for ((mean, sums), &count) in means.chunks_exact_mut(dims).zip(&*sums).zip(counts) {
            for (mean, sum) in mean[first_axis..].iter_mut().zip(sums) {
                *mean = T::from_f64(sum / f64::from(count));
            }
        }
    }
}
