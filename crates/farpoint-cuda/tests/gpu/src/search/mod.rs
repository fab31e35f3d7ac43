//! Several neighbors: every method in every form returns the CPU's result, bit for bit.

mod batches;
mod expected;
pub(crate) mod gradients;
mod host;
mod pointers;
mod within;

use crate::runner::Group;
use farpoint::Method;

/// Names of all methods, in the order of the report.
const METHODS: &[&str] = &["plain", "brute", "tree", "auto"];

/// Returns the method of a part's name.
fn method(part: &str) -> Method {
    part.parse().expect("parts are named after methods")
}

/// All checks; without the large clouds if `quick`.
pub(crate) fn groups(quick: bool) -> Vec<Group> {
    let mut groups = pointers::groups(quick);
    groups.extend(within::groups());
    groups.extend(gradients::groups());
    groups.extend(host::groups());
    groups
}

/// A few seconds of everything, for compute-sanitizer and older cards.
pub(crate) fn small() -> Vec<Group> {
    let mut groups = alone();
    groups.extend(gradients::small());
    groups
}

/// Small searches: no block waits for another.
pub(crate) fn alone() -> Vec<Group> {
    let mut groups = pointers::small();
    groups.extend(within::small());
    groups
}
