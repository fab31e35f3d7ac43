//! One step: bring the voxels up to date with a new sample, and find the next.

use super::voxels::{NONE, Voxels, reach};
use crate::RadiusOptions;
use crate::Scalar;
use crate::distance::{square, squared};
use crate::fps::tree::for_each_bit;
use crate::memory::{self, MAX_LANES};
use crate::simd::{Kernel, Simd};

pub(super) struct Step<'a, T> {
    pub(super) voxels: &'a mut Voxels<T>,
    /// Buffer for the voxels to visit.
    pub(super) visits: &'a mut Vec<u32>,
    /// Place of the sample.
    pub(super) place: usize,
    pub(super) options: &'a RadiusOptions,
    /// True if effective updates are counted.
    pub(super) count: bool,
}

/// The farthest point: its place and its squared distance, -1 if all are chosen.
pub(super) struct Farthest<T> {
    pub(super) place: usize,
    pub(super) value: T,
}

/// Counts of a step.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) tested: u64,
    pub(super) pruned: u64,
    pub(super) skipped: u64,
    pub(super) distances: u64,
    pub(super) effective: u64,
}

impl<T: Scalar> Kernel<T> for Step<'_, T> {
    type Output = (Farthest<T>, Counts);

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output {
        match (self.voxels.axes.len(), self.count) {
            (3, false) => self.step::<S, 3, false>(simd),
            (3, true) => self.step::<S, 3, true>(simd),
            (_, false) => self.step::<S, 0, false>(simd),
            (_, true) => self.step::<S, 0, true>(simd),
        }
    }
}

impl<T: Scalar> Step<'_, T> {
    /// `DIMS` is the number of axes if known, else 0.
    #[inline(always)]
    fn step<S: Simd<T>, const DIMS: usize, const COUNT: bool>(
        mut self,
        simd: S,
    ) -> (Farthest<T>, Counts) {
        let mut counts = Counts::default();
        self.voxels.distance[self.place] = T::from_f64(-1.0);
        self.list_visits(simd, &mut counts);
        let visit = Visit::new(simd, self.voxels, self.place, self.options.point_skip);
        for &voxel in &*self.visits {
            visit.voxel::<DIMS, COUNT>(self.voxels, voxel as usize, &mut counts);
        }
        (farthest(simd, self.voxels), counts)
    }

    /// Lists the voxels that the sample may change (eq. 25): all without radius pruning.
    #[inline(always)]
    fn list_visits<S: Simd<T>>(&mut self, simd: S, counts: &mut Counts) {
        let Voxels { len, axes, centers, reach, .. } = &*self.voxels;
        self.visits.clear();
        if !self.options.radius_pruning {
            self.visits.extend(0..*len as u32);
            return;
        }
        let sample = |a: usize| simd.splat(axes[a][self.place]);
        let [x, y, z] = [sample(0), sample(1), sample(2)];
        for voxel in (0..*len).step_by(S::LANES) {
            // SAFETY: the voxel is below the arrays' length.
            let reached = unsafe {
                let load = |a: usize| centers[a].load(simd, voxel);
                let squared = squared(simd, [load(0), load(1), load(2)], [x, y, z]);
                simd.le(squared, reach.load(simd, voxel))
            };
            for_each_bit(reached, |lane| self.visits.push(voxel as u32 + lane));
        }
        counts.tested = *len as u64;
        counts.pruned = (*len - self.visits.len()) as u64;
    }
}

/// Constants for every voxel that a step visits.
struct Visit<T, S: Simd<T>> {
    simd: S,
    sample: [S::V; 3],
    place: usize,
    skip: bool,
    /// `inside[MAX_LANES - n..]` is infinite in the first `n` lanes and -1 in the others.
    inside: [T; 2 * MAX_LANES],
    /// The other way round.
    outside: [T; 2 * MAX_LANES],
}

impl<T: Scalar, S: Simd<T>> Visit<T, S> {
    #[inline(always)]
    fn new(simd: S, voxels: &Voxels<T>, place: usize, skip: bool) -> Self {
        let below = T::from_f64(-1.0);
        let [mut inside, mut outside] = [[T::INFINITY; 2 * MAX_LANES]; 2];
        inside[MAX_LANES..].fill(below);
        outside[..MAX_LANES].fill(below);
        let sample = std::array::from_fn(|a| simd.splat(voxels.axes[a][place]));
        Self { simd, sample, place, skip, inside, outside }
    }

    /// Lowers the distances in a voxel (eq. 29) and brings its state up to date (eq. 30).
    #[inline(always)]
    fn voxel<const DIMS: usize, const COUNT: bool>(
        &self,
        voxels: &mut Voxels<T>,
        voxel: usize,
        counts: &mut Counts,
    ) {
        let simd = self.simd;
        let (start, end) = (voxels.first[voxel] as usize, voxels.first[voxel + 1] as usize);
        let mut lane_max = simd.splat(T::from_f64(-1.0));
        for at in (start..end).step_by(S::LANES) {
            // The last vector reaches beyond the voxel; those places stay as they are.
            let lanes = (end - at).min(S::LANES);
            // SAFETY: `at` is the place of a point, and arrays of points are padded by more
            // than a vector.
            let value = unsafe { self.vector::<DIMS, COUNT>(voxels, at, lanes, counts) };
            // SAFETY: `lanes` and a vector are at most `MAX_LANES`; the array has twice as many.
            let inside = unsafe { memory::load(simd, &self.inside, MAX_LANES - lanes) };
            lane_max = simd.max(lane_max, simd.min(value, inside));
        }
        let largest = simd.largest(lane_max);
        voxels.best[voxel] = NONE;
        if largest != voxels.largest[voxel] {
            voxels.largest[voxel] = largest;
            voxels.reach[voxel] = reach(voxels.radius[voxel], largest);
        }
    }

    /// Lowers the distances of the first `lanes` places from `at` on; returns them.
    ///
    /// # Safety
    /// `at + S::LANES` must lie within the padded arrays of points.
    #[inline(always)]
    unsafe fn vector<const DIMS: usize, const COUNT: bool>(
        &self,
        voxels: &mut Voxels<T>,
        at: usize,
        lanes: usize,
        counts: &mut Counts,
    ) -> S::V {
        let simd = self.simd;
        let dims = if DIMS > 0 { DIMS } else { voxels.axes.len() };
        // SAFETY: the caller ensures that the vector at `at` is in the arrays of points; `lanes` and
        // a vector are at most `MAX_LANES`, and `outside` has twice as many numbers.
        unsafe {
            let old = voxels.distance.load(simd, at);
            let load = |axis: usize| voxels.axes.get_unchecked(axis).load(simd, at);
            let term = |a: usize| square(simd, load(a), self.sample[a]);
            let [x, y, z] = [term(0), term(1), term(2)];
            if self.skip {
                let within = u32::MAX >> (32 - lanes);
                if simd.lt(simd.max(simd.max(x, y), z), old) & within == 0 {
                    counts.skipped += lanes as u64;
                    return old;
                }
            }
            let mut new = simd.add(simd.add(x, y), z);
            for axis in 3..dims {
                let of = simd.splat(voxels.axes[axis][self.place]);
                new = simd.add(new, square(simd, load(axis), of));
            }
            let outside = memory::load(simd, &self.outside, MAX_LANES - lanes);
            new = simd.max(new, outside);
            if COUNT {
                counts.effective += u64::from(simd.lt(new, old).count_ones());
            }
            counts.distances += lanes as u64;
            let new = simd.min(new, old);
            memory::store(simd, &mut voxels.distance, at, new);
            new
        }
    }
}

/// Two-level search (eq. 15 and 16): the largest distance of the voxels, then in each voxel that has it
/// the first point that has it, of which the lowest index is returned.
#[inline(always)]
fn farthest<T: Scalar, S: Simd<T>>(simd: S, voxels: &mut Voxels<T>) -> Farthest<T> {
    let mut lane_max = simd.splat(T::from_f64(-1.0));
    for voxel in (0..voxels.len).step_by(S::LANES) {
        // SAFETY: the voxel is below the array's length; what lies beyond the last is -1.
        lane_max = unsafe { simd.max(lane_max, voxels.largest.load(simd, voxel)) };
    }
    let value = simd.largest(lane_max);
    if value <= T::ZERO {
        return Farthest { place: 0, value };
    }
    let mut place = NONE;
    for first in (0..voxels.len).step_by(S::LANES) {
        // SAFETY: the voxel is below the array's length.
        let equal = unsafe { simd.eq(voxels.largest.load(simd, first), simd.splat(value)) };
        for_each_bit(equal, |lane| {
            let candidate = farthest_in(simd, voxels, first + lane as usize);
            let index = |place: u32| voxels.points[place as usize];
            if place == NONE || index(candidate) < index(place) {
                place = candidate;
            }
        });
    }
    Farthest { place: place as usize, value }
}

/// Returns the place of the first point of a voxel that has its largest distance. It is searched
/// on first use, and cached until the voxel is next visited.
#[inline(always)]
fn farthest_in<T: Scalar, S: Simd<T>>(simd: S, voxels: &mut Voxels<T>, voxel: usize) -> u32 {
    if voxels.best[voxel] == NONE {
        let value = simd.splat(voxels.largest[voxel]);
        let mut at = voxels.first[voxel] as usize;
        voxels.best[voxel] = loop {
            // SAFETY: a point of the voxel has the value, so that `at` is a place of it.
            let equal = unsafe { simd.eq(voxels.distance.load(simd, at), value) };
            if equal != 0 {
                break at as u32 + equal.trailing_zeros();
            }
            at += S::LANES;
        };
    }
    voxels.best[voxel]
}
