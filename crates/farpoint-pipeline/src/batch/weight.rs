//! How much memory the work on a file takes, estimated before it is read: by the header where that tells
//! the number of points, else by the format and the size.

use farpoint_io::{Format, ReadOptions};
use std::path::Path;

/// Files below this are not looked into: what they take is small whatever is in them.
const SMALL: u64 = 1 << 20;
/// Bytes that a point takes besides its file, in double precision: coordinates, the sampler's copy with
/// distances and its order, the output.
const POINT: u64 = 24 + 64 + 40;

/// Bytes that the work on the file takes, at most for usual files.
pub(crate) fn of(path: &Path, size: u64) -> u64 {
    // LASzip makes a point of 30 bytes about 5; 20 to 40 bytes of memory for each byte of other binary files.
    let factor = match Format::of_input(path) {
        // Text becomes a fifth, of which the rest is made.
        _ if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) => 60,
        Some(Format::Laz | Format::E57 | Format::Npz) => 40,
        Some(Format::Las) => 8,
        _ => 12,
    };
    let guess = size.saturating_mul(factor).max(SMALL);
    if size < SMALL {
        return guess;
    }
    let summary = farpoint_io::summary(path, &ReadOptions::default());
    let Ok(Some(summary)) = summary else { return guess };
    let row: u64 =
        summary.fields.iter().map(|field| (field.kind.size() * field.count) as u64).sum();
    size.saturating_add(summary.points.saturating_mul(row + POINT))
}
