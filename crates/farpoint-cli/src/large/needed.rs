//! Memory that sampling a file takes where it is read whole.

use crate::args;
use farpoint_io::{NumberType, Scan, summary};
use farpoint_pipeline::disk::{Error, PROCESS};
use std::fs;

/// Bytes that sampling a file in memory takes, at most.
pub(super) fn of(args: &args::Sample, scan: &Scan) -> u64 {
    let number = if scan.is_single() { 4 } else { 8 };
    let row = scan.stride().map(|stride| stride as u64);
    bytes(args, scan.len(), row.unwrap_or_else(|| mean(scan.bytes(), scan.len(), number)), number)
}

/// The same of a file that can't be read in parts, by its header; `None` where that does not say enough.
pub(super) fn of_header(args: &args::Sample) -> Option<u64> {
    let path = &args.input.input;
    let about = summary(path, &args.input.reading.options()).ok()??;
    let single = about.fields.first().is_some_and(|field| field.kind == NumberType::F32);
    let number = if single { 4 } else { 8 };
    let length = fs::metadata(path).ok()?.len();
    Some(bytes(args, about.points, mean(length, about.points, number), number))
}

/// Bytes of a row, where rows differ.
fn mean(length: u64, points: u64, number: u64) -> u64 {
    (length / points.max(1)).max(3 * number)
}

/// So many points of so many bytes each, with coordinates of `number` bytes. Measured with 3,000 to 4 million points in
/// PLY, NPY, LAZ, text and E57, a quarter of them and all.
fn bytes(args: &args::Sample, points: u64, row: u64, number: u64) -> u64 {
    let amount = args.wanted.amount(args::Length::in_meters);
    let samples = amount.limit(points as usize).map_or(points, |samples| samples as u64);
    // The rows, coordinates and what sampling makes of them; of samples the output.
    let sampling = points.saturating_mul(3 * row + 12 * number);
    sampling.saturating_add(samples.saturating_mul(2 * row + 4 * number)).saturating_add(PROCESS)
}

/// The error, with the memory that suffices where sampling in memory takes less than through the disk.
pub(super) fn least(args: &args::Sample, whole: Option<u64>, error: Error) -> Error {
    match (error, whole) {
        (Error::Memory { name, needed, allowed, .. }, Some(whole))
            if args.spool.is_none() && whole < needed =>
        {
            Error::Memory { name, what: "sampling", needed: whole, allowed, fix: "allow more" }
        }
        (error, _) => error,
    }
}
