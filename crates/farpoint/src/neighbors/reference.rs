//! The straightforward loop, which defines the result of every method.

use super::metric::{Metric, distance};
use super::output::Output;
use crate::Scalar;
use crate::watch::Watch;

pub(super) fn search<T: Scalar, M: Metric>(output: &Output<'_, T>, watch: &Watch<'_>) {
    let (queries, targets) = (output.queries, output.targets);
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
