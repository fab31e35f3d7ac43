//! The straightforward loop, which defines the result of every method.

use super::output::{Output, Task};
use crate::Scalar;
use crate::neighbors::metric::{Metric, distance};
use crate::watch::Watch;

pub(super) fn search<T: Scalar, M: Metric>(output: &Output<'_, T>, watch: &Watch<'_>) {
    let (queries, targets, limits) = (output.queries, output.targets, output.limits);
    for query in 0..queries.len as u32 {
        let excluded = output.excluded(query);
        let candidates = (0..targets.len as u32).filter(|target| Some(*target) != excluded);
        let mut keys: Vec<T::Key> = candidates
            .filter_map(|target| {
                limits.key(distance::<T, M>(queries, query, targets, target), target)
            })
            .collect();
        keys.sort_unstable();
        if output.task() == Task::Choose {
            keys.truncate(limits.k);
        }
        if !watch.step(1) {
            return;
        }
        // SAFETY: this loop is the only one that writes, and has each query once.
        unsafe { output.set(query, &keys) };
    }
}
