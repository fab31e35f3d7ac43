//! Layout of the arrays of a cloud on several GPUs, or on one and in host memory: `place_arrays` of
//! `kernels/peak/state.cuh` and `place_own` of `kernels/peak/parts.cuh`, with the location of each page.

use crate::CudaScalar;
use crate::fps::peak;
use crate::pages::{PAGE, Run};
use crate::team::{aligned, blocks_of_children, padded};
use std::ops::Range;

/// Size of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) dims: usize,
    pub(super) samples: usize,
    pub(super) starts: usize,
    /// Number of GPUs, and of blocks of all of them together.
    pub(super) parts: usize,
    pub(super) blocks: usize,
    /// Set if each part has all coordinates in its own memory, axis by axis. Else there is one copy, row by row, as
    /// they are read in random order; if they are not needed once the tree is built and are small enough, it shares
    /// the memory of the lists of accepted points and of the band.
    pub(super) copied: bool,
}

/// Offsets in bytes from the beginning of the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offsets {
    /// The coordinates: one copy for all, or one for each part, at this stride.
    pub(super) points: usize,
    pub(super) points_stride: usize,
    pub(super) indices: usize,
    pub(super) values: usize,
    pub(super) arrays: usize,
    /// Each part's own memory: a header, counts, and a copy of the upper levels.
    pub(super) own: usize,
    pub(super) own_stride: usize,
    /// Numbers of samples (`i64`), the covering radius (`T`), counters (`u64`), starts (`i64`): in the first part's
    /// own memory, as is the header.
    pub(super) chosen: usize,
    pub(super) covering: usize,
    pub(super) counters: usize,
    pub(super) starts: usize,
    /// Total bytes, in whole pages.
    pub(super) bytes: usize,
    /// Arrays that are partitioned: the first part has the first share of each, and so on.
    shared: Vec<Range<usize>>,
    /// Of these, ranges that may be in host memory, least used first.
    cold: Vec<Range<usize>>,
    /// Ranges that must stay on the GPUs.
    resident: Vec<Range<usize>>,
    /// Set for the pages in host memory.
    host: Vec<bool>,
    parts: usize,
}

/// Number of rows up to which a tree may have a single level: 32 groups.
const SINGLE_LEVEL_ROWS: usize = 32 * 32;

/// Counters of dealing, in words: `place_own` of `kernels/peak/parts.cuh`.
const fn words_of_dealing<T>() -> usize {
    256 * (size_of::<T>() + 4) * 3 * 2
}

impl Offsets {
    pub(super) fn new<T: CudaScalar>(size: Size) -> Self {
        let number = size_of::<T>();
        let Size { rows, dims, samples, parts, blocks, .. } = size;
        let (padded, groups) = (padded(rows), padded(rows) / 32);
        let (mut at, mut shared) = (0, Vec::new());
        let mut share = |at: &mut usize, bytes: usize| {
            let begin = *at;
            shared.push(begin..begin + bytes);
            *at = begin + bytes;
            begin..begin + bytes
        };
        let input = dims * rows * number;
        let points_stride = if size.copied { input.next_multiple_of(PAGE) } else { 0 };
        // Further axes are read for every distance. Of few points the tree is built without a barrier.
        let borrowed = dims <= 3 && input <= (number + 8) * padded && rows > SINGLE_LEVEL_ROWS;
        let input = share(&mut at, if size.copied || borrowed { 0 } else { input });
        at = aligned(at + parts * points_stride);
        let indices = share(&mut at, 8 * samples);
        at = aligned(at);
        let values = share(&mut at, number * samples);
        at = aligned(at);
        let arrays = at;
        at += aligned(6 * number * blocks) + aligned(4 * 256 * blocks);
        let sites = share(&mut at, 3 * number * padded);
        at = aligned(at);
        // Distances, which are in use for most of the time, share the memory of one key or two.
        let distance = share(&mut at, number * padded);
        let listed = share(&mut at, (8 - number) * padded);
        let order = share(&mut at, 4 * padded);
        let witness = share(&mut at, 4 * padded);
        let mut aligned_share = |bytes: usize| {
            at = aligned(at);
            share(&mut at, bytes)
        };
        let keys = aligned_share(number * padded);
        let places = aligned_share(4 * padded);
        let band = aligned_share(4 * padded);
        let best = aligned_share(16 * groups);
        let leaves = groups.div_ceil(32);
        let tree = aligned_share(8 * 32 * number * leaves);
        at = arrays + peak::arrays::<T>(rows, blocks);
        let own = at.next_multiple_of(PAGE);
        let upper = 8 * 32 * number * (blocks_of_children(groups.max(1)) - leaves.max(1));
        let counts = 4 * words_of_dealing::<T>() + 4 * 256 * (blocks / parts);
        let chosen = own + aligned(peak::header_bytes::<T>(blocks)) + counts + upper;
        let (covering, counters) = (chosen + 8, chosen + 16);
        let starts = counters + 8 * peak::COUNTERS;
        let own_stride = (starts + 8 * size.starts - own).next_multiple_of(PAGE);
        let bytes = own + parts * own_stride;
        // The lists of accepted points are hardly used beyond the number of samples requested.
        let used = |array: &Range<usize>| samples as f64 / rows.max(1) as f64 * array.len() as f64;
        let tails = |array: &Range<usize>| {
            let (used, array) = (used(array) as usize, array.clone());
            let share = move |part: usize| array.start + array.len() / parts * part;
            (0..parts).map(move |part| share(part) + used / parts..share(part + 1))
        };
        let head_end = sites.start;
        let mut cold = vec![input, indices.clone(), values.clone()];
        cold.extend(tails(&places).chain(tails(&keys)));
        let points = if size.copied || !borrowed { 0 } else { keys.start };
        cold.extend([band, listed, keys, places, witness, order, best, sites]);
        Self {
            points,
            points_stride,
            indices: indices.start,
            values: values.start,
            arrays,
            own,
            own_stride,
            chosen,
            covering,
            counters,
            starts,
            bytes,
            shared,
            cold,
            resident: vec![arrays..head_end, distance, tree, own..bytes],
            host: vec![false; bytes / PAGE],
            parts,
        }
    }

    /// Moves pages to host memory, least used first, until each part has at most `limit` bytes on its GPU; returns
    /// false if that is impossible.
    ///
    /// Synchronization state stays on the GPUs: a GPU's atomic operation on a word of host memory may not be atomic
    /// for others.
    pub(super) fn spill(&mut self, limit: usize) -> bool {
        let mut bytes = self.bytes_of_parts();
        for array in std::mem::take(&mut self.cold) {
            for page in (array.start / PAGE..array.end.div_ceil(PAGE)).rev() {
                let (part, range) = (self.owner(page * PAGE), page * PAGE..(page + 1) * PAGE);
                let overlaps =
                    |other: &Range<usize>| other.start < range.end && range.start < other.end;
                if bytes[part] > limit && !self.host[page] && !self.resident.iter().any(overlaps) {
                    self.host[page] = true;
                    bytes[part] -= PAGE;
                }
            }
        }
        bytes.iter().all(|&bytes| bytes <= limit)
    }

    /// Bytes in host memory.
    pub(super) fn bytes_of_host(&self) -> usize {
        self.host.iter().filter(|&&host| host).count() * PAGE
    }

    /// Returns the GPU of the page that begins at `at`: the owner of the array share at its middle.
    fn owner(&self, at: usize) -> usize {
        let middle = at + PAGE / 2;
        if at < self.parts * self.points_stride {
            return at / self.points_stride;
        }
        if at >= self.own {
            return (at - self.own) / self.own_stride;
        }
        let next = self.shared.partition_point(|array| array.end <= middle);
        match self.shared.get(next) {
            Some(array) if array.start <= middle => {
                ((middle - array.start) as u128 * self.parts as u128 / array.len() as u128) as usize
            }
            _ => 0,
        }
    }

    /// Returns the pages, consecutive ones on one GPU merged into runs.
    pub(super) fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (at, &host) in std::iter::zip((0..self.bytes).step_by(PAGE), &self.host) {
            let owner = self.owner(at);
            match runs.last_mut() {
                Some(run) if run.owner == owner && run.host == host => run.bytes += PAGE,
                _ => runs.push(Run { owner, host, bytes: PAGE }),
            }
        }
        runs
    }

    /// Bytes on each GPU.
    pub(super) fn bytes_of_parts(&self) -> Vec<usize> {
        let mut bytes = vec![0; self.parts];
        let on_gpus = self.runs().into_iter().filter(|run| !run.host);
        on_gpus.for_each(|run| bytes[run.owner] += run.bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout<T: CudaScalar>(rows: usize, parts: usize) -> Offsets {
        let blocks = 132 * parts;
        let copied = rows % 2 == 1;
        let size = Size { rows, dims: 3, samples: rows / 4, starts: 1, parts, blocks, copied };
        Offsets::new::<T>(size)
    }

    #[test]
    fn every_gpu_has_its_share_of_each_array() {
        for parts in 1..=4 {
            let layout = layout::<f32>(100_000_000, parts);
            let share = 100_000_000 / parts * 4;
            for part in 0..parts {
                let inside = layout.indices / PAGE * PAGE + (part * share + share / 2) / 2;
                assert_eq!(layout.owner(inside / PAGE * PAGE), part);
                assert_eq!(layout.owner(layout.own + part * layout.own_stride), part);
            }
            let bytes = layout.bytes_of_parts();
            let (min, max) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
            assert!(max - min < 64 * PAGE, "{bytes:?}");
            assert_eq!(bytes.iter().sum::<usize>(), layout.bytes);
        }
    }

    #[test]
    fn arrays_do_not_overlap() {
        for rows in [1, 31, 33, 1_024, 1_025, 70_000, 3_000_001] {
            let layout = layout::<f64>(rows, 2);
            let ends = layout.shared.iter().map(|array| array.end);
            assert!(ends.zip(&layout.shared[1..]).all(|(end, next)| end <= next.start));
            assert!(layout.shared.last().unwrap().end <= layout.own, "{layout:?}");
            assert!(
                layout.starts + 8 <= layout.own + layout.own_stride
                    && layout.covering.is_multiple_of(8)
            );
        }
    }

    #[test]
    fn the_least_used_arrays_go_to_host_memory() {
        for parts in [1, 2] {
            let full = layout::<f32>(100_000_000, parts);
            let full_bytes = full.bytes_of_parts()[0];
            assert_eq!(full.bytes_of_host(), 0);
            for (share, sites) in [(4, 0), (3, 0), (2, 0), (1, 1)] {
                let mut layout = full.clone();
                let limit = full_bytes / 4 * share;
                assert!(layout.spill(limit), "{share} quarters");
                assert!(layout.bytes_of_parts().iter().all(|&bytes| bytes <= limit));
                let on_gpus: usize = layout.bytes_of_parts().iter().sum();
                assert_eq!(on_gpus + layout.bytes_of_host(), layout.bytes);
                // Coordinates in the order of the tree come last, distances and boxes never.
                let at = layout.shared[3].start.div_ceil(PAGE)..layout.shared[3].end / PAGE - 1;
                assert_eq!(layout.host[at].iter().any(|&host| host), sites > 0, "{share}");
                for range in [layout.shared[4].clone(), layout.shared.last().unwrap().clone()] {
                    let pages = range.start / PAGE..range.end.div_ceil(PAGE);
                    assert!(layout.host[pages].iter().all(|host| !host), "{range:?}");
                }
                assert!(layout.host[layout.own / PAGE..].iter().all(|host| !host));
            }
            assert!(!full.clone().spill(full_bytes / 20));
        }
    }
}
