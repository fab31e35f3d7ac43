//! Distances: one trait, so that every search is written once for both norms.

use crate::Scalar;
use crate::cloud::WorkingCopy;
use crate::simd::Simd;

/// A distance that is a sum over the axes, left to right. Every operation rounds on its own and
/// is monotone in the size of the difference.
pub(super) trait Metric: Copy + Send + Sync + 'static {
    /// True if zeros of either sign have the same distances, bit for bit.
    const ZEROS_ALIKE: bool;
    /// Returns the term of an axis for the coordinates `a` and `b`.
    fn part<T: Scalar>(a: T, b: T) -> T;
    /// Returns the same for vectors.
    fn parts<T, S: Simd<T>>(simd: S, a: S::V, b: S::V) -> S::V;
    /// Returns the term of an axis for a difference that is not negative.
    fn of_gap<T, S: Simd<T>>(simd: S, gap: S::V) -> S::V;
}

/// Norm 2, squared: `(dx*dx + dy*dy) + dz*dz`.
#[derive(Clone, Copy)]
pub(super) struct Squared;

impl Metric for Squared {
    const ZEROS_ALIKE: bool = true;
    #[inline(always)]
    fn part<T: Scalar>(a: T, b: T) -> T {
        (a - b) * (a - b)
    }
    #[inline(always)]
    fn parts<T, S: Simd<T>>(simd: S, a: S::V, b: S::V) -> S::V {
        crate::distance::square(simd, a, b)
    }
    #[inline(always)]
    fn of_gap<T, S: Simd<T>>(simd: S, gap: S::V) -> S::V {
        simd.mul(gap, gap)
    }
}

/// Norm 1: `(|dx| + |dy|) + |dz|`.
#[derive(Clone, Copy)]
pub(super) struct Absolute;

impl Metric for Absolute {
    const ZEROS_ALIKE: bool = false;
    #[inline(always)]
    fn part<T: Scalar>(a: T, b: T) -> T {
        if a > b { a - b } else { b - a }
    }
    #[inline(always)]
    fn parts<T, S: Simd<T>>(simd: S, a: S::V, b: S::V) -> S::V {
        simd.max(simd.sub(a, b), simd.sub(b, a))
    }
    #[inline(always)]
    fn of_gap<T, S: Simd<T>>(_: S, gap: S::V) -> S::V {
        gap
    }
}

/// Returns at most the computed distance between any point of one box and any point of another, like
/// [`crate::spatial::box_bound`]: by the distance's own operations. Boxes have three axes;
/// further axes only add to the distance. A point is a box.
#[inline(always)]
pub(super) fn bound<T, S: Simd<T>, M: Metric>(
    simd: S,
    [low, high]: [[S::V; 3]; 2],
    [other_low, other_high]: [[S::V; 3]; 2],
    zero: S::V,
) -> S::V {
    let gap = |a: usize| {
        let outside = simd.max(simd.sub(other_low[a], high[a]), simd.sub(low[a], other_high[a]));
        M::of_gap(simd, simd.max(outside, zero))
    };
    simd.add(simd.add(gap(0), gap(1)), gap(2))
}

/// Returns the distance of a query and a target, axis by axis from the left.
pub(super) fn distance<T: Scalar, M: Metric>(
    queries: &WorkingCopy<T>,
    query: u32,
    targets: &WorkingCopy<T>,
    target: u32,
) -> T {
    let part = |axis: usize| {
        M::part(queries.axes[axis][query as usize], targets.axes[axis][target as usize])
    };
    (1..queries.dims()).fold(part(0), |sum, axis| sum + part(axis))
}
