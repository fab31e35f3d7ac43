//! Sorts chosen rows from the order of choice to that of the file, and their records back.
//!
//! Both are sorted by ranges: first by parts of the file, so that one pass over it finds all rows; then by places in
//! the output, so that a range of it is assembled in memory. Each takes a file.

use crate::disk::error::Error;
use crate::disk::extents::{Extents, Run};
use crate::disk::spool::{ROW, row_bytes, row_of};
use farpoint::backend::memory as fallible;
use farpoint_io::Reader;
use rayon::prelude::*;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Called now and then, by any thread: an error cancels the work.
pub(crate) type CheckCanceled<'a> = &'a (dyn Fn() -> Result<(), Error> + Sync);

/// Size in bytes of a row number and its position.
pub(crate) const PAIR: usize = 2 * ROW;
/// Extents of lists that are read once.
const EXTENT: usize = 1 << 16;

/// Chosen rows by parts of the file.
pub(crate) struct Rows<'a> {
    reader: &'a Reader,
    /// First part of each range, and the number of parts.
    groups: Vec<usize>,
    /// The group of each part.
    group: Vec<u32>,
    extents: Extents,
    count: u64,
    path: PathBuf,
}

impl<'a> Rows<'a> {
    /// Creates room for about `count` rows, of which `memory` bytes are worked on at a time.
    pub(crate) fn new(
        reader: &'a Reader,
        path: &Path,
        count: u64,
        memory: u64,
    ) -> Result<Rows<'a>, Error> {
        // In memory a pair takes 16 bytes, beside those of the file.
        let groups_needed = (count * (PAIR as u64 + 16)).div_ceil(memory.max(1)).max(1);
        let max_rows = reader.len().div_ceil(groups_needed);
        let (mut groups, mut group, mut first) = (vec![0], Vec::new(), 0);
        for part in 0..reader.parts() {
            if reader.rows(part).end - first > max_rows && part > groups[groups.len() - 1] {
                groups.push(part);
                first = reader.rows(part).start;
            }
            group.push(groups.len() as u32 - 1);
        }
        groups.push(reader.parts());
        let extents = Extents::create(path, groups.len() - 1, EXTENT)?;
        Ok(Rows { reader, groups, group, extents, count: 0, path: path.to_owned() })
    }

    /// Adds the next chosen row.
    pub(crate) fn push(&mut self, row: u64) -> Result<(), Error> {
        let part = self.reader.part_of(row);
        let mut pair = [0; PAIR];
        pair[..ROW].copy_from_slice(&row_bytes(row));
        pair[ROW..].copy_from_slice(&row_bytes(self.count));
        self.count += 1;
        self.extents.append(self.group[part] as usize, &pair)
    }

    /// Reads the file once; returns the records in the order in which the rows were added.
    pub(crate) fn fetch(
        self,
        path: &Path,
        width: usize,
        memory: u64,
        threads: usize,
        check_canceled: CheckCanceled<'_>,
    ) -> Result<Records, Error> {
        let Rows { reader, groups, extents, count, .. } = self;
        let (file, _, runs) = extents.finish()?;
        let stride = reader.stride();
        let bytes = count * (2 * width + ROW) as u64;
        let each = count.div_ceil(bytes.div_ceil(memory.max(1)).max(1)).max(1);
        let ranges = count.div_ceil(each) as usize;
        let extents = Extents::create(path, ranges, EXTENT)?;
        for (range, run) in groups.windows(2).zip(&runs) {
            let pairs = sorted(&file, run).map_err(|source| Error::read(&self.path, source))?;
            if pairs.is_empty() {
                continue;
            }
            reader.for_each_of(range[0]..range[1], threads, |_, rows| {
                check_canceled()?;
                let first = rows.first();
                let from = pairs.partition_point(|pair| pair.0 < first);
                let to = pairs.partition_point(|pair| pair.0 < first + rows.len() as u64);
                let record = |row: u64| rows.stored((row - first) as usize);
                place(&pairs[from..to], each, &extents, (record, stride.is_none()))
            })?;
        }
        let (file, _, runs) = extents.finish()?;
        Ok(Records { file, path: path.to_owned(), runs, each, count, stride })
    }
}

/// Returns the pairs of a group by row.
fn sorted(file: &File, run: &Run) -> std::io::Result<Vec<(u64, u64)>> {
    let mut bytes = fallible::zeros(run.length as usize);
    run.read(file, EXTENT, 0, &mut bytes)?;
    let half = |pair: &[u8], at: usize| pair[at..].first_chunk().map_or(0, |&bytes| row_of(bytes));
    let pairs = bytes.as_chunks::<PAIR>().0.iter();
    let mut pairs: Vec<(u64, u64)> =
        fallible::collected(pairs.map(|pair| (half(pair, 0), half(pair, ROW))));
    drop(bytes);
    pairs.par_sort_unstable();
    Ok(pairs)
}

/// Adds the records of rows to the ranges of their places.
fn place<'r>(
    pairs: &[(u64, u64)],
    each: u64,
    extents: &Extents,
    (record, lines): (impl Fn(u64) -> &'r [u8], bool),
) -> Result<(), Error> {
    let mut pairs = pairs.to_vec();
    pairs.sort_by_key(|pair| pair.1 / each);
    let mut bytes = Vec::new();
    for same_range in pairs.chunk_by(|a, b| a.1 / each == b.1 / each) {
        bytes.clear();
        for &(row, place) in same_range {
            bytes.extend(row_bytes(place));
            let record = record(row);
            if lines {
                bytes.extend((record.len() as u32).to_le_bytes());
            }
            bytes.extend_from_slice(record);
        }
        extents.append((same_range[0].1 / each) as usize, &bytes)?;
    }
    Ok(())
}

/// Records by ranges of their places.
pub(crate) struct Records {
    file: File,
    path: PathBuf,
    runs: Vec<Run>,
    /// Records of a range.
    each: u64,
    count: u64,
    /// Bytes of a record; `None` if they are lines, which come with their lengths.
    stride: Option<usize>,
}

impl Records {
    /// Returns the number of ranges.
    pub(crate) fn ranges(&self) -> usize {
        self.runs.len()
    }

    /// Returns the places of the records of a range.
    pub(crate) fn places(&self, range: usize) -> Range<u64> {
        let first = range as u64 * self.each;
        first..self.count.min(first + self.each)
    }

    /// Returns the records of a range, in order; lines each with a line feed.
    pub(crate) fn range(&self, range: usize) -> Result<Vec<u8>, Error> {
        let (run, places) = (&self.runs[range], self.places(range));
        let mut bytes = fallible::zeros(run.length as usize);
        let read = run.read(&self.file, EXTENT, 0, &mut bytes);
        read.map_err(|source| Error::read(&self.path, source))?;
        let Some(stride) = self.stride else { return Ok(lines(&bytes, &places)) };
        let mut out = fallible::zeros((places.end - places.start) as usize * stride);
        for placed in bytes.chunks_exact(ROW + stride) {
            let Some((&place, record)) = placed.split_first_chunk() else { continue };
            let at = (row_of(place) - places.start) as usize * stride;
            out[at..at + stride].copy_from_slice(record);
        }
        Ok(out)
    }
}

/// Returns lines in the order of their places, each with a line feed.
fn lines(bytes: &[u8], places: &Range<u64>) -> Vec<u8> {
    let mut found = fallible::filled((places.end - places.start) as usize, &bytes[..0]);
    let (mut rest, mut length) = (bytes, 0);
    while let Some((&place, after)) = rest.split_first_chunk::<ROW>() {
        let Some((&size, after)) = after.split_first_chunk() else { break };
        let (line, after) = after.split_at((u32::from_le_bytes(size) as usize).min(after.len()));
        found[(row_of(place) - places.start) as usize] = line;
        length += line.len() + 1;
        rest = after;
    }
    let mut out = fallible::with_capacity(length);
    for line in found {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out
}
