//! Places of the points of a LAS or LAZ file, without reading them.

use super::head::{Head, LARGEST, Points};
use super::without_points;
use crate::bytes::load::Readable;
use crate::cloud::layout::{Layout, Storage};
use crate::error::ParseError;

/// Reads all but the points; `None` for a file that can't be read in parts.
pub(crate) fn layout(source: &mut dyn Readable, length: u64) -> Result<Option<Layout>, ParseError> {
    let head = Head::read(source, length, LARGEST)?;
    let (count, bounds, skipped) = (head.count, head.bounds(), head.skipped);
    let stride = usize::from(head.header.raw.point_data_record_length);
    let (head, points) = without_points(head);
    let rows = match points {
        Points::Stored(start) if !skipped => Storage::Stride(start),
        Points::Chunks(chunks) if !skipped && chunks.are_small() => Storage::Chunks(chunks),
        _ => return Ok(None),
    };
    Ok(Some(Layout { head, rows, count, stride, bounds }))
}
