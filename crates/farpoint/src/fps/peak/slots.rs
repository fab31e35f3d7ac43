//! The leaves of a tree, shared by threads.

use crate::memory::Shared;

/// Coordinates and values of the points, by leaf.
#[derive(Clone, Copy)]
pub(super) struct Slots<'a, T> {
    pub(super) dims: usize,
    pub(super) leaves: Shared<'a, T>,
}
