//! Search traits, so that each method is written once for one nearest point and for several.
//!
//! A search takes up to 64 queries at a time, which lie near each other, visits blocks of
//! targets for them, and writes the results. The method chooses the blocks: all of them
//! ([`super::brute`]), or those that a walk down a tree finds ([`super::descent`]).

use super::block::Block;
use super::metric::Metric;
use crate::Scalar;
use crate::simd::Simd;
use crate::spatial::BoxTree;
use crate::watch::Watch;

/// A search and its output.
pub(super) trait Search<T: Scalar>: Sync {
    /// State of a thread.
    type Group<'g>: Group<'g, T>
    where
        Self: 'g;
    /// Minimum number of leaves of queries per job.
    const MIN_LEAVES: usize;

    /// Creates a group without queries.
    fn group(&self) -> Self::Group<'_>;
    /// Searches for all queries by the straightforward loop, which defines the result of every method.
    fn reference<M: Metric>(&self, watch: &Watch<'_>);
}

/// A search of either precision.
pub(super) trait Kind: 'static {
    type Of<'a, T: Scalar>: Search<T>;
}

/// Up to 64 queries at a time, and their results so far.
pub(super) trait Group<'g, T: Scalar> {
    /// Starts with new queries, which have found nothing yet.
    fn begin(&mut self, queries: Block<'g, T>);
    /// Starts with queries that coincide with all before them and have the same result as written; `false` if they
    /// must be searched.
    fn reuse(&mut self, queries: Block<'g, T>) -> bool;
    /// Returns the number of queries.
    fn len(&self) -> usize;
    /// Visits a block for all queries; `first` if it is the first.
    fn visit_block<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        dims: usize,
        first: bool,
    );
    /// Visits the leaves of a tree that may hold results for the queries, which are a leaf of
    /// another.
    fn descend<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        queries: &BoxTree<T>,
        leaf: usize,
        targets: &BoxTree<T>,
    );
    /// Writes the results of the queries.
    ///
    /// # Safety
    /// While this runs, no other thread may write for one of these queries.
    unsafe fn write<S: Simd<T>>(&mut self, simd: S);
}
