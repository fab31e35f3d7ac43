//! What searches gather, written once for one nearest point and for several.
//!
//! A search takes up to 64 queries at a time, which lie near each other, looks through blocks of
//! targets for them, and writes what they found. Which blocks, the method says: all of them
//! ([`super::brute`]), or those that a walk down a tree finds ([`super::descent`]).

use super::block::Block;
use super::metric::Metric;
use crate::Scalar;
use crate::simd::Simd;
use crate::spatial::BoxTree;
use crate::watch::Watch;

/// What is searched for, and where it is written.
pub(super) trait Search<T: Scalar>: Sync {
    /// What a thread searches with.
    type Group<'g>: Group<'g, T>
    where
        Self: 'g;
    /// Leaves of queries that a thread takes at least at a time.
    const LEAST_LEAVES: usize;

    /// A group without queries.
    fn group(&self) -> Self::Group<'_>;
    /// The obvious loop, for all queries: what every other way must find.
    fn reference<M: Metric>(&self, watch: &Watch<'_>);
}

/// A search of either precision.
pub(super) trait Kind: 'static {
    type Of<'a, T: Scalar>: Search<T>;
}

/// Up to 64 queries at a time, and what they found so far.
pub(super) trait Group<'g, T: Scalar> {
    /// Takes up queries, which have found nothing yet.
    fn begin(&mut self, queries: Block<'g, T>);
    /// Takes up queries that lie where all before them do and find the same, as it was written; `false` if they are to
    /// be searched for.
    fn again(&mut self, queries: Block<'g, T>) -> bool;
    /// Number of queries.
    fn len(&self) -> usize;
    /// Looks through a block for all queries; `first` if none was looked through before.
    fn meet<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        block: Block<'_, T>,
        dims: usize,
        first: bool,
    );
    /// Looks through the leaves of a tree that may hold something for the queries, which are a leaf of
    /// another.
    fn descend<S: Simd<T>, M: Metric>(
        &mut self,
        simd: S,
        queries: &BoxTree<T>,
        leaf: usize,
        targets: &BoxTree<T>,
    );
    /// Writes what the queries found.
    ///
    /// # Safety
    /// While this runs, no other thread may write for one of these queries.
    unsafe fn write<S: Simd<T>>(&mut self, simd: S);
}
