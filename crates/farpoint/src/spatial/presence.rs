//! Parts of a set of points that are present in a cell.

use super::grid::Ranges;
use crate::memory::Buffer;
use std::sync::atomic::{AtomicU64, Ordering};

/// A hashed table of cells, written by several threads. Several cells may share an entry, and parts whose
/// numbers differ by a multiple of [`PARTS`] a bit: a look may find parts that are not there, but never misses one.
#[derive(Default)]
pub(crate) struct Presence {
    /// The round of the entry in the upper half, a bit for each part in the lower.
    entries: Buffer<AtomicU64>,
    round: u32,
    mask: u32,
}

/// Number of distinct parts.
const PARTS: u32 = 32;

impl Presence {
    /// Removes all, and makes room for `points` points.
    pub(crate) fn clear(&mut self, points: usize) {
        let capacity = points.clamp(64, 1 << 24).next_power_of_two();
        self.round = self.round.wrapping_add(1);
        if self.entries.len() < capacity || self.round == 0 {
            self.entries.clear();
            self.entries.resize_with(capacity, || AtomicU64::new(0));
            self.round = 1;
        }
        self.mask = capacity as u32 - 1;
    }

    /// Returns the bit of a part.
    pub(crate) fn bit(part: usize) -> u32 {
        1 << (part as u32 % PARTS)
    }

    /// Records that a part has a point in the cell of this number.
    #[inline]
    pub(crate) fn add(&self, number: u32, bit: u32) {
        let entry = &self.entries[(number & self.mask) as usize];
        // Relaxed, here and below: readers have waited for those who add.
        let mut current = entry.load(Ordering::Relaxed);
        loop {
            let of_round = (current >> 32) as u32 == self.round;
            let bits = if of_round { current as u32 } else { 0 };
            if bits & bit != 0 {
                return;
            }
            let new = u64::from(self.round) << 32 | u64::from(bits | bit);
            let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
            match entry.compare_exchange_weak(current, new, success, failure) {
                Ok(_) => return,
                Err(now) => current = now,
            }
        }
    }

    /// Returns the bits of all parts that have points in these cells, and of others.
    #[inline]
    pub(crate) fn parts(&self, cells: Ranges) -> u32 {
        let mut found = 0;
        cells.rows(|number, more| {
            for number in (0..=more).map(|k| number.wrapping_add(k)) {
                let entry = self.entries[(number & self.mask) as usize].load(Ordering::Relaxed);
                let of_round = (entry >> 32) as u32 == self.round;
                found |= if of_round { entry as u32 } else { 0 };
            }
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cells;
    use super::*;
    use crate::random::SplitMix64;
    use crate::spatial::Grid;

    #[test]
    fn no_part_near_a_point_is_missed() {
        let mut random = SplitMix64::new(1);
        let mut presence = Presence::default();
        for round in 0..6 {
            let count = [3000, 40, 700][round % 3];
            let mut axis =
                || -> Vec<f64> { (0..count).map(|_| random.below(1000) as f64 / 1000.0).collect() };
            let [xs, ys, zs] = [axis(), axis(), axis()];
            let squared = [0.01f64, 0.0004][round % 2];
            let cells = Cells::new([0.0; 3], [1.0; 3], squared, 2.0);
            presence.clear(count);
            for part in 0..40 {
                let range = count * part / 40..count * (part + 1) / 40;
                let run = [&xs[range.clone()], &ys[range.clone()], &zs[range]];
                let add = |number| presence.add(number, Presence::bit(part));
                Grid::new(cells).sort(
                    cells,
                    run[0].len(),
                    [run].into_iter(),
                    &mut Buffer::default(),
                    add,
                );
            }
            for k in 0..count {
                let found = presence.parts(cells.ranges([xs[k], ys[k], zs[k]]));
                for other in 0..count {
                    let part = (0..40).find(|part| other < count * (part + 1) / 40).unwrap();
                    let [x, y, z] = [xs[k] - xs[other], ys[k] - ys[other], zs[k] - zs[other]];
                    assert!(x * x + y * y + z * z >= squared || found & Presence::bit(part) != 0);
                }
            }
        }
    }
}
