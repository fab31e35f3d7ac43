//! Memory of a run between bands, kept by the calling thread for its next run: asking the system for fresh
//! pages again and again takes as long as some of the stages.

use super::candidates::Candidates;
use super::solve::Solver;
use super::update::{Collected, Scratch};
use crate::Scalar;
use crate::spatial::{BoxTree, Cells, Presence};
use std::any::Any;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Maximum number of bytes that a thread keeps for each precision.
const MAX_CACHED_BYTES: usize = 16 << 20;

thread_local! {
    /// A [`Memory`] for each precision.
    static CACHE: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Memory that returns to the thread at the end.
pub(super) struct Workspace<T: Scalar>(Memory<T>);

/// Memory of a run. All of it is prepared where it is used.
#[derive(Default)]
pub(super) struct Memory<T: Scalar> {
    /// Candidates, by part of the band.
    pub(super) candidates: Vec<Candidates<T>>,
    pub(super) solvers: Vec<Solver<T>>,
    pub(super) presence: Presence,
    /// Scratch, by member of the team.
    pub(super) scratch: Vec<Scratch<T>>,
    pub(super) collected: Collected,
}

impl<T: Scalar> Workspace<T> {
    /// Takes or creates memory for `parts` parts and `members` members.
    pub(super) fn new(parts: usize, members: usize, tree: &BoxTree<T>, cells: Cells<T>) -> Self {
        let cached = CACHE.with_borrow_mut(|cached| {
            let at = cached.iter().position(|cached| cached.is::<Memory<T>>())?;
            cached.swap_remove(at).downcast::<Memory<T>>().ok()
        });
        let mut memory = cached.map_or_else(Memory::default, |cached| *cached);
        memory.candidates.resize_with(parts, || Candidates::new(cells));
        memory.solvers.resize_with(parts, Solver::new);
        memory.scratch.resize_with(members, Scratch::new);
        memory.scratch.iter_mut().for_each(|scratch| scratch.fit(tree));
        Self(memory)
    }
}

impl<T: Scalar> Memory<T> {
    fn bytes(&self) -> usize {
        let candidates = self.candidates.iter().map(Candidates::bytes).sum::<usize>();
        let solvers = self.solvers.iter().map(Solver::bytes).sum::<usize>();
        let scratch = self.scratch.iter().map(Scratch::bytes).sum::<usize>();
        candidates + solvers + scratch + self.presence.bytes()
    }
}

impl<T: Scalar> Drop for Workspace<T> {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.0);
        // Work that was broken off may have left arrays of different lengths.
        if memory.bytes() <= MAX_CACHED_BYTES && !std::thread::panicking() {
            // When the thread is ending there is nothing to keep it for.
            let _ = CACHE.try_with(|cached| cached.borrow_mut().push(Box::new(memory)));
        }
    }
}

impl<T: Scalar> Deref for Workspace<T> {
    type Target = Memory<T>;

    fn deref(&self) -> &Memory<T> {
        &self.0
    }
}

impl<T: Scalar> DerefMut for Workspace<T> {
    fn deref_mut(&mut self) -> &mut Memory<T> {
        &mut self.0
    }
}
