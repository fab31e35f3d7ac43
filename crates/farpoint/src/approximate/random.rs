//! Random sampling without replacement.

use super::watch::EVERY;
use super::work::Run;
use crate::memory;
use crate::random::SplitMix64;
use crate::{Error, Scalar};

/// Draws `count` points, all equally likely and in random order: the first places of a Fisher-Yates
/// shuffle. O(points).
pub(super) fn sample<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    count: usize,
    seed: u64,
) -> Result<Vec<u32>, Error> {
    let mut random = SplitMix64::new(seed);
    let points = run.cloud.len;
    let mut order = memory::collected(0..points as u32);
    run.watch.pass(points)?;
    for first in (0..count).step_by(EVERY) {
        let end = (first + EVERY).min(count);
        for k in first..end {
            let other = k + random.below((points - k) as u64) as usize;
            order.swap(k, other);
        }
        run.watch.step(end - first, end, T::INFINITY)?;
    }
    order.truncate(count);
    Ok(order)
}
