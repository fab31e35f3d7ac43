//! Counting sort of points into buckets that fit a cache, by coarse cells along a space-filling
//! order. [`super::cut`] then cuts each bucket into leaves.
//!
//! Both steps keep points in index order wherever they are equal, so a leaf's points are in
//! index order: the first of equal distances in a leaf is the lowest index.

use super::entry::Entry;
use crate::Scalar;
use crate::cloud::WorkingCopy;
use crate::memory::{Aligned, Buffer, Shared};
use crate::threads::Team;
use std::mem::MaybeUninit;

/// Approximate number of points per bucket, unless a single cell holds more.
const BUCKET: usize = 2048;

/// Target number of points per cell, were they spread evenly in space.
const POINTS_A_CELL: usize = 4;

/// At most `2^CELL_BITS` cells: their counts must fit a cache.
const CELL_BITS: u32 = 17;

/// Up to this many points are one bucket: cutting them once more takes less time than sorting them.
const ONE_BUCKET: usize = 2 * BUCKET;

/// Entries in bucket order, and the end of each bucket.
pub(super) struct Buckets<T> {
    pub(super) entries: Aligned<Entry<T>>,
    pub(super) ends: Buffer<usize>,
}

/// Minimum number of points per thread.
const PART: usize = 1 << 14;

/// Sorts the cloud's points into buckets.
pub(super) fn buckets<T: Scalar>(team: &Team, cloud: &WorkingCopy<T>) -> Buckets<T> {
    let n = cloud.len;
    if n <= ONE_BUCKET {
        return one_bucket(cloud);
    }
    let part = n.div_ceil(team.members()).max(PART);
    let corners = [cloud.low, cloud.high];
    let mut cells = Cells::new(cloud, corners, false);
    let mut cell_of = Aligned::unwritten(n);
    let mut counts = count(team, cloud, &cells, part, &mut cell_of);
    let (mut bucket_of, mut ends) = number(team, &cells, &counts);
    let crowded = longest(&ends) > n.div_ceil(CROWDED).max(BUCKET);
    if let Some(fences) = crowded.then(|| fences(cloud)).filter(|fences| *fences != corners) {
        // A few outliers lie so far from all others that these are in few cells.
        cells = Cells::new(cloud, fences, true);
        counts = count(team, cloud, &cells, part, &mut cell_of);
        (bucket_of, ends) = number(team, &cells, &counts);
    }
    // SAFETY: the parts are all points, and `count` has written the cell of each.
    let cell_of = unsafe { cell_of.written() };
    let positions = positions(team, &counts, &bucket_of, ends.len());
    let entries = scatter(team, cloud, &cell_of, &bucket_of, positions, part);
    Buckets { entries, ends }
}

/// Returns all points as one bucket.
fn one_bucket<T: Scalar>(cloud: &WorkingCopy<T>) -> Buckets<T> {
    let [xs, ys, zs] = [0, 1, 2].map(|a| &cloud.axes[a][..cloud.len]);
    let fill = |entries: &mut [MaybeUninit<Entry<T>>]| {
        for (point, entry) in entries.iter_mut().enumerate() {
            entry.write(Entry::new([xs[point], ys[point], zs[point]], point as u32));
        }
    };
    // SAFETY: every entry is written.
    let entries = unsafe { Aligned::write_with(cloud.len, fill) };
    Buckets { entries, ends: Buffer::filled(1, cloud.len) }
}

/// Fills in the cell of each point, and counts the points of each cell, part by part.
fn count<T: Scalar>(
    team: &Team,
    cloud: &WorkingCopy<T>,
    cells: &Cells<T>,
    part: usize,
    cell_of: &mut [MaybeUninit<u32>],
) -> Buffer<Buffer<u32>> {
    let n = cell_of.len();
    let cell_of = Shared::new(cell_of);
    team.map(n.div_ceil(part).max(1), |k| {
        let (first, end) = (k * part, (k * part + part).min(n));
        // SAFETY: the points are the part's alone, and below the length.
        let cell_of = unsafe { cell_of.part(first..end) };
        match cells.fenced {
            false => cells.count::<false>(cloud, first, cell_of),
            true => cells.count::<true>(cloud, first, cell_of),
        }
    })
}

/// Returns the number of points of the longest bucket.
fn longest(ends: &[usize]) -> usize {
    let first = ends.first().copied().unwrap_or_default();
    ends.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default().max(first)
}

/// Cells are laid again, without outliers, if a bucket has more than this part of all points.
const CROWDED: usize = 4;

/// Cells in a row that are summed as one task.
const ROW: usize = 1 << 12;

/// Combines neighboring cells in buckets: the bucket of each cell, and the end of each bucket.
fn number<T>(
    team: &Team,
    cells: &Cells<T>,
    counts: &[Buffer<u32>],
) -> (Buffer<u32>, Buffer<usize>) {
    let count = 1usize << cells.bits;
    let rows = team.map(count.div_ceil(ROW), |row| {
        let row = row * ROW..(row * ROW + ROW).min(count);
        let mut sums = Buffer::collected(counts[0][row.clone()].iter().copied());
        for counts in &counts[1..] {
            sums.iter_mut().zip(&counts[row.clone()]).for_each(|(sum, &count)| *sum += count);
        }
        sums
    });
    let (mut ends, mut bucket_of) = (Buffer::default(), Buffer::with_capacity(count));
    let (mut filled, mut open) = (0, 0);
    for (cell, here) in rows.iter().flatten().enumerate() {
        let here = *here as usize;
        if open > 0 && (open + here > BUCKET || cell == count >> 1) {
            ends.push(filled);
            open = 0;
        }
        bucket_of.push(ends.len() as u32);
        filled += here;
        open += here;
    }
    ends.push(filled);
    (bucket_of, ends)
}

/// Returns the position of each part's first point of each bucket: part by part within a bucket, so that the
/// order of the input is kept.
fn positions(
    team: &Team,
    counts: &[Buffer<u32>],
    bucket_of: &[u32],
    buckets: usize,
) -> Buffer<Buffer<usize>> {
    let mut positions = team.map(counts.len(), |k| {
        let mut sums = Buffer::filled(buckets, 0);
        for (&bucket, &count) in bucket_of.iter().zip(&counts[k]) {
            sums[bucket as usize] += count as usize;
        }
        sums
    });
    let mut start = 0;
    for bucket in 0..buckets {
        for positions in &mut positions {
            start += std::mem::replace(&mut positions[bucket], start);
        }
    }
    positions
}

/// Writes each point to its bucket.
fn scatter<T: Scalar>(
    team: &Team,
    cloud: &WorkingCopy<T>,
    cell_of: &[u32],
    bucket_of: &[u32],
    mut positions: Buffer<Buffer<usize>>,
    part: usize,
) -> Aligned<Entry<T>> {
    let [xs, ys, zs] = [&cloud.axes[0], &cloud.axes[1], &cloud.axes[2]];
    let fill = |entries: &mut [MaybeUninit<Entry<T>>]| {
        let (target, parts) = (Shared::new(entries), positions.len());
        let positions = Shared::new(&mut positions);
        team.each(parts, |k, _| {
            // SAFETY: the positions of a part are its task's alone.
            let positions = unsafe { &mut positions.part(k..k + 1)[0] };
            let cells = &cell_of[k * part..(k * part + part).min(cell_of.len())];
            for (point, &cell) in (k * part..).zip(cells) {
                let position = &mut positions[bucket_of[cell as usize] as usize];
                let entry = Entry::new([xs[point], ys[point], zs[point]], point as u32);
                // SAFETY: positions run over 0..len, each handed out once: they are the
                // running sums of the counts of the very same cells.
                unsafe { target.write(*position, MaybeUninit::new(entry)) };
                *position += 1;
            }
        });
    };
    // SAFETY: every position below the length is written once.
    unsafe { Aligned::write_with(cloud.len, fill) }
}

/// A grid whose cells are numbered along a space-filling order.
struct Cells<T> {
    bits: u32,
    axes: [Axis<T>; 3],
    /// True if points may lie outside: they are in the cells at the border.
    fenced: bool,
}

/// One axis of the grid: even cells below `middle`, and as many even cells from there on.
struct Axis<T> {
    middle: T,
    /// The part below the middle, and the one above.
    parts: [Part<T>; 2],
    /// Bits of a cell's number for each index along the axis.
    spread: Buffer<u32>,
}

/// Even cells along a part of an axis.
struct Part<T> {
    low: T,
    scale: T,
    last: T,
    first: usize,
}

impl<T: Scalar> Cells<T> {
    /// Halves the box along its longest side again and again; the sides of the halves,
    /// first half first, are the bits of a cell's number. The first plane halves the points,
    /// so that threads can divide them with little communication; others the space.
    fn new(cloud: &WorkingCopy<T>, corners: [[T; 3]; 2], fenced: bool) -> Self {
        let target_bits = (cloud.len / POINTS_A_CELL).max(1).ilog2();
        let bits = target_bits.min(CELL_BITS);
        let ends: [[T; 2]; 3] = std::array::from_fn(|a| corners.map(|corner| corner[a]));
        let mut side = ends.map(|[low, high]| high.to_f64() - low.to_f64());
        let mut halvings: [Buffer<u32>; 3] = Default::default();
        for bit in (0..bits).rev() {
            let longest = (0..3).max_by(|&a, &b| side[a].total_cmp(&side[b])).expect("three");
            side[longest] /= 2.0;
            halvings[longest].push(bit);
        }
        let axes = std::array::from_fn(|a| {
            let first = bits > 0 && halvings[a].first() == Some(&(bits - 1));
            Axis::new(&cloud.axes[a][..cloud.len], ends[a], &halvings[a], first)
        });
        Self { bits, axes, fenced }
    }

    /// Fills in the cell of each point from `first` on, and counts the points of each cell.
    fn count<const FENCED: bool>(
        &self,
        cloud: &WorkingCopy<T>,
        first: usize,
        cell_of: &mut [MaybeUninit<u32>],
    ) -> Buffer<u32> {
        let mut counts = Buffer::filled(1 << self.bits, 0);
        let values: [&[T]; 3] = std::array::from_fn(|a| &cloud.axes[a][first..]);
        for (k, cell) in cell_of.iter_mut().enumerate() {
            let place = |a: usize| self.axes[a].place::<FENCED>(values[a][k]);
            let number = place(0) | place(1) | place(2);
            cell.write(number);
            counts[number as usize] += 1;
        }
        counts
    }
}

impl<T: Scalar> Axis<T> {
    /// `bits` are the bits of a cell's number that encode its index along the axis.
    fn new(values: &[T], [low, high]: [T; 2], bits: &[u32], by_points: bool) -> Self {
        let cells = 1usize << bits.len();
        let half = cells / 2;
        let middle = match by_points {
            true => median(values),
            // For cells of one size; where there is one cell, all are beyond the middle.
            false if half > 0 => T::from_f64(0.5 * low.to_f64() + 0.5 * high.to_f64()),
            false => low,
        };
        let part = |from: T, to: T, first: usize, cells: usize| {
            let scale = T::from_f64(cells as f64 / (to.to_f64() - from.to_f64()));
            Part {
                low: from,
                // Equal coordinates, or an infinite difference: one cell.
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
        Self { middle, parts, spread: Buffer::collected((0..cells).map(place)) }
    }

    /// Returns the bits that a coordinate adds to the number of its cell.
    #[inline(always)]
    fn place<const FENCED: bool>(&self, x: T) -> u32 {
        // A table, not a branch: which part it is cannot be predicted.
        let part = &self.parts[usize::from(x >= self.middle)];
        let x = if FENCED && x < part.low { part.low } else { x };
        // SAFETY: the coordinate is not below its part's low end, and `last` is a number of cells less
        // one, which `Cells::new` keeps below 2^20.
        let cell = unsafe { ((x - part.low) * part.scale).to_bin(part.last) };
        self.spread[part.first + cell]
    }
}

/// Returns an approximate median, from a sample of the values.
fn median<T: Scalar>(values: &[T]) -> T {
    quantile(&mut sample(values), 2)
}

/// Returns the box without outliers: Tukey's fences along each axis, from a sample of the points.
fn fences<T: Scalar>(cloud: &WorkingCopy<T>) -> [[T; 3]; 2] {
    let fence = |a: usize| {
        let mut some = sample(&cloud.axes[a][..cloud.len]);
        let [first, third] = [1, 3].map(|k| quantile(&mut some, k).to_f64());
        let reach = 1.5 * (third - first);
        let [low, high] = [T::from_f64(first - reach), T::from_f64(third + reach)];
        let (cloud_low, cloud_high) = (cloud.low[a], cloud.high[a]);
        [
            if low > cloud_low { low } else { cloud_low },
            if high < cloud_high { high } else { cloud_high },
        ]
    };
    let fences = [fence(0), fence(1), fence(2)];
    [0, 1].map(|side| fences.map(|ends| ends[side]))
}

/// Returns up to 2048 of the values.
fn sample<T: Scalar>(values: &[T]) -> Buffer<T> {
    Buffer::collected(values.iter().step_by(values.len().div_ceil(2048)).copied())
}

/// Returns the value below which `quarters` quarters of them lie.
fn quantile<T: Scalar>(values: &mut [T], quarters: usize) -> T {
    let place = values.len() * quarters / 4;
    let order = |a: &T, b: &T| a.partial_cmp(b).expect("coordinates are numbers");
    *values.select_nth_unstable_by(place, order).1
}
