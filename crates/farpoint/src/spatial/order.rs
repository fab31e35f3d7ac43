//! Brings points that are near each other into buckets that fit a cache: a counting sort by
//! coarse cells along a space-filling order. [`super::cut`] then cuts each bucket into leaves.
//!
//! Both steps keep points in index order wherever they are equal, so a leaf's points are in
//! index order: the first of equal distances in a leaf is the lowest index.

use super::entry::Entry;
use crate::Scalar;
use crate::cloud::Cloud;
use crate::memory::{Aligned, Shared};
use crate::threads::prelude::*;
use std::mem::MaybeUninit;

/// Buckets hold about this many points, unless a single cell holds more.
const BUCKET: usize = 2048;

/// Cells are aimed to hold this many points, were they spread evenly in space.
const POINTS_A_CELL: usize = 4;

/// At most `2^CELL_BITS` cells: their counts must fit a cache.
const CELL_BITS: u32 = 17;

/// Entries in bucket order, and where each bucket ends.
pub(super) struct Buckets<T> {
    pub(super) entries: Aligned<Entry<T>>,
    pub(super) ends: Vec<usize>,
    /// The first bucket beyond the plane that halves the points.
    pub(super) middle: usize,
}

/// Sorts the cloud's points into buckets, on `parts` threads.
pub(super) fn buckets<T: Scalar>(cloud: &Cloud<T>, parts: usize) -> Buckets<T> {
    let cells = Cells::new(cloud);
    let n = cloud.len;
    let part = n.div_ceil(parts).max(1);
    let mut cell_of = Aligned::new(n, 0u32);
    let count = |(k, cell_of): (usize, &mut [u32])| cells.count(cloud, k * part, cell_of);
    let mut counts: Vec<Vec<u32>> = match parts {
        1 => vec![count((0, &mut cell_of))],
        _ => cell_of.par_chunks_mut(part).enumerate().map(count).collect(),
    };
    // From counts to first positions, part by part within a bucket, so that the order of the
    // input is kept. Cells of one bucket share a position.
    let mut ends = Vec::new();
    let mut bucket_of = vec![0u32; 1 << cells.bits];
    let (mut filled, mut open, mut middle) = (0, 0, 0);
    for cell in 0..1 << cells.bits {
        let here: usize = counts.iter().map(|counts| counts[cell] as usize).sum();
        let new_half = cell == 1 << cells.bits >> 1;
        if open > 0 && (open + here > BUCKET || new_half) {
            ends.push(filled);
            open = 0;
        }
        if new_half {
            middle = ends.len();
        }
        bucket_of[cell] = ends.len() as u32;
        filled += here;
        open += here;
    }
    ends.push(filled);
    let mut positions = vec![vec![0usize; ends.len()]; counts.len()];
    for (positions, counts) in positions.iter_mut().zip(&mut counts) {
        for (&bucket, count) in bucket_of.iter().zip(counts.drain(..)) {
            positions[bucket as usize] += count as usize;
        }
    }
    let mut start = 0;
    for bucket in 0..ends.len() {
        for positions in &mut positions {
            start += std::mem::replace(&mut positions[bucket], start);
        }
    }
    let entries = scatter(cloud, &cell_of, &bucket_of, positions, part);
    Buckets { entries, ends, middle }
}

/// Writes each point to its bucket.
fn scatter<T: Scalar>(
    cloud: &Cloud<T>,
    cell_of: &[u32],
    bucket_of: &[u32],
    positions: Vec<Vec<usize>>,
    part: usize,
) -> Aligned<Entry<T>> {
    let [xs, ys, zs] = [&cloud.axes[0], &cloud.axes[1], &cloud.axes[2]];
    let fill = |entries: &mut [MaybeUninit<Entry<T>>]| {
        let target = Shared::new(entries);
        let write = |(k, (cell_of, mut positions)): (usize, (&[u32], Vec<usize>))| {
            for (point, &cell) in (k * part..).zip(cell_of) {
                let position = &mut positions[bucket_of[cell as usize] as usize];
                let entry = Entry::new([xs[point], ys[point], zs[point]], point as u32);
                // SAFETY: positions run over 0..len, each handed out once: they are the
                // running sums of the counts of the very same cells.
                unsafe { target.write(*position, MaybeUninit::new(entry)) };
                *position += 1;
            }
        };
        match positions.len() {
            1 => cell_of.chunks(part).zip(positions).enumerate().for_each(write),
            _ => cell_of.par_chunks(part).zip(positions).enumerate().for_each(write),
        }
    };
    // SAFETY: every position below the length is written once.
    unsafe { Aligned::write_with(cloud.len, fill) }
}

/// A grid whose cells are numbered along a space-filling order.
struct Cells<T> {
    bits: u32,
    axes: [Axis<T>; 3],
}

/// One axis of the grid: even cells below `middle`, and as many even cells from there on.
struct Axis<T> {
    middle: T,
    /// The part below the middle, and the one above.
    parts: [Part<T>; 2],
    /// The part of a cell's number that its index along the axis gives.
    spread: Vec<u32>,
}

/// Even cells along a part of an axis.
struct Part<T> {
    low: T,
    scale: T,
    last: T,
    first: usize,
}

impl<T: Scalar> Cells<T> {
    /// The box is halved along its longest side again and again; the sides of the halves,
    /// first half first, are the bits of a cell's number. The first plane halves the points,
    /// so that threads can share them out with little to tell each other; others the space.
    fn new(cloud: &Cloud<T>) -> Self {
        let wanted = (cloud.len / POINTS_A_CELL).max(1).ilog2();
        let bits = wanted.min(CELL_BITS);
        let mut side: [f64; 3] =
            std::array::from_fn(|a| cloud.high[a].to_f64() - cloud.low[a].to_f64());
        let mut halvings: [Vec<u32>; 3] = Default::default();
        for bit in (0..bits).rev() {
            let longest = (0..3).max_by(|&a, &b| side[a].total_cmp(&side[b])).expect("three");
            side[longest] /= 2.0;
            halvings[longest].push(bit);
        }
        let axes = std::array::from_fn(|a| {
            let first = bits > 0 && halvings[a].first() == Some(&(bits - 1));
            Axis::new(cloud, a, &halvings[a], first)
        });
        Self { bits, axes }
    }

    /// Fills in the cell of each point from `first` on, and counts the points of each cell.
    fn count(&self, cloud: &Cloud<T>, first: usize, cell_of: &mut [u32]) -> Vec<u32> {
        let mut counts = vec![0u32; 1 << self.bits];
        let values: [&[T]; 3] = std::array::from_fn(|a| &cloud.axes[a][first..]);
        for (k, cell) in cell_of.iter_mut().enumerate() {
            let place = |a: usize| self.axes[a].place(values[a][k]);
            *cell = place(0) | place(1) | place(2);
            counts[*cell as usize] += 1;
        }
        counts
    }
}

impl<T: Scalar> Axis<T> {
    /// `bits` are those of a cell's number that tell where along the axis it is.
    fn new(cloud: &Cloud<T>, axis: usize, bits: &[u32], by_points: bool) -> Self {
        let [low, high] = [cloud.low[axis], cloud.high[axis]];
        let cells = 1usize << bits.len();
        let half = cells / 2;
        let middle = match by_points {
            true => median(&cloud.axes[axis][..cloud.len]),
            // For cells of one size; where there is one cell, all are beyond the middle.
            false if half > 0 => T::from_f64(0.5 * low.to_f64() + 0.5 * high.to_f64()),
            false => low,
        };
        let part = |from: T, to: T, first: usize, cells: usize| {
            let scale = T::from_f64(cells as f64 / (to.to_f64() - from.to_f64()));
            Part {
                low: from,
                // Equal coordinates, or too far apart for numbers: one cell.
                scale: if scale.is_finite() { scale } else { T::ZERO },
                last: T::from_f64(cells.saturating_sub(1) as f64),
                first,
            }
        };
        let parts = [part(low, middle, 0, half), part(middle, high, half, cells - half)];
        let place = |index: usize| {
            bits.iter()
                .rev()
                .enumerate()
                .fold(0, |sum, (k, &bit)| sum | (((index >> k) & 1) as u32) << bit)
        };
        Self { middle, parts, spread: (0..cells).map(place).collect() }
    }

    /// What a coordinate adds to the number of its cell.
    #[inline(always)]
    fn place(&self, x: T) -> u32 {
        // A table, not a branch: which part it is cannot be predicted.
        let part = &self.parts[usize::from(x >= self.middle)];
        // SAFETY: no coordinate is below its part's low end, and `last` is a number of cells less
        // one, which `Cells::new` keeps below 2^20.
        let cell = unsafe { ((x - part.low) * part.scale).to_bin(part.last) };
        self.spread[part.first + cell]
    }
}

/// About the median, from a sample of the values.
fn median<T: Scalar>(values: &[T]) -> T {
    let mut some: Vec<T> = values.iter().step_by(values.len().div_ceil(2048)).copied().collect();
    let middle = some.len() / 2;
    let order = |a: &T, b: &T| a.partial_cmp(b).expect("coordinates are numbers");
    *some.select_nth_unstable_by(middle, order).1
}
