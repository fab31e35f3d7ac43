//! The obvious loop. What it returns is what every other way must return.

use super::metric::Metric;
use super::output::Output;
use crate::Scalar;
use crate::cloud::Cloud;
use crate::watch::Watch;

pub(super) fn search<T: Scalar, M: Metric>(
    queries: &Cloud<T>,
    targets: &Cloud<T>,
    output: &Output<'_, T>,
    watch: &Watch<'_>,
) {
    for query in 0..queries.len as u32 {
        let (mut nearest, mut best) = (0, distance::<T, M>(queries, query, targets, 0));
        for target in 1..targets.len as u32 {
            let distance = distance::<T, M>(queries, query, targets, target);
            if distance < best {
                (nearest, best) = (target, distance);
            }
        }
        if !watch.step(1) {
            return;
        }
        // SAFETY: this loop is the only one that writes, and has each query once.
        unsafe { output.set(query, nearest, best) };
    }
}

/// The distance of a query and a target, axis by axis from the left.
fn distance<T: Scalar, M: Metric>(
    queries: &Cloud<T>,
    query: u32,
    targets: &Cloud<T>,
    target: u32,
) -> T {
    let part = |axis: usize| {
        M::part(queries.axes[axis][query as usize], targets.axes[axis][target as usize])
    };
    (1..queries.dims()).fold(part(0), |sum, axis| sum + part(axis))
}
