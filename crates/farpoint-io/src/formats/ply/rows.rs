//! Cutting the vertices out of a PLY payload, without changing a byte of them.

use super::Element;
use crate::bytes::part::Part;
use crate::bytes::pieces::{change_lines, filled_lines, find_line, line_number};
use crate::cloud::column::Column;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::table::{Dimension, Split, Store, Table, list_length, mismatch};
use crate::error::{ParseError, Place};
use crate::{bytes::memory, cloud::lines};
use std::borrow::Cow;

/// Cuts out one line per row; returns the number of lines after them.
pub(super) fn ascii(
    bytes: Cow<'_, [u8]>,
    start: usize,
    before: &[Element],
    element: &Element,
) -> Result<(Store, usize), ParseError> {
    lines::check(&bytes, start)?;
    let mut spans = filled_lines(&bytes, start..bytes.len(), |b| b == b'\n' || b == b'\r');
    let skip = before.iter().fold(0usize, |n, e| n.saturating_add(e.count));
    spans.drain(..skip.min(spans.len()));
    let rest = spans.len().saturating_sub(element.count);
    spans.truncate(element.count);
    let wrong =
        |span: &(usize, usize)| mismatch(&element.dimensions, &bytes[span.0..span.1], Split::Space);
    if let Some(span) = find_line(&spans, |span| wrong(span).is_some()) {
        let what = wrong(&span).unwrap_or_default();
        return Err(ParseError::new(what).at(Place::Line(line_number(&bytes, span.0))));
    }
    if spans.len() < element.count {
        return Err(short(element, spans.len()));
    }
    let start = spans.first().map_or(0, |s| s.0);
    let end = spans.last().map_or(start, |s| s.1);
    change_lines(&mut spans, |span| *span = (span.0 - start, span.1 - start));
    let store = Store::Lines { bytes: Part::new(bytes, start..end), spans, split: Split::Space };
    Ok((store, rest))
}

pub(super) fn short(element: &Element, found: usize) -> ParseError {
    let what = format!("the header declares {} vertices, the file has {found}", element.count);
    ParseError::truncated(what)
}

/// Cuts out records of one length, or spans if the vertices hold lists; returns the number of bytes after them.
pub(super) fn binary(
    bytes: Cow<'_, [u8]>,
    start: usize,
    before: &[Element],
    element: &Element,
    big_endian: bool,
) -> Result<(Store, usize), ParseError> {
    let (mut at, length) = (start, bytes.len());
    for e in before {
        at = match row_size(&e.dimensions) {
            Some(size) => e.count.checked_mul(size).and_then(|n| n.checked_add(at)),
            None => walk(&bytes, at, e, big_endian, |_| {}).ok(),
        }
        .filter(|&at| at <= bytes.len())
        .ok_or_else(|| {
            ParseError::truncated(format!("the file ends inside element '{}'", e.name))
        })?;
    }
    if let Some(stride) = row_size(&element.dimensions) {
        let available = (bytes.len() - at) / stride.max(1);
        if available < element.count {
            return Err(short(element, available));
        }
        memory::fits(element.count as u64, size_of::<[f32; 3]>())?;
        let end = at + element.count * stride;
        let bytes = Part::new(bytes, at..end);
        return Ok((Store::Records { bytes, stride }, length - end));
    }
    let mut spans = Vec::new();
    let end = walk(&bytes, at, element, big_endian, |span| spans.push(span))
        .map_err(|found| short(element, found))?;
    let spans = spans.into_iter().map(|(a, b)| (a - at, b - at)).collect();
    Ok((Store::Spans { bytes: Part::new(bytes, at..end), spans }, length - end))
}

/// Returns a warning if more bytes or lines follow the vertices than the elements `after` them take. Where lists end
/// only a walk over them finds, which reading in parts does not do.
pub(super) fn left_over(rest: u64, after: &[Element], ascii: bool) -> Option<String> {
    let size = |e: &Element| if ascii { Some(1) } else { row_size(&e.dimensions) };
    let known = after.iter().try_fold(0u64, |all, e| {
        Some(all.saturating_add((e.count as u64).saturating_mul(size(e)? as u64)))
    })?;
    lines::left_over(rest.saturating_sub(known), if ascii { "lines" } else { "bytes" })
}

/// Returns the bytes of a row without lists.
pub(super) fn row_size(dimensions: &[Dimension]) -> Option<usize> {
    let fixed = dimensions.iter().all(|s| s.list.is_none());
    fixed.then(|| dimensions.iter().map(|s| s.kind.size()).sum())
}

/// Walks over rows that hold lists; returns the offset after them, or the number of rows that fit.
fn walk(
    bytes: &[u8],
    start: usize,
    element: &Element,
    big_endian: bool,
    mut each: impl FnMut((usize, usize)),
) -> Result<usize, usize> {
    let mut at = start;
    for row in 0..element.count {
        let first = at;
        for dimension in &element.dimensions {
            let mut count = 1;
            if let Some(length) = dimension.list {
                count =
                    bytes.get(at..).and_then(|b| list_length(b, length, big_endian)).ok_or(row)?;
                at += length.size();
            }
            let size = count.checked_mul(dimension.kind.size()).ok_or(row)?;
            at = at.checked_add(size).filter(|&at| at <= bytes.len()).ok_or(row)?;
        }
        each((first, at));
    }
    Ok(at)
}

/// Extracts x, y and z from the rows.
pub(crate) fn coordinates(table: &Table, count: usize) -> Result<Coordinates, ParseError> {
    if let Some(coordinates) = table.float_coordinates() {
        return Ok(coordinates);
    }
    let rows: Vec<usize> = (0..count).collect();
    let axis = |axis: usize| -> Result<Column, ParseError> {
        let dimension = table.xyz[axis];
        table.column(dimension, 0, &rows).ok_or_else(|| {
            // Rare, so the row in question is searched only now.
            let invalid_row =
                (0..count).find(|&r| table.column(dimension, 0, &[r]).is_none()).unwrap_or(0);
            let shown: String =
                String::from_utf8_lossy(table.row(invalid_row)).chars().take(60).collect();
            let what =
                format!("'{shown}' holds no number for {}", table.dimensions[dimension].name);
            ParseError::new(what).at(Place::Point(invalid_row))
        })
    };
    Ok(Coordinates::from_columns(&axis(0)?, &axis(1)?, &axis(2)?))
}
