//! Parts of a tree that a group of queries has not visited yet.

use crate::Scalar;
use crate::neighbors::descent::{Part, insert};
use crate::spatial::BoxTree;

/// Parts of a tree, to be taken nearest first.
pub(super) struct Pending<T> {
    /// Parts within `reach`, the nearest last.
    near: Vec<Part<T>>,
    /// Parts beyond it, in no order: most groups end before they come to these.
    far: Vec<Part<T>>,
    /// Likely largest bound that the group needs, from the group before it.
    reach: T,
}

impl<T: Scalar> Pending<T> {
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

    /// Returns the nearest part, if it is within `worst`.
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

    /// Keeps the largest distance of a group for the next.
    #[inline(always)]
    pub(super) fn end(&mut self, worst: T) {
        self.reach = worst + worst;
    }
}
