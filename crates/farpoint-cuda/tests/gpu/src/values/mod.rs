//! Operators on values on a GPU against the CPU library, bit by bit: every type of values and indices, aligned and
//! not, with indices that name no row, in graphs, on several streams, and beyond 2^31 numbers.

mod case;
mod equality;
mod fixture;
mod large;
mod numbers;
mod streams;
mod weights;

use crate::runner::Group;

/// Operators run for each case.
const PARTS: &[&str] = &["gather", "gather_max", "interpolate"];

/// All checks.
pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = equality::groups();
    groups.extend(weights::groups());
    groups.extend(streams::groups());
    if !quick {
        groups.extend(large::groups());
    }
    groups
}

/// A few seconds of everything, for compute-sanitizer and for older cards.
pub(crate) fn small() -> Vec<Group> {
    let mut groups = equality::small();
    groups.extend(weights::groups());
    groups.extend(streams::small());
    groups
}
