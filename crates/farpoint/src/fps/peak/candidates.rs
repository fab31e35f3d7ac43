//! The points of a band, sorted into a grid.

use super::staged::Segment;
use crate::Scalar;
use crate::memory::{Buffer, Padded};
use crate::scalar::extremes;
use crate::spatial::{BoxTree, Cells, Grid};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Candidates of a band from one part of the cloud, in grid order. Aligned, for threads write to
/// neighbors.
#[repr(align(128))]
pub(super) struct Candidates<T: Scalar> {
    pub(super) grid: Grid<T>,
    /// First three coordinates by axis.
    pub(super) at: [Padded<T>; 3],
    /// Squared distance at the start of the band.
    pub(super) value: Padded<T>,
    /// Tentative distance, as sorting bits; 0 if decided.
    pub(super) live: Buffer<AtomicU64>,
    /// Set once a thread has begun this part.
    begun: AtomicBool,
    /// Slot in the tree.
    pub(super) slot: Buffer<u32>,
    /// Point in that slot.
    pub(super) point: Buffer<u32>,
    /// Box around them; the low corner is infinite when there is none.
    pub(super) low: [T; 3],
    pub(super) high: [T; 3],
    /// Place of each candidate in grid order.
    places: Buffer<u32>,
}

/// A point about to be chosen.
#[derive(Clone, Copy)]
pub(super) struct Sample<T> {
    pub(super) at: [T; 3],
    pub(super) value: T,
    /// The point's number in the cloud.
    pub(super) point: u32,
    /// Slot in the tree.
    pub(super) slot: u32,
}

impl<T: Scalar> Candidates<T> {
    pub(super) fn new(cells: Cells<T>) -> Self {
        Self {
            grid: Grid::new(cells),
            at: Default::default(),
            value: Padded::default(),
            live: Buffer::default(),
            begun: AtomicBool::new(false),
            slot: Buffer::default(),
            point: Buffer::default(),
            low: [T::INFINITY; 3],
            high: [T::INFINITY; 3],
            places: Buffer::default(),
        }
    }

    /// Returns the number of candidates.
    pub(super) fn len(&self) -> usize {
        self.slot.len()
    }

    /// Returns the tentative distance of a candidate; zero if it is decided.
    #[inline(always)]
    pub(super) fn value_of(&self, place: u32) -> T {
        T::from_sorting_bits(self.live[place as usize].load(Ordering::Acquire))
    }

    /// Returns a candidate about to be chosen.
    #[inline(always)]
    pub(super) fn sample(&self, place: u32, value: T) -> Sample<T> {
        let place = place as usize;
        let at = [0, 1, 2].map(|a| self.at[a][place]);
        Sample { at, value, point: self.point[place], slot: self.slot[place] }
    }

    /// Sorts `count` points, given in runs, into the grid. Calls back with each one's cell.
    pub(super) fn fill<'a>(
        &mut self,
        tree: &BoxTree<T>,
        cells: Cells<T>,
        count: usize,
        runs: impl Iterator<Item = Segment<'a, T>> + Clone,
        cell: impl FnMut(u32),
    ) {
        self.grid.sort(cells, count, runs.clone().map(|run| run.at()), &mut self.places, cell);
        for row in self.at.iter_mut().chain([&mut self.value]) {
            row.resize(count);
        }
        self.slot.resize(count, 0);
        self.point.resize(count, 0);
        (self.low, self.high) = ([T::INFINITY; 3], [T::INFINITY; 3]);
        let mut places = &self.places[..];
        for run in runs {
            let (here, rest) = places.split_at(run.len());
            places = rest;
            for (a, (row, from)) in self.at.iter_mut().zip(run.at()).enumerate() {
                scatter(row, from, here);
                if let Some((low, high)) = extremes(from) {
                    let first = self.low[a] == T::INFINITY;
                    self.low[a] = if first || low < self.low[a] { low } else { self.low[a] };
                    self.high[a] = if first || high > self.high[a] { high } else { self.high[a] };
                }
            }
            scatter(&mut self.value, run.values(), here);
            scatter(&mut self.slot, run.slots(), here);
            // Loaded now, not when staged: one after another, the numbers of many points come
            // into the cache at the same time.
            for (&slot, &place) in run.slots().iter().zip(here) {
                self.point[place as usize] = tree.points[slot as usize];
            }
        }
    }

    /// Prepares for several threads: no part is begun, all candidates are undecided.
    pub(super) fn reset_live(&mut self) {
        self.live.clear();
        let live = self.value.iter().map(|value| AtomicU64::new(value.sorting_bits()));
        self.live.extend(live);
        *self.begun.get_mut() = false;
    }

    /// Begins this part; returns `false` if a thread has done so before.
    pub(super) fn begin(&self) -> bool {
        !self.begun.load(Ordering::Relaxed) && !self.begun.swap(true, Ordering::Relaxed)
    }
}

fn scatter<T: Copy>(to: &mut [T], from: &[T], places: &[u32]) {
    for (&value, &place) in from.iter().zip(places) {
        to[place as usize] = value;
    }
}
