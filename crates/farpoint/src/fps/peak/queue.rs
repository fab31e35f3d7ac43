//! The candidates of a band in order: largest distance first, among equals the lowest index.
//!
//! Distances of a band lie between its floor and the largest distance, and are spread fairly
//! evenly: a counting sort by value leaves a few candidates in each bin, which are then
//! compared. Ties fall in one bin and are sorted there.

use super::candidates::Candidates;
use crate::Scalar;
use crate::memory::Buffer;
use crate::scalar::extremes;

/// Candidates sorted by key, each with its place.
pub(super) struct Queue<T: Scalar> {
    sorted: Buffer<(T::Key, u32)>,
    next: usize,
    bins: Buffer<u32>,
    first: Buffer<u32>,
}

impl<T: Scalar> Queue<T> {
    pub(super) fn new() -> Self {
        Self {
            sorted: Buffer::default(),
            next: 0,
            bins: Buffer::default(),
            first: Buffer::default(),
        }
    }

    /// Returns the first candidate in order.
    #[inline]
    pub(super) fn first(&self) -> Option<&(T::Key, u32)> {
        self.sorted.get(self.next)
    }

    /// Removes the first candidate.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(T::Key, u32)> {
        let first = self.first().copied();
        self.next += 1;
        first
    }

    /// Sorts all candidates.
    pub(super) fn fill(&mut self, candidates: &Candidates<T>) {
        let values = &candidates.value[..candidates.len()];
        self.next = 0;
        self.bin(values);
        // From the number of each bin to its start.
        let mut sum = 0;
        for first in &mut self.first {
            sum += std::mem::replace(first, sum);
        }
        self.sorted.resize(values.len(), (T::ZERO.key(0), 0));
        for (place, (&value, &bin)) in values.iter().zip(&self.bins).enumerate() {
            let next = &mut self.first[bin as usize];
            self.sorted[*next as usize] = (value.key(candidates.point[place]), place as u32);
            *next += 1;
        }
        // By now each bin's entry is its end.
        let mut start = 0;
        for &end in &self.first {
            if end - start > 1 {
                self.sorted[start as usize..end as usize].sort_unstable();
            }
            start = end;
        }
    }

    /// Puts every value in a bin, larger values in earlier ones, and counts the bins.
    fn bin(&mut self, values: &[T]) {
        let count = (values.len() / 2).clamp(1, 1 << 20);
        let last = T::from_f64((count - 1) as f64);
        let (smallest, largest) = extremes(values).unwrap_or_default();
        let scale = T::from_f64(count as f64 / (largest.to_f64() - smallest.to_f64()));
        // Equal values, or infinite ones: one bin, for infinity * 0 is NaN, which becomes 0.
        let scale = if scale.is_finite() { scale } else { T::ZERO };
        self.first.clear();
        self.first.resize(count, 0);
        self.bins.clear();
        self.bins.extend(values.iter().map(|&value| {
            // SAFETY: `largest` is the largest of the values; there are 2^20 bins at most.
            let bin = unsafe { ((largest - value) * scale).to_bin(last) };
            self.first[bin] += 1;
            bin as u32
        }));
    }
}
