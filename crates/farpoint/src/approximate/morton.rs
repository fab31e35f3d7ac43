//! Even steps along a Morton curve (EdgePC, Ying et al., ISCA 2023).
//!
//! Cells are cubes, the longest side of the box divided by `2^bits`. Points are sorted by the
//! code of their cell and then by index; sample `i` of M is at position `floor(i N / M)`, so that
//! the steps run over the whole curve. O(points log points).

use super::frame::Frame;
use crate::Scalar;
use crate::cloud::Cloud;

/// Bits an axis at most: three axes fill 63.
pub(super) const MOST_BITS: u32 = 21;

pub(super) fn sample<T: Scalar>(cloud: &Cloud<T>, count: usize, bits: u32) -> Vec<u32> {
    let order = order(cloud, bits);
    let (points, wanted) = (order.len() as u64, count as u64);
    (0..wanted).map(|i| order[(i * points / wanted) as usize]).collect()
}

/// The points along the curve. With more than three axes fewer bits are taken of each, so that
/// 63 bits are enough for all; axes beyond the 63rd don't count.
pub(super) fn order<T: Scalar>(cloud: &Cloud<T>, bits: u32) -> Vec<u32> {
    let frame = Frame::new(cloud);
    let dims = frame.dims().min(63);
    let bits = bits.min(63 / dims as u32);
    let last = (1u64 << bits) - 1;
    let cell = frame.longest() / (1u64 << bits) as f64;
    let code = |point: u32| {
        (0..dims).fold(0, |code, axis| {
            let at = frame.at(point as usize, axis) / cell;
            // Where all are in one place the quotient is no number, and the cell 0.
            code | spread((at as u64).min(last), bits, dims) << axis
        })
    };
    let mut keys: Vec<_> = (0..cloud.len as u32).map(|point| (code(point), point)).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, point)| point).collect()
}

/// The bits of a number, `apart` places from each other.
#[inline(always)]
fn spread(number: u64, bits: u32, apart: usize) -> u64 {
    if apart != 3 {
        return (0..bits as usize).fold(0, |code, k| code | (number >> k & 1) << (k * apart));
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
