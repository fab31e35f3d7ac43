//! Cuts a bucket of points into groups of up to [`LEAF`] neighbors, by quantiles of its longest
//! side. Such groups have tighter boxes than runs of a space-filling order: a sample touches half
//! as many of them.

use super::entry::{Entry, bounds};
use super::{FANOUT, LEAF};
use crate::Scalar;
use crate::memory::Buffer;

/// Cuts a bucket into groups of up to [`LEAF`] points.
///
/// A range of points is cut along the longest side of its box into several slabs of equal
/// numbers of points, as many as halving the longest side again and again would make of that
/// side before all groups are made; then each slab is cut in the same way. On a surface this
/// gives the groups of a k-d tree in a third of its passes.
pub(super) struct Cutter<T> {
    spare: Buffer<Entry<T>>,
    bins: Buffer<u8>,
}

/// Maximum number of bins of the histogram by which slabs are separated.
const BINS: usize = 256;

/// Number of entries per bin from which quantiles are estimated.
const SAMPLE: usize = 4;

/// Maximum number of slabs cut at once.
const SLABS: usize = 16;

impl<T: Scalar> Cutter<T> {
    pub(super) fn new() -> Self {
        Self { spare: Buffer::default(), bins: Buffer::default() }
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

    /// Cuts `from` into groups; both slices are of the same length and may be overwritten.
    fn cut(
        &mut self,
        from: &mut [Entry<T>],
        to: &mut [Entry<T>],
        group: &mut impl FnMut(&[Entry<T>]),
    ) {
        if from.len() <= LEAF {
            return group(from);
        }
        // Whole nodes of leaves first, so that a node is as compact as a leaf. Few nodes are parts of the longest side
        // anyway.
        let node = LEAF * FANOUT;
        let unit = if from.len() > 4 * node { node } else { LEAF };
        let units = from.len().div_ceil(unit);
        let (low, high) = bounds(from);
        if low[..3] == high[..3] {
            return from.chunks(LEAF).for_each(group);
        }
        let side: [T; 3] = std::array::from_fn(|a| high[a] - low[a]);
        let (axis, mut slabs) = longest_side(side.map(T::to_f64), units);
        let mut counts = self.bin_evenly(from, axis, (low[axis], side[axis]));
        let max_count = *counts.iter().max().expect("bins") as usize;
        if max_count > from.len() / 2 && side[axis] > T::ZERO {
            // Coordinates are so far apart that most of them are as good as equal. Every halving may make another
            // axis the longest.
            counts = self.bin_by_quantiles(from, axis);
            slabs = 2;
        }
        let mut ends = [from.len(); SLABS];
        for (k, end) in ends[..slabs - 1].iter_mut().enumerate() {
            *end = unit * (units * (k + 1) / slabs);
        }
        self.scatter(from, to, &counts, &ends[..slabs]);
        let mut start = 0;
        for &end in &ends[..slabs] {
            self.cut(&mut to[start..end], &mut from[start..end], group);
            start = end;
        }
    }

    /// Sorts `from` into slabs by bins, with `counts` entries each; keeps the order within a slab. Slabs
    /// end at `ends`.
    fn scatter(
        &mut self,
        from: &[Entry<T>],
        to: &mut [Entry<T>],
        counts: &[u32; BINS],
        ends: &[usize],
    ) {
        // A bin goes to the slab where its first point falls, and on to the next when that is
        // full: points of one bin are as good as equal.
        let mut slab_of = [0u8; BINS];
        let mut room = [0u32; BINS];
        let (mut slab, mut below) = (0, 0);
        for bin in 0..bins(from.len()) {
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

impl<T: Scalar> Cutter<T> {
    /// Puts entries in bins of one width along `axis`; returns the number in each.
    fn bin_evenly(&mut self, from: &[Entry<T>], axis: usize, (low, side): (T, T)) -> [u32; BINS] {
        let bins = bins(from.len());
        let scale = T::from_f64(bins as f64 / side.to_f64());
        let scale = if scale.is_finite() { scale } else { T::ZERO };
        let last = T::from_f64((bins - 1) as f64);
        // SAFETY: `low` is the lowest coordinate of all entries; there are `BINS` bins at most.
        self.bin(from, |entry| unsafe { ((entry.at(axis) - low) * scale).to_bin(last) })
    }

    /// Puts entries in bins of about equal numbers along `axis`, by a sample of them; returns the number in each.
    fn bin_by_quantiles(&mut self, from: &[Entry<T>], axis: usize) -> [u32; BINS] {
        let bins = bins(from.len());
        let step = from.len().div_ceil(SAMPLE * bins);
        let mut some = Buffer::collected(from.iter().step_by(step).map(|entry| entry.at(axis)));
        some.sort_unstable_by(|a, b| a.partial_cmp(b).expect("coordinates are numbers"));
        let ends = Buffer::collected((1..bins).map(|k| some[k * some.len() / bins]));
        self.bin(from, |entry| ends.partition_point(|end| *end <= entry.at(axis)))
    }

    #[inline(always)]
    fn bin(&mut self, from: &[Entry<T>], of: impl Fn(&Entry<T>) -> usize) -> [u32; BINS] {
        let mut counts = [0; BINS];
        self.bins.clear();
        self.bins.extend(from.iter().map(|entry| {
            let bin = of(entry);
            counts[bin] += 1;
            bin as u8
        }));
        counts
    }
}

/// Returns the number of bins for `entries` entries.
fn bins(entries: usize) -> usize {
    (entries / 4).clamp(16, BINS)
}

/// Returns the longest of three sides, and the number of slabs to cut it into for `units` parts in all.
fn longest_side(side: [f64; 3], units: usize) -> (usize, usize) {
    let longest =
        |side: &[f64; 3]| (0..3).max_by(|&a, &b| side[a].total_cmp(&side[b])).expect("three sides");
    let axis = longest(&side);
    let (mut remaining, mut parts, mut slabs) = (side, 1, 1);
    while parts < units && slabs < SLABS {
        let a = longest(&remaining);
        remaining[a] /= 2.0;
        parts *= 2;
        if a == axis {
            slabs *= 2;
        }
    }
    (axis, slabs.min(units))
}
