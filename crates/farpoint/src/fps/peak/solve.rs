//! Solver of bands: which candidates are chosen, and with what distance.
//!
//! Candidates are taken in order: largest tentative distance first, among equals the lowest
//! index. The first one is a peak, so it is accepted; it lowers those within reach, and those
//! that fall to the band's floor leave it.
//!
//! With several parts, each is taken in order by one thread, and all share the tentative
//! distances. There are no rounds: a candidate waits only for a *witness*, an undecided one within its
//! distance that may come before it. Distances only fall, and one that is too high is safe: the proof in
//! docs/development/proofs.md needs upper bounds. What makes it hold here:
//!
//! - A candidate counts as undecided until it has lowered all that it lowers. Who finds it decided
//!   finds its own distance lowered, too, and looks at that again before it is accepted.
//! - Whether a sample comes before a candidate that it lowers was decided on a value the candidate had
//!   since the sample was about to be chosen; later ones are lower.
//! - The first of all undecided candidates never waits, so a thread that has begun a part comes to its end
//!   if the others with begun parts do; parts that nobody has begun are begun by who waits.

use super::candidates::{Candidates, Sample};
use super::list::List;
use super::queue::Queue;
use super::search::{Hit, Near, boxes_distance};
use crate::Scalar;
use crate::memory::{Buffer, Padded};
use crate::simd::Simd;
use crate::spatial::{BoxTree, Cells, Presence};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

/// Working memory and result of one part of a band. Aligned, for threads write to neighbors.
#[repr(align(128))]
pub(super) struct Solver<T: Scalar> {
    /// Candidates in order.
    queue: Queue<T>,
    /// Candidates whose distance had fallen at their turn, by their new key.
    lowered: BinaryHeap<Reverse<(T::Key, u32)>>,
    /// Candidates that wait for a witness.
    waiting: Buffer<Waiting>,
    /// Other parts within reach, and their bits in [`Presence`].
    others: Buffer<u32>,
    bits: u32,
    hits: Buffer<Hit<T>>,
    pub(super) runs: Buffer<(u32, u32)>,
    /// Tentative distances of a band that is one part.
    pub(super) values: Padded<T>,
    /// Keys of the choices, about in order; with one part, in order.
    pub(super) accepted: Buffer<T::Key>,
    /// The same points, in the layout of the update.
    pub(super) list: List<T>,
}

/// A candidate by its place, and the part and place of its witness.
#[derive(Clone, Copy)]
struct Waiting {
    place: u32,
    witness: (u32, u32),
}

/// State shared by all steps of a band.
pub(super) struct Band<'a, T: Scalar> {
    pub(super) tree: &'a BoxTree<T>,
    /// Candidates, by part.
    pub(super) candidates: &'a [Candidates<T>],
    /// Grid cells of the candidates, shared by all parts.
    pub(super) cells: Cells<T>,
    /// Parts that occupy each cell.
    pub(super) presence: &'a Presence,
    /// Floor of the band; candidates whose distance falls to it leave the band.
    pub(super) beta: T,
    /// The largest distance.
    pub(super) largest: T,
}

impl<T: Scalar> Solver<T> {
    pub(super) fn new() -> Self {
        Self {
            queue: Queue::new(),
            lowered: BinaryHeap::new(),
            waiting: Buffer::default(),
            others: Buffer::default(),
            bits: 0,
            hits: Buffer::default(),
            // As many as a search finds, unless cells are much smaller than intended.
            runs: Buffer::with_capacity(32),
            values: Padded::default(),
            accepted: Buffer::default(),
            list: List::default(),
        }
    }

    /// Prepares for these candidates.
    pub(super) fn load(&mut self, candidates: &Candidates<T>) {
        self.queue.fill(candidates);
        self.lowered.clear();
        self.waiting.clear();
        self.accepted.clear();
        self.list.clear();
    }

    /// Finds the parts within reach of part `index`. Call before [`Self::advance`].
    pub(super) fn find_reachable_parts(&mut self, band: &Band<'_, T>, index: usize) {
        let corners = |part: &Candidates<T>| [part.low, part.high];
        let part_corners = corners(&band.candidates[index]);
        self.others.clear();
        self.others.extend((0..).zip(band.candidates).filter_map(|(k, part): (u32, _)| {
            let near = || boxes_distance(part_corners, corners(part)) < band.largest;
            (k as usize != index && part.len() > 0 && near()).then_some(k)
        }));
        let bit = |&part: &u32| Presence::bit(part as usize);
        self.bits = self.others.iter().map(bit).fold(0, |bits, bit| bits | bit);
    }

    /// Returns whether all candidates are decided.
    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.queue.first().is_none() && self.lowered.is_empty()
    }

    /// Decides as many candidates of part `own_part` as possible; returns whether there were any. With `SHARED`,
    /// other threads do the same with other parts.
    pub(super) fn advance<S: Simd<T>, const SHARED: bool>(
        &mut self,
        simd: S,
        band: &Band<'_, T>,
        own_part: usize,
    ) -> bool {
        let mut progress = false;
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|&waiting| {
            if band.waits(own_part, waiting) {
                return true;
            }
            progress = true;
            let value = band.candidates[own_part].value_of(waiting.place);
            if value > T::ZERO {
                self.decide::<S, SHARED>(simd, band, own_part, waiting.place, value);
            }
            false
        });
        waiting.append(&mut self.waiting);
        self.waiting = waiting;
        while let Some((key, place)) = self.next() {
            progress = true;
            let value = band.candidates[own_part].value_of(place);
            if value == T::key_value(key) {
                self.decide::<S, SHARED>(simd, band, own_part, place, value);
            } else {
                self.requeue(&band.candidates[own_part], place, value);
            }
        }
        progress
    }

    /// Returns the next candidate in order.
    pub(super) fn next(&mut self) -> Option<(T::Key, u32)> {
        match (self.queue.first(), self.lowered.peek()) {
            (Some(first), Some(Reverse(other))) if other < first => {
                self.lowered.pop().map(|Reverse(next)| next)
            }
            (None, _) => self.lowered.pop().map(|Reverse(next)| next),
            _ => self.queue.pop(),
        }
    }

    /// Requeues a candidate whose distance has fallen, unless it has left the band.
    pub(super) fn requeue(&mut self, candidates: &Candidates<T>, place: u32, value: T) {
        if value > T::ZERO {
            let key = value.key(candidates.point[place as usize]);
            if self.lowered.len() == self.lowered.capacity() {
                let mut keys = self.take_lowered();
                keys.reserve(1);
                self.lowered = BinaryHeap::from(keys.into_vec());
            }
            self.lowered.push(Reverse((key, place)));
        }
    }

    fn take_lowered(&mut self) -> Buffer<Reverse<(T::Key, u32)>> {
        Buffer::from(std::mem::take(&mut self.lowered).into_vec())
    }

    /// Accepts a candidate of part `own_part` with this value, or makes it wait.
    #[inline]
    fn decide<S: Simd<T>, const SHARED: bool>(
        &mut self,
        simd: S,
        band: &Band<'_, T>,
        own_part: usize,
        place: u32,
        value: T,
    ) {
        let candidates = &band.candidates[own_part];
        let sample = candidates.sample(place, value);
        self.hits.clear();
        if let Some(witness) = self.search::<S, SHARED>(simd, band, own_part, &sample) {
            return self.waiting.push(Waiting { place, witness });
        }
        if SHARED {
            // Decided candidates may have lowered it before.
            let now = candidates.value_of(place);
            if now != value {
                return self.requeue(candidates, place, now);
            }
        }
        for hit in &self.hits {
            band.lower::<SHARED>(hit);
        }
        // From here on it is decided.
        candidates.live[place as usize].store(0, Ordering::Release);
        self.accepted.push(value.key(sample.point));
        self.list.push(sample.at, sample.slot);
    }

    /// Fills `hits` with the candidates that the sample lowers; or finds a witness.
    #[inline]
    fn search<S: Simd<T>, const SHARED: bool>(
        &mut self,
        simd: S,
        band: &Band<'_, T>,
        own_part: usize,
        sample: &Sample<T>,
    ) -> Option<(u32, u32)> {
        let Self { hits, runs, others, bits, .. } = self;
        let cells = band.cells.ranges(sample.at);
        let mut look = |part: u32| {
            let candidates = &band.candidates[part as usize];
            candidates.grid.runs(cells, runs);
            if runs.is_empty() {
                return None;
            }
            let (tree, sample) = (band.tree, *sample);
            let near = Near::<T, SHARED> { tree, candidates, part, runs, sample, hits };
            simd.vectorize(near).map(|place| (part, place))
        };
        if let Some(witness) = look(own_part as u32) {
            return Some(witness);
        }
        if SHARED {
            let near = band.presence.parts(cells) & *bits;
            if near != 0 {
                let mut near =
                    others.iter().filter(|part| near & Presence::bit(**part as usize) != 0);
                return near.find_map(|&part| look(part));
            }
        }
        None
    }
}

impl<T: Scalar> Drop for Solver<T> {
    fn drop(&mut self) {
        self.take_lowered();
    }
}

impl<T: Scalar> Band<'_, T> {
    /// Returns whether a candidate of part `own_part` must still wait for its witness.
    fn waits(&self, own_part: usize, waiting: Waiting) -> bool {
        let Waiting { place, witness: (part, other) } = waiting;
        let [own, part] = [&self.candidates[own_part], &self.candidates[part as usize]];
        // Relaxed: a candidate that need not wait any more is checked again, properly.
        let other_live = part.live[other as usize].load(Ordering::Relaxed);
        let own_live = own.live[place as usize].load(Ordering::Relaxed);
        let first = || part.point[other as usize] < own.point[place as usize];
        own_live != 0 && (other_live > own_live || (other_live == own_live && first()))
    }

    /// Lowers a candidate that comes after the sample that lowers it.
    #[inline(always)]
    fn lower<const SHARED: bool>(&self, hit: &Hit<T>) {
        let live = &self.candidates[hit.part as usize].live[hit.place as usize];
        let value = hit.value.sorting_bits();
        let new = if hit.value > self.beta { value } else { 0 };
        if !SHARED {
            return live.store(new, Ordering::Relaxed);
        }
        let mut seen = live.load(Ordering::Relaxed);
        while value < seen {
            match live.compare_exchange_weak(seen, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}
