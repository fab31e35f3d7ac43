//! The order of the points of a node, which is free: the one that compresses best.
//!
//! Scanners measure neighbors one after another, so that the order of the input or of time is best for files with times
//! and colors. Where these are missing, or the input was shuffled, neighbors on a Hilbert curve are more alike.

use crate::formats::las::{self, integers};
use laz::{LazVlr, LazVlrBuilder};

/// Each order is tried on this share of the points of a node, in the middle of it.
const SHARE: usize = 16;
/// Fewest points that are tried.
const MIN_TRIED: usize = 500;
/// Bits of a coordinate on the curve: three of them fit in 64.
const BITS: u32 = 21;
/// Byte offset of the GPS time of a record.
const TIME: usize = 22;

/// Returns the records of these points, which are in the order of the input, in the order that compresses best.
pub(super) fn smallest(records: &[u8], stride: usize, points: &[u32], vlr: &LazVlr) -> Vec<u8> {
    let record = |point: u32| &records[point as usize * stride..][..stride];
    let gathered = |points: &[u32]| {
        let mut gathered = Vec::with_capacity(points.len() * stride);
        points.iter().for_each(|&point| gathered.extend_from_slice(record(point)));
        gathered
    };
    let tried = (points.len() / SHARE).max(MIN_TRIED).min(points.len());
    let from = (points.len() - tried) / 2;
    let items = LazVlrBuilder::new(vlr.items().clone());
    let vlr = items.with_fixed_chunk_size(tried.max(1) as u32).build();
    let bytes = |order: &Vec<u32>| {
        let sample = gathered(&order[from..from + tried]);
        las::compressed(Vec::new(), &sample, vlr.clone()).map_or(usize::MAX, |bytes| bytes.len())
    };
    // The first of those that are equally good.
    let best = orders(points, record).into_iter().min_by_key(bytes);
    gathered(best.as_deref().unwrap_or(points))
}

/// Returns the points in the order of the input, by GPS time unless that is the same, and along a Hilbert curve.
fn orders<'a>(points: &[u32], record: impl Fn(u32) -> &'a [u8]) -> Vec<Vec<u32>> {
    let by_time = |a: &u32, b: &u32| time(record(*a)).total_cmp(&time(record(*b)));
    let mut orders = vec![points.to_vec()];
    if !points.is_sorted_by(|a, b| by_time(a, b).is_le()) {
        let mut timed = points.to_vec();
        timed.sort_by(by_time);
        orders.push(timed);
    }
    let places: Vec<[i32; 3]> = points.iter().map(|&point| integers(record(point))).collect();
    let corner = |pick: fn(i32, i32) -> i32| -> [i32; 3] {
        let all = places.iter().copied();
        all.reduce(|a, b| std::array::from_fn(|axis| pick(a[axis], b[axis]))).unwrap_or_default()
    };
    let (low, high) = (corner(i32::min), corner(i32::max));
    let longest = (0..3).map(|axis| high[axis].abs_diff(low[axis])).fold(0, u32::max);
    let bits = u32::BITS - longest.leading_zeros();
    let coarser = bits.saturating_sub(BITS);
    let code = |place: &[i32; 3]| {
        let steps = std::array::from_fn(|axis| place[axis].abs_diff(low[axis]) >> coarser);
        hilbert(steps, bits - coarser)
    };
    let mut curve: Vec<(u64, u32)> = places.iter().map(code).zip(points.iter().copied()).collect();
    curve.sort_unstable();
    orders.push(curve.into_iter().map(|(_, point)| point).collect());
    orders
}

/// Returns the GPS time of a record.
pub(super) fn time(record: &[u8]) -> f64 {
    record[TIME..].first_chunk().map_or(0.0, |bytes| f64::from_le_bytes(*bytes))
}

/// Returns the place on a Hilbert curve of a cell with coordinates of this many bits (Skilling, 2004).
pub(super) fn hilbert(mut cell: [u32; 3], bits: u32) -> u64 {
    let (mut code, mut flip) = (0, 0);
    for bit in (0..bits).rev() {
        let below = (1 << bit) - 1;
        for axis in 0..3 {
            if cell[axis] >> bit & 1 == 1 {
                cell[0] ^= below;
            } else {
                let differing = (cell[0] ^ cell[axis]) & below;
                cell[0] ^= differing;
                cell[axis] ^= differing;
            }
        }
        // The number of the octant in Gray code.
        let [x, y, z] = cell.map(|at| u64::from(at >> bit & 1));
        let octant = x << 2 | (x ^ y) << 1 | (x ^ y ^ z);
        code = code << 3 | octant ^ flip;
        flip ^= 7 * (octant & 1);
    }
    code
}
