//! Drawing points without replacement.

use crate::SplitMix64;

/// `count` of `points` points, all equally likely and in random order: the first places of a
/// Fisher-Yates shuffle. O(points).
pub(super) fn sample(points: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut random = SplitMix64::new(seed);
    let mut order: Vec<u32> = (0..points as u32).collect();
    for k in 0..count {
        let other = k + random.below((points - k) as u64) as usize;
        order.swap(k, other);
    }
    order.truncate(count);
    order
}
