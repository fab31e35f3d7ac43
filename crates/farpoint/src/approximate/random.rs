//! Random sampling without replacement.

use super::watch::{EVERY, Watch};
use crate::random::SplitMix64;
use crate::{Error, memory};

/// Draws `count` of so many points, all equally likely and in random order: the first places of a Fisher-Yates
/// shuffle. O(points).
pub(super) fn sample(
    watch: &mut Watch<'_>,
    points: usize,
    count: usize,
    seed: u64,
) -> Result<Vec<u32>, Error> {
    let mut random = SplitMix64::new(seed);
    let mut order = memory::collected(0..points as u32);
    watch.pass(points)?;
    for first in (0..count).step_by(EVERY) {
        let end = (first + EVERY).min(count);
        for k in first..end {
            let other = k + random.below((points - k) as u64) as usize;
            order.swap(k, other);
        }
        watch.step(end - first, end, f64::INFINITY)?;
    }
    order.truncate(count);
    Ok(order)
}
