//! Even steps along a Morton curve (EdgePC, Ying et al., ISCA 2023).
//!
//! Cells are cubes, the longest side of the box divided by `2^bits`. Points are sorted by the
//! code of their cell and then by index; sample `i` of M is at position `floor(i N / M)`, so that
//! the steps run over the whole curve. O(points log points).

use super::frame::Frame;
use super::work::Run;
use crate::memory;
use crate::threads::{each, sort};
use crate::{Error, Scalar};

/// Maximum number of bits per axis: three axes fill 63.
pub(super) const MAX_BITS: u32 = 21;

pub(super) fn sample<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    count: usize,
    bits: u32,
) -> Result<Vec<u32>, Error> {
    let order = order(run, bits)?;
    let (points, samples) = (order.len() as u64, count as u64);
    Ok(memory::collected((0..samples).map(|i| order[(i * points / samples) as usize])))
}

/// Returns the points along the curve. With more than three axes fewer bits are taken of each, so that
/// 63 bits are enough for all; axes beyond the 63rd do not count.
pub(super) fn order<T: Scalar>(run: &mut Run<'_, '_, T>, bits: u32) -> Result<Vec<u32>, Error> {
    let cloud = run.cloud;
    let frame = Frame::new(cloud);
    let curve = Curve::new(&frame, bits);
    let mut keys = each(cloud.len, run.threads, |point| (curve.code(point), point as u32));
    run.watch.pass(cloud.len)?;
    match run.threads {
        1 => keys.sort_unstable(),
        _ => sort(&mut keys),
    }
    run.watch.pass(cloud.len)?;
    Ok(memory::collected(keys.into_iter().map(|(_, point)| point)))
}

/// A curve through the cells of a cloud.
struct Curve<'a, T> {
    frame: &'a Frame<'a, T>,
    dims: usize,
    bits: u32,
    cell: f64,
}

impl<'a, T: Scalar> Curve<'a, T> {
    fn new(frame: &'a Frame<'a, T>, bits: u32) -> Self {
        let dims = frame.dims().min(63);
        let bits = bits.min(63 / dims as u32);
        Self { frame, dims, bits, cell: frame.longest() / (1u64 << bits) as f64 }
    }

    /// Returns the position of a point's cell along the curve.
    #[inline(always)]
    fn code(&self, point: usize) -> u64 {
        let last = (1u64 << self.bits) - 1;
        (0..self.dims).fold(0, |code, axis| {
            let at = self.frame.at(point, axis) / self.cell;
            // If all are in one place the quotient is NaN, and the cell 0.
            code | spread((at as u64).min(last), self.bits, self.dims) << axis
        })
    }
}

/// Spreads the bits of a number, `stride` places from each other.
#[inline(always)]
fn spread(number: u64, bits: u32, stride: usize) -> u64 {
    if stride != 3 {
        return (0..bits as usize).fold(0, |code, k| code | (number >> k & 1) << (k * stride));
    }
    let steps = [
        (32, 0x1f_0000_0000_ffff),
        (16, 0x1f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ];
    steps.into_iter().fold(number, |x, (shift, mask)| (x | x << shift) & mask)
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn bits_are_spread() {
        for number in [0, 1, 5, 0x15_5555, 0x1f_ffff, 0x10_0001] {
            let slow = (0..21).fold(0u64, |code, k| code | (number >> k & 1) << (3 * k));
            assert_eq!(spread(number, 21, 3), slow);
        }
        assert_eq!(spread(0b101, 3, 4), 0b1_0000_0001);
    }
}
