//! Equal rows of two files, as in overlapping tiles.

use super::{Merged, MergedFile};
use crate::bytes::parallel;
use crate::cloud::Cloud;
use crate::cloud::table::{Store, Table};
use crate::error::Error;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Bytes of memory for a row that is searched.
const ENTRY: u64 = 16;
/// Rows that a thread takes at a time.
const BLOCK: usize = 1 << 16;
/// Share of the extent by which stated corners may be off.
const SLACK: f64 = 1e-6;

/// Number of rows that are equal, in all their bytes, to a row of an earlier file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EqualRows {
    /// Number of rows.
    pub rows: u64,
    /// True if that is an estimate: not all candidates fit into the memory.
    pub about: bool,
}

type Corners = [[f64; 3]; 2];

impl Merged {
    /// Counts the rows that are equal to a row of an earlier file, by a digest of 64 bits, on `threads` threads. Only
    /// rows in places where, by the headers, another file has points are read and searched; with more of these than
    /// `memory` bytes hold, a share that is chosen by digest is counted.
    ///
    /// # Errors
    /// Same as [`crate::Reader::read`].
    pub fn equal_rows(&self, memory: u64, threads: usize) -> Result<EqualRows, Error> {
        let seen = Mutex::new(Seen::new(memory));
        for (number, file) in self.files.iter().enumerate() {
            let shared = shared(&self.files, number);
            if shared.is_empty() || file.rows == 0 {
                continue;
            }
            self.reader.for_each_of(self.parts_of(file), threads, |_, rows| {
                let (points, records) = (rows.coordinates()?, rows.records().unwrap_or_default());
                let points = |row: usize| points.get(row);
                let digests: Vec<u64> = digests(points, rows.len(), records, &shared).collect();
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                digests.into_iter().for_each(|digest| seen.add(digest, number as u32));
                Ok::<(), Error>(())
            })?;
        }
        Ok(seen.into_inner().unwrap_or_else(PoisonError::into_inner).counted())
    }

    /// Like [`Merged::equal_rows`], for all rows of [`crate::Reader::load`].
    pub fn equal_rows_of(&self, cloud: &Cloud, memory: u64) -> EqualRows {
        let Some(Table { store: Store::Records { bytes, stride }, .. }) = &cloud.table else {
            return EqualRows::default();
        };
        let seen = Mutex::new(Seen::new(memory));
        for (number, file) in self.files.iter().enumerate() {
            let shared = shared(&self.files, number);
            if shared.is_empty() {
                continue;
            }
            let (first, end) = (file.first as usize, (file.first + file.rows) as usize);
            let blocks = bytes[first * stride..end * stride].chunks(BLOCK * stride);
            parallel::each(blocks.enumerate(), |(block, records)| {
                let points = |row: usize| cloud.coordinates.get(first + block * BLOCK + row);
                let digests: Vec<u64> =
                    digests(points, records.len() / stride, records, &shared).collect();
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                digests.into_iter().for_each(|digest| seen.add(digest, number as u32));
            });
        }
        seen.into_inner().unwrap_or_else(PoisonError::into_inner).counted()
    }

    fn parts_of(&self, file: &MergedFile) -> Range<usize> {
        let last = self.reader.part_of(file.first + file.rows - 1);
        self.reader.part_of(file.first)..last + 1
    }
}

/// Returns the boxes in which a file may have points of others.
fn shared(files: &[MergedFile], number: usize) -> Vec<Corners> {
    let everywhere = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];
    let corners = files[number].bounds.unwrap_or(everywhere);
    let others = files.iter().enumerate().filter(|(other, file)| *other != number && file.rows > 0);
    let boxes = others.map(|(_, file)| both(corners, file.bounds.unwrap_or(everywhere)));
    boxes.filter(|[low, high]| (0..3).all(|axis| low[axis] <= high[axis])).collect()
}

/// Returns the intersection of two boxes, and a little more.
fn both([a, b]: Corners, [c, d]: Corners) -> Corners {
    let slack = |axis: usize| {
        let extent = (b[axis] - a[axis]).max(d[axis] - c[axis]);
        if extent.is_finite() { extent * SLACK } else { 0.0 }
    };
    [
        std::array::from_fn(|axis| a[axis].max(c[axis]) - slack(axis)),
        std::array::from_fn(|axis| b[axis].min(d[axis]) + slack(axis)),
    ]
}

/// Digests each of `count` rows that lies in one of the boxes.
fn digests<'a>(
    points: impl Fn(usize) -> [f64; 3] + 'a,
    count: usize,
    records: &'a [u8],
    shared: &'a [Corners],
) -> impl Iterator<Item = u64> + 'a {
    let stride = records.len() / count.max(1);
    let within = |at: [f64; 3], [low, high]: &Corners| {
        (0..3).all(|axis| low[axis] <= at[axis] && at[axis] <= high[axis])
    };
    let inside = move |row: &usize| {
        let at = points(*row);
        shared.iter().any(|one| within(at, one))
    };
    (0..count).filter(inside).map(move |row| {
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write(&records[row * stride..(row + 1) * stride]);
        hasher.finish()
    })
}

/// Digests with their files; if there are too many, those with a number of leading zeros.
struct Seen {
    all: Vec<(u64, u32)>,
    zeros: u32,
    limit: usize,
}

impl Seen {
    fn new(memory: u64) -> Seen {
        Seen { all: Vec::new(), zeros: 0, limit: (memory / ENTRY / 2).max(1024) as usize }
    }

    fn add(&mut self, digest: u64, file: u32) {
        if digest.leading_zeros() < self.zeros {
            return;
        }
        self.all.push((digest, file));
        while self.all.len() > self.limit && self.zeros < 63 {
            self.zeros += 1;
            let zeros = self.zeros;
            self.all.retain(|(digest, _)| digest.leading_zeros() >= zeros);
        }
    }

    fn counted(mut self) -> EqualRows {
        self.all.sort_unstable();
        let groups = self.all.chunk_by(|a, b| a.0 == b.0);
        let later = |group: &[(u64, u32)]| group.iter().filter(|one| one.1 > group[0].1).count();
        let rows: usize = groups.map(later).sum();
        EqualRows { rows: (rows as u64) << self.zeros, about: self.zeros > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_later_files_count() {
        let mut seen = Seen::new(1 << 20);
        for (digest, file) in [(7, 0), (7, 0), (8, 1), (7, 2), (7, 2), (8, 0), (9, 1)] {
            seen.add(digest, file);
        }
        assert_eq!(seen.counted(), EqualRows { rows: 3, about: false });
    }

    #[test]
    fn too_many_are_estimated() {
        let mut seen = Seen::new(0);
        let mut digest = 1u64;
        for _ in 0..100_000 {
            digest = digest.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mixed = digest ^ (digest >> 29);
            seen.add(mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15), 0);
            seen.add(mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15), 1);
        }
        assert!(seen.all.len() <= 1024);
        let found = seen.counted();
        assert!(found.about && (80_000..120_000).contains(&found.rows), "{found:?}");
    }

    #[test]
    fn boxes_that_touch_have_points_in_common() {
        let file = |low: f64, high: f64| MergedFile {
            name: String::new(),
            first: 0,
            rows: 1,
            bounds: Some([[low, 0.0, 0.0], [high, 1.0, 1.0]]),
        };
        let files = [file(0.0, 1.0), file(1.0, 2.0), file(3.0, 4.0)];
        assert_eq!((shared(&files, 0).len(), shared(&files, 2).len()), (1, 0));
        let unknown = MergedFile { bounds: None, ..file(0.0, 0.0) };
        assert_eq!(shared(&[file(0.0, 1.0), unknown], 0).len(), 1);
    }
}
