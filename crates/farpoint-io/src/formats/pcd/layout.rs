//! Places of the rows of a PCD file, without reading them.

use super::{axes, cloud, coordinates, dimensions, parsed, too_many};
use crate::cloud::header::DataKind;
use crate::cloud::layout::{Layout, Storage};
use crate::cloud::lines::{Lines, Search, filled, left_over, pieces};
use crate::cloud::table::{Split, Store, Table};
use crate::error::ParseError;
use std::fs::File;

/// Locates the rows of a file of `length` bytes by its start; `None` for text and for data compressed as a whole.
pub(crate) fn layout(start: &[u8], length: u64) -> Result<Option<Layout>, ParseError> {
    let (lines, meta, at) = parsed(start)?;
    if meta.data != DataKind::Binary {
        return Ok(None);
    }
    let (dimensions, stride) = dimensions(&meta, false)?;
    let xyz = axes(&dimensions)?;
    let (count, at) = (meta.points, at as u64);
    let rest = length.saturating_sub(at);
    let available = rest / stride.max(1) as u64;
    if available < count {
        return Err(too_many(&meta, available as usize));
    }
    let left = left_over(rest - count * stride as u64, "bytes");
    let store = Store::Records { bytes: Vec::new().into(), stride };
    let table = Table { dimensions, store, big_endian: false, xyz };
    let none = coordinates(&table, 0)?;
    let head = cloud(lines, &meta, none, table, left);
    Ok(Some(Layout { head, rows: Storage::Stride(at), count, stride, bounds: None }))
}

/// Locates the rows of a file of text, in a pass over it; `None` for others.
pub(crate) fn lines(file: &mut File, start: &[u8]) -> Result<Option<Layout>, ParseError> {
    let (lines, meta, at) = parsed(start)?;
    if meta.data != DataKind::Ascii {
        return Ok(None);
    }
    let (dimensions, _) = dimensions(&meta, true)?;
    let xyz = axes(&dimensions)?;
    let search = Search { from: at as u64, spans: filled, skip: 0, limit: meta.points };
    let (found, rest) = pieces(file, &search, |_| {})?;
    let left = left_over(rest, "lines");
    let count: u64 = found.iter().map(|piece| piece.rows as u64).sum();
    if count < meta.points {
        return Err(too_many(&meta, count as usize));
    }
    let split = Split::Space;
    let store = Store::Lines { bytes: Vec::new().into(), spans: Vec::new(), split };
    let table = Table { dimensions, store, big_endian: false, xyz };
    let none = coordinates(&table, 0)?;
    let head = cloud(lines, &meta, none, table, left);
    let lines = Lines { spans: filled, split, pieces: found, described: true };
    Ok(Some(Layout { head, rows: Storage::Lines(lines), count, stride: 0, bounds: None }))
}
