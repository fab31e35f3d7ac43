//! Helpers for the first samples, which are taken one by one: slots of points in the tree, and the farthest
//! point.

use crate::Scalar;
use crate::memory::Buffer;
use crate::spatial::{BoxTree, FANOUT, LEAF, NONE};

/// Returns the slots of points.
pub(super) fn find_slots<T: Scalar>(tree: &BoxTree<T>, points: &[u32]) -> Buffer<u32> {
    let mut slot_of = Buffer::filled(tree.points.len(), 0);
    for (&point, slot) in tree.points.iter().zip(0..) {
        if point != NONE {
            slot_of[point as usize] = slot;
        }
    }
    Buffer::collected(points.iter().map(|&point| slot_of[point as usize]))
}

/// Returns the lowest point that has the largest distance, and its slot.
pub(super) fn farthest<T: Scalar>(tree: &BoxTree<T>) -> (u32, u32) {
    let largest = tree.largest();
    let mut entries = Buffer::filled(1, 0);
    for level in tree.levels[..tree.levels.len() - 1].iter().rev() {
        let children = |&entry: &usize| entry * FANOUT..((entry + 1) * FANOUT).min(level.len);
        let has = |child: &usize| level.largest[*child] == largest;
        entries = Buffer::collected(entries.iter().flat_map(children).filter(has));
    }
    let values = |leaf: usize| &tree.leaves[(leaf + 1) * tree.stride() - LEAF..][..LEAF];
    let lanes = |leaf: usize| values(leaf).iter().zip(leaf * LEAF..);
    let slots = entries.iter().copied().flat_map(lanes).filter(|(value, _)| **value == largest);
    let found = slots.map(|(_, slot)| (tree.points[slot], slot as u32)).min();
    found.expect("a point has the largest distance")
}
