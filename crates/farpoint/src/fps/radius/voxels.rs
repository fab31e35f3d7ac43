//! Active voxels: points stored voxel after voxel, and the sphere test that is safe in
//! floating point.
//!
//! # The sphere test
//!
//! Let `c` be the center of a voxel as stored and `r` its radius, `s` the new sample, `D_v`
//! the largest squared distance in the voxel as stored. In real numbers, the voxel can be
//! left alone if `|s - c| - r >= sqrt(D_v)` (eq. 25), or `|s - c|^2 >= (r + sqrt(D_v))^2`.
//! The right side, the voxel's *reach*, changes only with `D_v`, so no square root is needed
//! for a test. Computed numbers need a slack. Let `u` be the unit roundoff and `q` the
//! smallest positive number. A sum or difference, even a subnormal one, is off by a factor in
//! `1-u..1+u`; a product by such a factor and at most `q / 2` more; a root by such a factor.
//!
//! 1. *Squared distances.* Let `t` be the real distance of two stored places over three axes
//!    and `x` its square as computed: three differences, squared, and two sums. Then
//!    `t^2 (1-u)^5 - 3 q/2 <= x <= t^2 (1+u)^5 + 2 q`. Further axes only add to `x`, and if
//!    something overflows, `x` is infinite, where the lower bound holds all the more.
//! 2. *[`above`].* If the computed square of `t` is at most `x`, then `t <= above(x)`: by 1,
//!    `t^2 <= (x + 3 q/2) (1-u)^-5`. The computed `x + 2 q` is at least
//!    `(x + 3 q/2) (1-u)`, its computed root at least `sqrt(x + 3 q/2) (1-u)^1.5` and never
//!    subnormal, and the product with `1 + 8 u` at least `sqrt(x + 3 q/2) (1-u)^-2.5`.
//! 3. *Radius.* `r` is at least `above` of the largest computed square of `|p - c|` over the
//!    points `p` of the voxel. So by 2 `|p - c| <= r` in real numbers: it does not matter how
//!    `c` was rounded nor whether a point near a border came into the right voxel.
//! 4. *[`reach`].* If the sample makes some distance of the voxel smaller, then the computed
//!    square of `|p - s|` is below `D_v`, so `|p - s| <= above(D_v) = a` by 2, so
//!    `|s - c| <= r + a`, whose computed square is at most `(r + a)^2 (1+u)^5 + 2 q` by 1.
//!    The computed square `S` of the computed `r + a` is at least `(r + a)^2 (1-u)^3 - q/2`.
//!    So the computed square of `|s - c|` is at most
//!    `(S + q/2) (1+u)^5 (1-u)^-3 + 2 q <= S (1 + 9 u) + 3 q`, and `reach` is the computed
//!    `S (1 + 16 u) + 8 q`, which is at least `S (1 + 13 u) + 7 q`.
//!
//! So a voxel whose computed `|s - c|^2` is *above* its reach is not changed. If the reach
//! overflows it is infinite, nothing is above it, and the voxel is visited. If `|s - c|^2`
//! alone overflows, it would be above the largest number, and so above the reach, without the
//! overflow as well.

use super::grid::Grid;
use crate::Scalar;
use crate::cloud::{PADDING, WorkingCopy};
use crate::memory::{self, Aligned};
use crate::threads::Team;

/// Unknown farthest point of a voxel.
pub(super) const NONE: u32 = u32::MAX;

/// Points and voxels are places in arrays; voxel `k` has the places `first[k]..first[k + 1]`.
/// Arrays that vectors are loaded from are padded by at least [`PADDING`].
pub(super) struct Voxels<T> {
    /// Number of active voxels, K.
    pub(super) len: usize,
    pub(super) first: Vec<u32>,
    /// The point in each place, in index order within a voxel.
    pub(super) points: Vec<u32>,
    /// Coordinates of the points, by axis.
    pub(super) axes: Vec<Aligned<T>>,
    /// `Dist_p`, squared; -1 for chosen points.
    pub(super) distance: Aligned<T>,
    /// `Dist_v`, squared; -1 where all points are chosen.
    pub(super) largest: Aligned<T>,
    /// The place of the first point that has `Dist_v`, or [`NONE`].
    pub(super) best: Vec<u32>,
    /// Centers, by axis.
    pub(super) centers: [Aligned<T>; 3],
    /// Radii.
    pub(super) radius: Vec<T>,
    /// Squared distance from the center beyond which a sample changes nothing.
    pub(super) reach: Aligned<T>,
}

impl<T: Scalar> Voxels<T> {
    /// Sorts the points into the voxels of a grid; all distances are infinite. Only active
    /// voxels are stored (eq. 9).
    pub(super) fn new(cloud: &WorkingCopy<T>, grid: &Grid, team: &Team) -> Self {
        let keys = grid.sorted_keys(cloud, team);
        let points = memory::collected(keys.iter().map(|&key| key as u32));
        let runs = || keys.chunk_by(|a, b| a >> 32 == b >> 32);
        let mut first = vec![0];
        memory::extend(
            &mut first,
            runs().scan(0, |end, run| {
                *end += run.len() as u32;
                Some(*end)
            }),
        );
        let len = first.len() - 1;
        let padded = |n: usize| n + PADDING;
        let axes = cloud.axes.iter().map(|values| {
            team.check();
            let mut stored = Aligned::new(padded(cloud.len), T::ZERO);
            for (stored, &point) in stored.iter_mut().zip(&points) {
                *stored = values[point as usize];
            }
            stored
        });
        let below = T::from_f64(-1.0);
        let mut voxels = Self {
            len,
            axes: axes.collect(),
            first,
            points,
            distance: Aligned::new(padded(cloud.len), T::INFINITY),
            largest: Aligned::new(padded(len), below),
            best: memory::filled(len, NONE),
            centers: std::array::from_fn(|_| Aligned::new(padded(len), T::ZERO)),
            radius: memory::with_capacity(len),
            reach: Aligned::new(padded(len), below),
        };
        for (voxel, run) in runs().enumerate() {
            team.check();
            voxels.set_sphere(voxel, grid.center(run[0] >> 32), grid.radius());
        }
        voxels
    }

    /// Sets the sphere of a voxel: the paper's radius (eq. 10), or a larger one that covers its points.
    fn set_sphere(&mut self, voxel: usize, center: [T; 3], radius: T) {
        let places = self.first[voxel] as usize..self.first[voxel + 1] as usize;
        let square = |axis: usize, place: usize| {
            let difference = self.axes[axis][place] - center[axis];
            difference * difference
        };
        let farthest = places
            .map(|place| (square(0, place) + square(1, place)) + square(2, place))
            .fold(T::ZERO, |a, b| if b > a { b } else { a });
        let needed = above(farthest);
        self.radius.push(if needed > radius { needed } else { radius });
        for (centers, center) in self.centers.iter_mut().zip(center) {
            centers[voxel] = center;
        }
        self.largest[voxel] = T::INFINITY;
        self.reach[voxel] = T::INFINITY;
    }
}

/// Returns an upper bound of the real distance of two places whose computed square is at most `x`: point 2
/// of the module's proof. `x` is not negative.
fn above<T: Scalar>(x: T) -> T {
    let smallest = T::ZERO.next_up();
    (x + (smallest + smallest)).sqrt() * one_plus::<T>(8)
}

/// Returns the squared distance from the center above which no sample changes a voxel of
/// this radius and `Dist_v`: point 4 of the module's proof.
#[inline(always)]
pub(super) fn reach<T: Scalar>(radius: T, largest: T) -> T {
    if largest < T::ZERO {
        return largest;
    }
    let smallest = T::ZERO.next_up();
    let smallest_8 = smallest * T::from_f64(8.0);
    let sum = radius + above(largest);
    sum * sum * one_plus::<T>(16) + smallest_8
}

/// Returns `1 + k u` for the unit roundoff `u` and an even `k`, exactly.
#[inline(always)]
fn one_plus<T: Scalar>(k: u32) -> T {
    let one = T::from_f64(1.0);
    // The next number after 1 is 1 + 2 u.
    one + (one.next_up() - one) * T::from_f64(f64::from(k / 2))
}
