//! Partition of space into voxels (the paper's section 3.2).
//!
//! In `f64` for both precisions. The exact position of a border does not matter: spheres are
//! made to cover the points of their voxels.

use crate::Scalar;
use crate::cloud::WorkingCopy;
use crate::fps::selection::sort_all;
use crate::memory::{self, Buffer};
use crate::threads::Team;

/// Maximum number of voxels along an axis.
pub(in crate::fps) const MAX_VOXELS: u32 = 1024;

/// Target number of active voxels, over the square root of the number of points: a sample tests all
/// voxels and visits the points of a dozen, and this balances the two.
///
/// Measured with `examples/nvox.rs` (AVX-512, one thread, a quarter of the points, f32) as
/// the fastest of five or so values of `nvox` a cloud: 1.5 on rooms and objects of 10,000
/// points, 2 on a ScanNet scene of 40,684, 2.5 to 4 on rooms, objects, a cube and a LiDAR
/// turn of 100,000, 3.5 to 6 on a KITTI turn of 124,668, 2 to 3 on a room of 1,000,000. The
/// minimum is flat: half or twice as many voxels cost at most a third more time.
const ACTIVE: f64 = 2.5;

/// Points whose voxels are found between two checks of the team: some 20 us.
const POINTS_A_CHECK: usize = 1 << 13;

/// The grid. A voxel's id counts x fastest.
pub(super) struct Grid {
    low: [f64; 3],
    /// Side of a voxel, L (eq. 7).
    side: f64,
    nvox: u32,
}

impl Grid {
    /// Factor by which the box is enlarged, so that its far side lies inside the last voxel.
    const EXPANSION: f64 = 1.0 + 1e-6;

    /// Creates a grid of `nvox` voxels along the longest side of the cloud's box.
    pub(super) fn new<T: Scalar>(cloud: &WorkingCopy<T>, nvox: u32) -> Self {
        let low = cloud.low.map(T::to_f64);
        let high = cloud.high.map(T::to_f64);
        let longest = (0..3).map(|a| high[a] - low[a]).fold(0.0, f64::max);
        // The extent of `f64` coordinates can overflow: then all is one voxel, always visited.
        Self { low, side: longest * Self::EXPANSION / f64::from(nvox), nvox }
    }

    /// Creates the default grid: one with about [`ACTIVE`]` * sqrt(points)` active
    /// voxels. The first guess is right for a surface that fills about three voxels for every
    /// one of `nvox * nvox`, as rooms and objects do; its number of active voxels shows how
    /// much finer or coarser a grid the surface needs (far finer for a LiDAR turn, whose box is
    /// mostly empty).
    pub(super) fn chosen<T: Scalar>(cloud: &WorkingCopy<T>, team: &Team) -> Self {
        let target = ACTIVE * (cloud.len as f64).sqrt();
        let guess = (target / 3.0).sqrt();
        let grid = Self::new(cloud, (guess.round() as u32).clamp(1, MAX_VOXELS));
        let better = f64::from(grid.nvox) * (target / grid.active(cloud, team) as f64).sqrt();
        Self::new(cloud, (better.round() as u32).clamp(1, MAX_VOXELS))
    }

    /// Counts the active voxels. Takes `nvox^3` bytes.
    fn active<T: Scalar>(&self, cloud: &WorkingCopy<T>, team: &Team) -> usize {
        let mut active = memory::zeros((self.nvox as usize).pow(3));
        self.ids(cloud, team).for_each(|id| active[id as usize] = true);
        team.check();
        active.into_iter().filter(|&active| active).count()
    }

    /// Returns the voxel of every point (eq. 8), with checks of the team between some of them.
    fn ids<T: Scalar>(&self, cloud: &WorkingCopy<T>, team: &Team) -> impl Iterator<Item = u32> {
        let scale = 1.0 / self.side;
        // NaN (no extent: 0 / 0) becomes 0 and larger values the last voxel.
        let cell = move |axis: usize, point: usize| {
            let offset = cloud.axes[axis][point].to_f64() - self.low[axis];
            ((offset * scale) as u32).min(self.nvox - 1)
        };
        (0..cloud.len).map(move |point| {
            if point % POINTS_A_CHECK == 0 {
                team.check();
            }
            let [x, y, z] = [cell(0, point), cell(1, point), cell(2, point)];
            (z * self.nvox + y) * self.nvox + x
        })
    }

    /// Returns the voxel of every point above the point's index, sorted.
    pub(super) fn sorted_keys<T: Scalar>(
        &self,
        cloud: &WorkingCopy<T>,
        team: &Team,
    ) -> Buffer<u64> {
        let mut keys: Vec<u64> = memory::collected(
            self.ids(cloud, team).zip(0..).map(|(id, point)| u64::from(id) << 32 | point),
        );
        sort_all(team, &mut keys)
    }

    /// Returns the center of a voxel.
    pub(super) fn center<T: Scalar>(&self, id: u64) -> [T; 3] {
        let nvox = u64::from(self.nvox);
        let cell = [id % nvox, id / nvox % nvox, id / nvox / nvox];
        std::array::from_fn(|a| T::from_f64(self.low[a] + (cell[a] as f64 + 0.5) * self.side))
    }

    /// Returns the radius of the sphere around a voxel, `sqrt(3) / 2 L` (eq. 10).
    pub(super) fn radius<T: Scalar>(&self) -> T {
        T::from_f64(3f64.sqrt() / 2.0 * self.side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NonFinite;
    use std::cell::Cell;

    #[test]
    fn the_team_is_checked_while_the_grid_is_chosen() {
        let points: Vec<_> = (0..10 * POINTS_A_CHECK).map(|k| [k as f32, 0.0, 0.0]).collect();
        let cloud = WorkingCopy::new(&points, NonFinite::Error, 1).unwrap();
        let (team, checks) = (Team::single(), Cell::new(0));
        team.between_tasks(&|| checks.set(checks.get() + 1), || Grid::chosen(&cloud, &team));
        assert!(checks.get() >= 10, "{} checks", checks.get());
    }
}
