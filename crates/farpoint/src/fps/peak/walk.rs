//! State shared by the threads that apply the samples of a band: see [`super::update`].

use super::list::List;
use super::slots::Slots;
use crate::Scalar;
use crate::memory::{Buffer, Shared};
use crate::spatial::{Boxes, FANOUT};

/// Counts of the walk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) distances: u64,
    pub(super) effective: u64,
    pub(super) tested: u64,
    pub(super) pruned: u64,
}

impl std::ops::Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            distances: self.distances + other.distances,
            effective: self.effective + other.effective,
            tested: self.tested + other.tested,
            pruned: self.pruned + other.pruned,
        }
    }
}

/// Samples of a band, and a box around them.
pub(super) struct BandSamples<'a, T: Scalar> {
    pub(super) list: &'a List<T>,
    pub(super) corners: [[T; 3]; 2],
}

/// The walk. Values and largest values are written by the one thread that visits the leaf or node;
/// boxes and coordinates are only read.
pub(super) struct Walk<'a, 'b, T: Scalar> {
    pub(super) slots: Slots<'a, T>,
    pub(super) levels: Buffer<Part<'a, T>>,
    /// Level whose entries gather from the sources themselves.
    pub(super) highest: usize,
    /// Points whose value stays above this are collected.
    pub(super) beta: T,
    pub(super) sources: &'b [BandSamples<'b, T>],
    pub(super) count: bool,
    /// True if leaves are prefetched.
    pub(super) large: bool,
}

/// A level of the tree: its largest values are written, the rest is read.
pub(super) struct Part<'a, T> {
    pub(super) len: usize,
    pub(super) boxes: &'a Boxes<T>,
    pub(super) largest: Shared<'a, T>,
}

impl<T: Scalar> Walk<'_, '_, T> {
    /// Sets a node's largest value from its children's.
    ///
    /// # Safety
    /// The node and its children must be this thread's.
    #[inline(always)]
    pub(super) unsafe fn correct(&self, level: usize, node: usize) {
        let children = node * FANOUT;
        // SAFETY: levels are padded to whole groups of siblings; the caller ensures that node and
        // children are this thread's.
        unsafe {
            let mut max = self.levels[level - 1].largest.read(children);
            for child in children + 1..children + FANOUT {
                let value = self.levels[level - 1].largest.read(child);
                max = if value > max { value } else { max };
            }
            self.levels[level].largest.write(node, max);
        }
    }
}
