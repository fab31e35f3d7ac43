//! Which candidates of a band are chosen, and with what distance.
//!
//! Candidates are taken in order: largest tentative distance first, among equals the lowest
//! index. The first one is a peak, so it is accepted; it lowers those within reach, and those
//! that fall to the band's floor leave it.
//!
//! With several parts (one per thread) a part does the same with its own candidates, but cannot
//! see what happens in the others. It knows their values at the start of the band, and values
//! only fall. So a candidate is *blocked* when a candidate of another part, or a blocked one
//! of its own, that may come before it lies within its distance; blocked ones wait for the
//! second pass, which is over all parts. Accepting with values that are too high is safe: the
//! proof in docs/peak.md needs upper bounds only.

use super::candidates::Candidates;
use super::list::List;
use super::queue::Queue;
use super::search::{Reach, Sample, Search, Threat, box_distance};
use crate::Scalar;
use crate::memory::Padded;
use crate::simd::Simd;
use crate::spatial::BoxTree;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What one part of a band is solved with, and what came out.
pub(super) struct Solver<T: Scalar> {
    /// Tentative distances, in the candidates' order; -1 for those that have left the band.
    live: Padded<T>,
    /// Candidates in order.
    queue: Queue<T>,
    /// Those whose distance has fallen since, by their new key.
    lowered: BinaryHeap<Reverse<(T::Key, u32)>>,
    hits: Vec<(u32, T)>,
    runs: Vec<(u32, u32)>,
    /// Keys of those chosen, in order.
    pub(super) accepted: Vec<T::Key>,
    /// The same points, to be applied to the cloud.
    pub(super) list: List<T>,
    /// Places of candidates left to the second pass, and the box around them.
    blocked: Vec<u32>,
    blocked_box: ([T; 3], [T; 3]),
    /// Chosen ones that may lower candidates of other parts.
    border: Vec<Sample<T>>,
}

impl<T: Scalar> Solver<T> {
    pub(super) fn new() -> Self {
        Self {
            live: Padded::default(),
            queue: Queue::new(),
            lowered: BinaryHeap::new(),
            hits: Vec::new(),
            runs: Vec::new(),
            accepted: Vec::new(),
            list: List::default(),
            blocked: Vec::new(),
            blocked_box: ([T::ZERO; 3], [T::ZERO; 3]),
            border: Vec::new(),
        }
    }

    /// Makes ready for these candidates.
    pub(super) fn load(&mut self, candidates: &Candidates<T>) {
        self.live.copy_from(&candidates.value);
        self.queue.fill(candidates);
        self.lowered.clear();
        self.accepted.clear();
        self.list.clear();
        self.blocked.clear();
        self.border.clear();
    }

    /// Candidates left to the second pass, with their distances as far as they are known.
    pub(super) fn left<'a>(
        &'a self,
        candidates: &'a Candidates<T>,
    ) -> impl Iterator<Item = ([T; 3], T, u32, u32)> + 'a {
        self.blocked.iter().map(|&place| place as usize).filter_map(|place| {
            let at = [0, 1, 2].map(|a| candidates.at[a][place]);
            let value = self.live[place];
            let (slot, point) = (candidates.slot[place], candidates.point[place]);
            (value > T::ZERO).then_some((at, value, slot, point))
        })
    }

    /// Chosen ones that may lower candidates of other parts.
    pub(super) fn border(&self) -> &[Sample<T>] {
        &self.border
    }

    /// Lowers candidates that come after a point chosen elsewhere. Call before [`Self::solve`].
    pub(super) fn lower<S: Simd<T>>(&mut self, simd: S, band: &Band<'_, T>, by: Sample<T>) {
        self.reach(simd, band, by);
    }

    /// Chooses. `others` are the candidates of all other parts.
    pub(super) fn solve<S: Simd<T>>(
        &mut self,
        simd: S,
        band: &Band<'_, T>,
        others: &[&Candidates<T>],
    ) {
        while let Some((key, place)) = self.next() {
            let value = T::key_value(key);
            // Its distance has fallen since; it is queued with the new one if still in.
            if self.live[place as usize] != value {
                continue;
            }
            let sample = band.sample(place as usize, value);
            if !others.is_empty() {
                match self.threat(simd, band, others, &sample, key) {
                    Threat::Before => {
                        self.block(place, sample.at);
                        continue;
                    }
                    Threat::After => self.border.push(sample),
                    Threat::None => {}
                }
            }
            self.live[place as usize] = T::from_f64(-1.0);
            self.accepted.push(key);
            self.list.push(sample.at, sample.slot);
            self.reach(simd, band, sample);
        }
    }

    /// Leaves a candidate to the second pass.
    fn block(&mut self, place: u32, at: [T; 3]) {
        let (low, high) = &mut self.blocked_box;
        if self.blocked.is_empty() {
            (*low, *high) = (at, at);
        }
        for a in 0..3 {
            low[a] = if at[a] < low[a] { at[a] } else { low[a] };
            high[a] = if at[a] > high[a] { at[a] } else { high[a] };
        }
        self.blocked.push(place);
    }

    /// The next candidate in order.
    fn next(&mut self) -> Option<(T::Key, u32)> {
        match (self.queue.first(), self.lowered.peek()) {
            (Some(first), Some(Reverse(other))) if other < first => {
                self.lowered.pop().map(|Reverse(next)| next)
            }
            (None, _) => self.lowered.pop().map(|Reverse(next)| next),
            _ => self.queue.pop(),
        }
    }

    /// Lowers the candidates within reach of a chosen one that come after it.
    fn reach<S: Simd<T>>(&mut self, simd: S, band: &Band<'_, T>, sample: Sample<T>) {
        let Self { live, hits, runs, .. } = self;
        hits.clear();
        let (tree, candidates) = (band.tree, band.candidates);
        candidates.grid.search(sample.at, runs);
        simd.vectorize(Reach { tree, candidates, runs, live, sample, hits });
        for &(place, value) in &self.hits {
            if value > band.beta {
                let point = candidates.point[place as usize];
                self.lowered.push(Reverse((value.key(point), place)));
            } else {
                self.live[place as usize] = T::from_f64(-1.0);
            }
        }
    }

    /// Whether an undecided candidate that this part cannot decide lies within the sample's
    /// distance and may come before it, or after it.
    fn threat<S: Simd<T>>(
        &mut self,
        simd: S,
        band: &Band<'_, T>,
        others: &[&Candidates<T>],
        sample: &Sample<T>,
        key: T::Key,
    ) -> Threat {
        let tree = band.tree;
        let runs = &mut self.runs;
        let mut search = |candidates: &Candidates<T>, live: &Padded<T>| {
            candidates.grid.search(sample.at, runs);
            if runs.is_empty() {
                return Threat::None;
            }
            simd.vectorize(Search { tree, candidates, runs, live, sample: *sample, key })
        };
        // Of its own part, whatever comes before it and is undecided is blocked.
        let (low, high) = self.blocked_box;
        if !self.blocked.is_empty()
            && box_distance(sample.at, low, high) < sample.value
            && search(band.candidates, &self.live) == Threat::Before
        {
            return Threat::Before;
        }
        let mut threat = Threat::None;
        for other in others {
            if other.len() > 0 && box_distance(sample.at, other.low, other.high) < sample.value {
                threat = threat.max(search(other, &other.value));
                if threat == Threat::Before {
                    break;
                }
            }
        }
        threat
    }
}

/// What all steps of a band share.
pub(super) struct Band<'a, T: Scalar> {
    pub(super) tree: &'a BoxTree<T>,
    pub(super) candidates: &'a Candidates<T>,
    /// The band's floor: candidates that fall to it leave.
    pub(super) beta: T,
}

impl<T: Scalar> Band<'_, T> {
    fn sample(&self, place: usize, value: T) -> Sample<T> {
        let x = |a: usize| self.candidates.at[a][place];
        Sample { at: [x(0), x(1), x(2)], value, slot: self.candidates.slot[place] }
    }
}
