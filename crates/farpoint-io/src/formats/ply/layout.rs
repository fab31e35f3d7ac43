//! Places of the vertices of a PLY file, without reading them.

use super::rows::{left_over, row_size, short};
use super::{PlyEncoding, Vertices, cloud, coordinates, parse_header, vertices};
use crate::cloud::layout::{Layout, Storage};
use crate::cloud::lines::{Lines, Search, filled, pieces};
use crate::cloud::table::{Split, Store, Table};
use crate::error::ParseError;
use std::fs::File;

/// Locates the vertices of a file of `length` bytes by its start; `None` for text and for lists, whose rows are found
/// only one after another.
pub(crate) fn layout(start: &[u8], length: u64) -> Result<Option<Layout>, ParseError> {
    let parsed = parse_header(start)?;
    if parsed.header.encoding == PlyEncoding::Ascii {
        return Ok(None);
    }
    let Vertices { before, element, after, xyz } = vertices(&parsed)?;
    let mut at = parsed.length as u64;
    for element in before {
        let Some(size) = row_size(&element.dimensions) else { return Ok(None) };
        at = at.saturating_add((element.count as u64).saturating_mul(size as u64));
    }
    let Some(stride) = row_size(&element.dimensions) else { return Ok(None) };
    let (count, rest) = (element.count as u64, length.saturating_sub(at));
    let available = rest / stride.max(1) as u64;
    if available < count {
        return Err(short(element, available as usize));
    }
    let left = left_over(rest - count * stride as u64, after, false);
    let store = Store::Records { bytes: Vec::new().into(), stride };
    let big_endian = parsed.header.encoding == PlyEncoding::BinaryBigEndian;
    let table = Table { dimensions: element.dimensions.clone(), store, big_endian, xyz };
    let none = coordinates(&table, 0)?;
    let head = cloud(parsed, none, table, left);
    Ok(Some(Layout { head, rows: Storage::Stride(at), count, stride, bounds: None }))
}

/// Locates the vertices of a file of text, in a pass over it; `None` for binary ones.
pub(crate) fn lines(file: &mut File, start: &[u8]) -> Result<Option<Layout>, ParseError> {
    let parsed = parse_header(start)?;
    if parsed.header.encoding != PlyEncoding::Ascii {
        return Ok(None);
    }
    let Vertices { before, element, after, xyz } = vertices(&parsed)?;
    let skip = before.iter().fold(0u64, |n, e| n.saturating_add(e.count as u64));
    let (from, limit) = (parsed.length as u64, element.count as u64);
    let (found, rest) = pieces(file, &Search { from, spans: filled, skip, limit }, |_| {})?;
    let left = left_over(rest, after, true);
    let count: u64 = found.iter().map(|piece| piece.rows as u64).sum();
    if count < limit {
        return Err(short(element, count as usize));
    }
    let split = Split::Space;
    let store = Store::Lines { bytes: Vec::new().into(), spans: Vec::new(), split };
    let table = Table { dimensions: element.dimensions.clone(), store, big_endian: false, xyz };
    let none = coordinates(&table, 0)?;
    let head = cloud(parsed, none, table, left);
    let lines = Lines { spans: filled, split, pieces: found, described: true };
    Ok(Some(Layout { head, rows: Storage::Lines(lines), count, stride: 0, bounds: None }))
}
