//! Memory estimates of work before it begins: of a job, of a file that is read whole, of one of many files.

use crate::disk::PROCESS;
use crate::{InputPoints, Job, Points, Request};
use farpoint_io::{Format, NumberType, ReadOptions, Reader, summary};
use std::fs;
use std::path::Path;

/// Files below this are not examined: they take little memory whatever their content.
const SMALL: u64 = 1 << 20;
/// Bytes that a point takes besides its file, in double precision: coordinates, the sampler's copy with
/// distances and its order, the output.
const POINT: u64 = 24 + 64 + 40;

impl Job {
    /// Returns the bytes that it takes on the CPU at least, besides the cloud: a copy of the coordinates with
    /// distances, and as much again for most algorithms, which order the copy. Measured: 37 to 53 bytes for each
    /// point in single precision.
    pub fn bytes(&self, points: &InputPoints<'_>) -> u64 {
        let points = &points.points;
        let plain = match self {
            Self::Exact(job) => {
                matches!(job.algorithm.name(), "auto" | "naive" | "reference" | "persistent")
            }
            Self::Approximate(_) | Self::Centroids(_) | Self::Voxels(_) => true,
        };
        let size = if matches!(points, Points::F32(_)) { 4 } else { 8 };
        points.len() as u64 * size * if plain { 4 } else { 8 }
    }
}

impl Request {
    /// Returns the most bytes that sampling a file in memory takes.
    pub(crate) fn memory_of(&self, reader: &Reader) -> u64 {
        let number = if reader.is_single() { 4 } else { 8 };
        let row = reader.stride().map(|stride| stride as u64);
        let row = row.unwrap_or_else(|| mean(reader.bytes(), reader.len(), number));
        self.estimate(reader.len(), row, number)
    }

    /// Like [`Self::memory_of`], for a file that can't be read in parts, by its header; `None` if that is not enough.
    pub(crate) fn memory_of_header(&self, path: &Path) -> Option<u64> {
        let header = summary(path, &self.reading).ok()??;
        let single = header.fields.first().is_some_and(|field| field.kind == NumberType::F32);
        let number = if single { 4 } else { 8 };
        let length = fs::metadata(path).ok()?.len();
        Some(self.estimate(header.points, mean(length, header.points, number), number))
    }

    /// Estimates the bytes for `points` points of `row` bytes each, with coordinates of `number` bytes. Measured with
    /// 3,000 to 4 million points in PLY, NPY, LAZ, text and E57, a quarter of them and all.
    fn estimate(&self, points: u64, row: u64, number: u64) -> u64 {
        let amount = self.size.amount(1.0);
        let samples = amount.limit(points as usize).map_or(points, |samples| samples as u64);
        // The rows, coordinates and the sampler's copies; for samples, the output.
        let sampling = points.saturating_mul(3 * row + 12 * number);
        let output = samples.saturating_mul(2 * row + 4 * number);
        sampling.saturating_add(output).saturating_add(PROCESS)
    }
}

/// Returns the mean bytes of a row, if rows differ.
fn mean(length: u64, points: u64, number: u64) -> u64 {
    (length / points.max(1)).max(3 * number)
}

/// Returns the most bytes that the work on one of many usual files takes: by the header if it states the number of
/// points, else by the format and the size.
pub(crate) fn weight(path: &Path, size: u64) -> u64 {
    // LASzip compresses a point of 30 bytes to about 5; 20 to 40 bytes of memory for each byte of other binary files.
    let factor = match Format::of_input(path) {
        // Text is compressed to a fifth.
        _ if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) => 60,
        Some(Format::Laz | Format::E57 | Format::Npz) => 40,
        Some(Format::Las) => 8,
        _ => 12,
    };
    let guess = size.saturating_mul(factor).max(SMALL);
    if size < SMALL {
        return guess;
    }
    let header = summary(path, &ReadOptions::default());
    let Ok(Some(header)) = header else { return guess };
    let row: u64 = header.fields.iter().map(|field| (field.kind.size() * field.count) as u64).sum();
    size.saturating_add(header.points.saturating_mul(row + POINT))
}
