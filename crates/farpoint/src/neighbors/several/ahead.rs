//! The parts of a tree that a group of queries is still to visit.

use crate::Scalar;
use crate::neighbors::descent::{Part, insert};
use crate::spatial::BoxTree;

/// Parts of a tree, to be taken nearest first.
pub(super) struct Ahead<T> {
    /// Those within `reach`, the nearest last.
    near: Vec<Part<T>>,
    /// Those farther, in no order: most groups end before they come to these.
    far: Vec<Part<T>>,
    /// How far the group most likely goes, by the one before it.
    reach: T,
}

impl<T: Scalar> Ahead<T> {
    pub(super) fn new() -> Self {
        Self { near: Vec::new(), far: Vec::new(), reach: T::INFINITY }
    }

    /// Begins at the top of a tree.
    #[inline(always)]
    pub(super) fn begin(&mut self, tree: &BoxTree<T>) {
        self.near.clear();
        self.far.clear();
        self.near.push(Part::top(tree));
    }

    #[inline(always)]
    pub(super) fn add(&mut self, part: Part<T>) {
        if part.bound <= self.reach {
            insert(&mut self.near, part);
        } else {
            self.far.push(part);
        }
    }

    /// The nearest part, if it is within `worst`.
    #[inline(always)]
    pub(super) fn next(&mut self, worst: T) -> Option<Part<T>> {
        if self.near.is_empty() && worst > self.reach {
            self.reach = T::INFINITY;
            for part in self.far.drain(..) {
                insert(&mut self.near, part);
            }
        }
        self.near.pop().filter(|next| next.bound <= worst)
    }

    /// Keeps how far a group went.
    #[inline(always)]
    pub(super) fn end(&mut self, worst: T) {
        self.reach = worst + worst;
    }
}
