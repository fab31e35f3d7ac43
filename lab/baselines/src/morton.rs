//! Even steps along a Morton curve (EdgePC, Ying et al., ISCA 2023).
//!
//! Cells are cubes, the longest side of the box divided by `2^bits`. Points are sorted by the
//! code of their cell and then by index; sample `i` of M is at position `floor(i N / M)`, so that
//! the steps run over the whole curve. O(points log points).

use crate::run::Run;
use farpoint::Scalar;
use rayon::prelude::*;

pub(crate) fn sample<T: Scalar>(run: &Run<'_, T>, bits: u32) -> Vec<u32> {
    let order = order(&run.axes, bits);
    let (points, samples) = (order.len() as u64, run.count as u64);
    (0..samples).map(|i| order[(i * points / samples) as usize]).collect()
}

/// Returns the points along the curve. With more than three axes fewer bits are taken of each, so that
/// 63 bits are enough for all; axes beyond the 63rd do not count.
pub(crate) fn order<T: Scalar>(axes: &[&[T]], bits: u32) -> Vec<u32> {
    let curve = Curve::new(axes, bits);
    let points = 0..axes[0].len() as u32;
    let mut keys: Vec<_> =
        points.into_par_iter().map(|point| (curve.code(point as usize), point)).collect();
    keys.par_sort_unstable();
    keys.into_iter().map(|(_, point)| point).collect()
}

/// A curve through the cells of a cloud, in double precision without overflow.
struct Curve<'a, T> {
    axes: &'a [&'a [T]],
    low: Vec<f64>,
    /// 1, or less where differences of coordinates would overflow.
    unit: f64,
    bits: u32,
    cell: f64,
}

impl<'a, T: Scalar> Curve<'a, T> {
    fn new(axes: &'a [&'a [T]], bits: u32) -> Self {
        let end = |values: &&[T], choose: fn(f64, f64) -> f64| {
            values.iter().map(|value| value.to_f64()).reduce(choose).unwrap_or_default()
        };
        let ends: Vec<_> =
            axes.iter().map(|axis| (end(axis, f64::min), end(axis, f64::max))).collect();
        let unit = if ends.iter().all(|(low, high)| (high - low).is_finite()) { 1.0 } else { 0.25 };
        let longest = ends.iter().map(|(low, high)| high * unit - low * unit).fold(0.0, f64::max);
        let axes = &axes[..axes.len().min(63)];
        let bits = bits.min(63 / axes.len() as u32);
        let low = ends.iter().map(|(low, _)| low * unit).collect();
        Self { axes, low, unit, bits, cell: longest / (1u64 << bits) as f64 }
    }

    /// Returns the position of a point's cell along the curve.
    fn code(&self, point: usize) -> u64 {
        let (last, axes) = ((1u64 << self.bits) - 1, self.axes.len());
        (0..axes).fold(0, |code, axis| {
            let at = (self.axes[axis][point].to_f64() * self.unit - self.low[axis]) / self.cell;
            // If all are in one place the quotient is NaN, and the cell 0.
            let cell = (at as u64).min(last);
            let spread = |code, k| code | (cell >> k & 1) << (k as usize * axes);
            code | (0..self.bits).fold(0, spread) << axis
        })
    }
}
