//! Puts points into groups of up to `LEAF` neighbours.
//!
//! Two steps. A counting sort by coarse cells along a space-filling order brings points that
//! are near each other into *buckets* that fit a cache. Each bucket is then cut at
//! the quantiles of its longest side until a group is left. Such groups have tighter boxes
//! than runs of the order itself: a sample touches half as many of them.
//!
//! Both steps keep points in index order wherever they are equal, so a group's points are in
//! index order: the first of equal distances in a group is the lowest index.

use super::{Aligned, FANOUT, LEAF, Shared};
use crate::Scalar;
use crate::cloud::Cloud;
use rayon::prelude::*;

/// A point on its way into a group: three coordinates, and the point's number as the bits of
/// a fourth, so that an entry is one vector.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Entry<T>([T; 4]);

impl<T: Scalar> Entry<T> {
    pub(super) fn point(&self) -> u32 {
        self.0[3].to_bits_u32()
    }

    pub(super) fn at(&self, axis: usize) -> T {
        self.0[axis]
    }
}

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
    let fill = |start: *mut Entry<T>| {
        let target = Shared::new(start);
        let write = |(k, (cell_of, mut positions)): (usize, (&[u32], Vec<usize>))| {
            for (point, &cell) in (k * part..).zip(cell_of) {
                let position = &mut positions[bucket_of[cell as usize] as usize];
                let number = T::from_bits_u32(point as u32);
                let entry = Entry([xs[point], ys[point], zs[point], number]);
                // SAFETY: positions run over 0..len, each handed out once: they are the
                // running sums of the counts of the very same cells.
                unsafe { target.get().add(*position).write(entry) };
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
        // A table, not a branch: which part it is can't be predicted.
        let part = &self.parts[usize::from(x >= self.middle)];
        self.spread[part.first + ((x - part.low) * part.scale).to_bin(part.last)]
    }
}

/// About the median, from a sample of the values.
fn median<T: Scalar>(values: &[T]) -> T {
    let mut some: Vec<T> = values.iter().step_by(values.len().div_ceil(2048)).copied().collect();
    let middle = some.len() / 2;
    let order = |a: &T, b: &T| a.partial_cmp(b).expect("coordinates are numbers");
    *some.select_nth_unstable_by(middle, order).1
}

/// Cuts a bucket into groups of up to [`LEAF`] points.
///
/// A range of points is cut along the longest side of its box into several slabs of equal
/// numbers of points, as many as halving the longest side again and again would make of that
/// side before all groups are made; then each slab is cut in the same way. On a surface this
/// gives the groups of a k-d tree in a third of its passes.
pub(super) struct Cutter<T> {
    spare: Vec<Entry<T>>,
    bins: Vec<u8>,
}

/// Finest resolution of a cut: slabs are told apart by a histogram of up to this many bins.
const BINS: usize = 256;

/// At most this many slabs are cut at once.
const SLABS: usize = 16;

impl<T: Scalar> Cutter<T> {
    pub(super) fn new() -> Self {
        Self { spare: Vec::new(), bins: Vec::new() }
    }

    /// Calls `group` with the groups of `entries` in order; reorders `entries`.
    pub(super) fn groups(&mut self, entries: &mut [Entry<T>], group: &mut impl FnMut(&[Entry<T>])) {
        if entries.is_empty() {
            return;
        }
        let mut spare = std::mem::take(&mut self.spare);
        if spare.len() < entries.len() {
            spare.resize(entries.len(), entries[0]);
        }
        self.cut(entries, &mut spare[..entries.len()], group);
        self.spare = spare;
    }

    /// The groups of `from`; both slices are of the same length and may be overwritten.
    fn cut(
        &mut self,
        from: &mut [Entry<T>],
        to: &mut [Entry<T>],
        group: &mut impl FnMut(&[Entry<T>]),
    ) {
        if from.len() <= LEAF {
            return group(from);
        }
        // Whole nodes of leaves first, so that a node is as compact as a leaf.
        let node = LEAF * FANOUT;
        let unit = if from.len() > node { node } else { LEAF };
        let units = from.len().div_ceil(unit);
        let (low, high) = bounds(from);
        let side: [T; 3] = std::array::from_fn(|a| high[a] - low[a]);
        let (axis, slabs) = longest_side(side.map(T::to_f64), units);
        let mut ends = [from.len(); SLABS];
        for (k, end) in ends[..slabs - 1].iter_mut().enumerate() {
            *end = unit * (units * (k + 1) / slabs);
        }
        self.scatter(from, to, axis, (low[axis], side[axis]), &ends[..slabs]);
        let mut start = 0;
        for &end in &ends[..slabs] {
            self.cut(&mut to[start..end], &mut from[start..end], group);
            start = end;
        }
    }

    /// Sorts `from` into slabs along `axis`, up to the resolution of the histogram; keeps the
    /// order within a slab. Slabs end at `ends`.
    fn scatter(
        &mut self,
        from: &[Entry<T>],
        to: &mut [Entry<T>],
        axis: usize,
        (low, side): (T, T),
        ends: &[usize],
    ) {
        let bins = (from.len() / 4).clamp(16, BINS);
        let scale = T::from_f64(bins as f64 / side.to_f64());
        let scale = if scale.is_finite() { scale } else { T::ZERO };
        let last = T::from_f64((bins - 1) as f64);
        let mut counts = [0u32; BINS];
        self.bins.clear();
        self.bins.extend(from.iter().map(|entry| {
            let bin = ((entry.at(axis) - low) * scale).to_bin(last);
            counts[bin] += 1;
            bin as u8
        }));
        // A bin goes to the slab where its first point falls, and on to the next when that is
        // full: points of one bin are as good as equal.
        let mut slab_of = [0u8; BINS];
        let mut room = [0u32; BINS];
        let (mut slab, mut below) = (0, 0);
        for bin in 0..bins {
            while slab + 1 < ends.len() && below >= ends[slab] {
                slab += 1;
            }
            (slab_of[bin], room[bin]) = (slab as u8, (ends[slab] - below) as u32);
            below += counts[bin] as usize;
        }
        let mut next = [0usize; SLABS];
        next[1..ends.len()].copy_from_slice(&ends[..ends.len() - 1]);
        for (entry, &bin) in from.iter().zip(&self.bins) {
            let bin = bin as usize;
            if room[bin] == 0 {
                slab_of[bin] += 1;
                let slab = slab_of[bin] as usize;
                room[bin] = (ends[slab] - ends[slab - 1]) as u32;
            }
            room[bin] -= 1;
            let place = &mut next[slab_of[bin] as usize % SLABS];
            to[*place] = *entry;
            *place += 1;
        }
    }
}

/// The longest of three sides, and how many slabs to cut it into for `units` parts in all.
fn longest_side(side: [f64; 3], units: usize) -> (usize, usize) {
    let longest =
        |side: &[f64; 3]| (0..3).max_by(|&a, &b| side[a].total_cmp(&side[b])).expect("three sides");
    let axis = longest(&side);
    let (mut left, mut parts, mut slabs) = (side, 1, 1);
    while parts < units && slabs < SLABS {
        let a = longest(&left);
        left[a] /= 2.0;
        parts *= 2;
        if a == axis {
            slabs *= 2;
        }
    }
    (axis, slabs.min(units))
}

/// Corners of the box around `entries`, which must not be empty. The fourth lane is along for
/// the ride.
pub(super) fn bounds<T: Scalar>(entries: &[Entry<T>]) -> ([T; 3], [T; 3]) {
    // Four at a time, so that a comparison need not wait for the one before.
    let mut low = [entries[0].0; 4];
    let mut high = low;
    let fours = entries.chunks_exact(4);
    let rest = fours.remainder();
    for four in fours {
        for (k, entry) in four.iter().enumerate() {
            low[k] = lower(low[k], entry.0);
            high[k] = higher(high[k], entry.0);
        }
    }
    for entry in rest {
        low[0] = lower(low[0], entry.0);
        high[0] = higher(high[0], entry.0);
    }
    let [x, y, z, _] = lower(lower(low[0], low[1]), lower(low[2], low[3]));
    let [u, v, w, _] = higher(higher(high[0], high[1]), higher(high[2], high[3]));
    ([x, y, z], [u, v, w])
}

#[inline(always)]
fn lower<T: Scalar>(a: [T; 4], b: [T; 4]) -> [T; 4] {
    std::array::from_fn(|k| if b[k] < a[k] { b[k] } else { a[k] })
}

#[inline(always)]
fn higher<T: Scalar>(a: [T; 4], b: [T; 4]) -> [T; 4] {
    std::array::from_fn(|k| if b[k] > a[k] { b[k] } else { a[k] })
}
