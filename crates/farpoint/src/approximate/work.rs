//! State shared by all methods.

use super::watch::Watch;
use crate::Statistics;
use crate::cloud::WorkingCopy;

/// Input and counters of a method.
pub(super) struct Run<'a, 'b, T> {
    pub(super) cloud: &'a WorkingCopy<T>,
    pub(super) threads: usize,
    pub(super) watch: Watch<'b>,
    pub(super) statistics: Statistics,
}
