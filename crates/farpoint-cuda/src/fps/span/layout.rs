//! Where the arrays of a cloud on several GPUs lie: `place_arrays` of `kernels/peak/state.cuh` and
//! `place_upper` of `kernels/peak/parts.cuh`, with the GPU of each page.

use crate::CudaScalar;
use crate::fps::peak;
use crate::pages::{PAGE, Run};
use crate::team::{aligned, blocks_of_children, padded};
use std::ops::Range;

/// Entries of a part's ring: `RING` of `kernels/peak/parts.cuh`.
pub(super) const RING: usize = 1 << 14;

/// The size of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) dims: usize,
    pub(super) wanted: usize,
    pub(super) starts: usize,
    /// GPUs, and blocks of all of them together.
    pub(super) parts: usize,
    pub(super) blocks: usize,
    /// Whether each part has all coordinates in its own memory: they are read in no order.
    pub(super) copied: bool,
}

/// Bytes from the beginning of the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// The coordinates: one copy for all, or one for each part, so far from each other.
    pub(super) points: usize,
    pub(super) points_stride: usize,
    pub(super) indices: usize,
    pub(super) values: usize,
    pub(super) arrays: usize,
    /// Headers, each followed by a copy of the upper levels, one a part.
    pub(super) own: usize,
    pub(super) own_stride: usize,
    /// Numbers of samples (`i64`), the covering radius (`T`), counters (`u64`), starts (`i64`): in the first part's
    /// own, as is the header.
    pub(super) chosen: usize,
    pub(super) covering: usize,
    pub(super) counters: usize,
    pub(super) starts: usize,
    /// All bytes, whole pages.
    pub(super) bytes: usize,
    /// Arrays that are shared out: the first part has the first of each, and so on.
    shared: Vec<Range<usize>>,
    parts: usize,
}

impl Layout {
    pub(super) fn new<T: CudaScalar>(size: Size) -> Self {
        let number = size_of::<T>();
        let Size { rows, dims, wanted, parts, blocks, .. } = size;
        let mut at = 0;
        let mut shared = Vec::new();
        let mut share = |at: &mut usize, bytes: usize| {
            let begin = *at;
            shared.push(begin..begin + bytes);
            *at = begin + bytes;
            begin
        };
        let points = at;
        let points_stride =
            if size.copied { (dims * rows * number).next_multiple_of(PAGE) } else { 0 };
        for _ in 0..if size.copied { 0 } else { dims } {
            share(&mut at, rows * number);
        }
        at += parts * points_stride;
        at = aligned(at);
        let indices = share(&mut at, 8 * wanted);
        at = aligned(at);
        let values = share(&mut at, number * wanted);
        at = aligned(at);
        let arrays = at;
        at += aligned(6 * number * blocks) + aligned(4 * 256 * blocks);
        let (padded, groups) = (padded(rows), padded(rows) / 32);
        share(&mut at, 3 * number * padded);
        at = aligned(at);
        // Distances, which are in use for most of the time, take the place of one key or two.
        for bytes in if number == 4 { &[4, 4, 4, 4][..] } else { &[8, 4, 4] } {
            share(&mut at, bytes * padded);
        }
        for bytes in [number * padded, 4 * padded, 4 * padded, 16 * groups] {
            at = aligned(at);
            share(&mut at, bytes);
        }
        at = aligned(at);
        let leaves = groups.div_ceil(32);
        share(&mut at, 8 * 32 * number * leaves);
        at = arrays + peak::arrays::<T>(rows, blocks);
        let own = at.next_multiple_of(PAGE);
        let upper = 8 * 32 * number * (blocks_of_children(groups.max(1)) - leaves.max(1));
        let ring = RING * (4 * number + 4);
        let chosen = own + aligned(128 + 2 * 16 * blocks) + ring + upper;
        let (covering, counters) = (chosen + 8, chosen + 16);
        let starts = counters + 8 * peak::COUNTERS;
        let own_stride = (starts + 8 * size.starts - own).next_multiple_of(PAGE);
        let bytes = own + parts * own_stride;
        Self {
            points,
            points_stride,
            indices,
            values,
            arrays,
            own,
            own_stride,
            chosen,
            covering,
            counters,
            starts,
            bytes,
            shared,
            parts,
        }
    }

    /// The GPU of the page that begins at `at`: of the array that its middle is in, the share.
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

    /// The pages, those in a row on one GPU together.
    pub(super) fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for at in (0..self.bytes).step_by(PAGE) {
            let owner = self.owner(at);
            match runs.last_mut() {
                Some(run) if run.owner == owner => run.bytes += PAGE,
                _ => runs.push(Run { owner, bytes: PAGE }),
            }
        }
        runs
    }

    /// The bytes on each GPU.
    pub(super) fn bytes_of_parts(&self) -> Vec<usize> {
        let mut bytes = vec![0; self.parts];
        self.runs().iter().for_each(|run| bytes[run.owner] += run.bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout<T: CudaScalar>(rows: usize, parts: usize) -> Layout {
        let blocks = 132 * parts;
        let copied = rows % 2 == 1;
        Layout::new::<T>(Size { rows, dims: 3, wanted: rows / 4, starts: 1, parts, blocks, copied })
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
            let (least, most) = (bytes.iter().min().unwrap(), bytes.iter().max().unwrap());
            assert!(most - least < 64 * PAGE, "{bytes:?}");
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
}
