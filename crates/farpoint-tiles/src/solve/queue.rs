//! Candidates in order of choice: sorted once by value into bins, and a heap for those whose distance fell.

use crate::Key;
use farpoint::Scalar;
use farpoint::backend::memory;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) struct Queue<T> {
    sorted: Vec<(Key, u32)>,
    next: usize,
    lowered: BinaryHeap<Reverse<(Key, u32)>>,
    /// Places that are queued, their values and bins.
    queued: Vec<(T, u32)>,
    bins: Vec<u32>,
    ends: Vec<u32>,
}

impl<T: Scalar> Queue<T> {
    pub(super) fn new() -> Self {
        let (sorted, lowered, queued, bins, ends) = Default::default();
        Self { sorted, next: 0, lowered, queued, bins, ends }
    }

    /// Queues all points that are not held and come before the floor.
    pub(super) fn fill(&mut self, values: &[T], index: &[u64], held: &[bool], floor: Key) {
        self.lowered.clear();
        self.queued.clear();
        self.next = 0;
        let beta: T = floor.value();
        let (mut smallest, mut largest) = (T::INFINITY, T::ZERO);
        for place in 0..values.len() {
            let value = values[place];
            let before = value > beta || Key::new(value, index[place]) < floor;
            if before && !held[place] {
                memory::push(&mut self.queued, (value, place as u32));
                smallest = if value < smallest { value } else { smallest };
                largest = if value > largest { value } else { largest };
            }
        }
        self.sort(smallest, largest, index);
    }

    /// Larger values go to earlier bins; within a bin keys are compared.
    fn sort(&mut self, smallest: T, largest: T, index: &[u64]) {
        let count = (self.queued.len() / 2).clamp(1, 1 << 20);
        let scale = T::from_f64(count as f64 / (largest.to_f64() - smallest.to_f64()));
        // Equal values, or infinite ones: one bin.
        let scale = if scale.is_finite() { scale } else { T::ZERO };
        self.ends.clear();
        self.ends.resize(count, 0);
        self.bins.clear();
        for &(value, _) in &self.queued {
            let bin = ((largest - value) * scale).to_index().min(count - 1);
            self.ends[bin] += 1;
            memory::push(&mut self.bins, bin as u32);
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += std::mem::replace(end, sum);
        }
        memory::resize(&mut self.sorted, self.queued.len(), (Key::LAST, 0));
        for (&(value, place), &bin) in self.queued.iter().zip(&self.bins) {
            let next = &mut self.ends[bin as usize];
            self.sorted[*next as usize] = (Key::new(value, index[place as usize]), place);
            *next += 1;
        }
        let mut start = 0;
        for &end in &self.ends {
            if end - start > 1 {
                self.sorted[start as usize..end as usize].sort_unstable();
            }
            start = end;
        }
    }

    /// Returns the first point.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<(Key, u32)> {
        let sorted = self.sorted.get(self.next).copied();
        match (sorted, self.lowered.peek()) {
            (Some(first), Some(&Reverse(lowered))) => Some(first.min(lowered)),
            (first, lowered) => first.or(lowered.map(|&Reverse(lowered)| lowered)),
        }
    }

    /// Removes the first point.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        match (self.sorted.get(self.next), self.lowered.peek()) {
            (Some(first), Some(Reverse(lowered))) if lowered < first => drop(self.lowered.pop()),
            (None, _) => drop(self.lowered.pop()),
            _ => self.next += 1,
        }
    }

    /// Queues a point whose distance fell.
    #[inline(always)]
    pub(super) fn push(&mut self, key: Key, place: u32) {
        self.lowered.push(Reverse((key, place)));
    }
}
