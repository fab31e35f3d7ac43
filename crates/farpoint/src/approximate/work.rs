//! What every method works with.

use super::watch::Watch;
use crate::Statistics;
use crate::cloud::WorkingCopy;

/// What every method is given, and what it counts.
pub(super) struct Run<'a, 'b, T> {
    pub(super) cloud: &'a WorkingCopy<T>,
    pub(super) threads: usize,
    pub(super) watch: Watch<'b>,
    pub(super) statistics: Statistics,
}
