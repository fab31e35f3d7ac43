//! Places of the points of a text file, found in one pass.

use super::label::Labels;
use super::{Head, check_count, cloud_of, commas, dimensions, head, pts};
use crate::ReadOptions;
use crate::TextStyle;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::layout::{Layout, Storage};
use crate::cloud::lines::{Lines, Search, ends_with_returns, pieces};
use crate::cloud::table::{Split, Store, Table};
use crate::error::{ParseError, Place};
use std::fs::File;
use std::path::Path;

/// Number of lines that decide the names of a PTS file's columns.
const CHECKED_LINES: usize = 1000;

/// Locates the points of a file by its start; `None` if it has no points, no line feeds, or decimal
/// commas.
pub(crate) fn layout(
    file: &mut File,
    start: &[u8],
    whole: bool,
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Layout>, ParseError> {
    if ends_with_returns(start) {
        return Ok(None);
    }
    // The last line may be cut.
    let end = start.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let start = if whole { start } else { &start[..end] };
    if commas::are_decimal(start) {
        return Ok(None);
    }
    let mut head: Head = head::find(start, options.xyz.as_ref())?;
    if head.lines == usize::MAX {
        return Ok(None);
    }
    head.header.style = TextStyle::of(Path::new(name));
    let from = head.header.preamble.len() as u64;
    let search = Search { from, spans: super::points_among, skip: 0, limit: u64::MAX };
    let (mut first, mut labels) = (Vec::new(), Labels::new(head.columns));
    let checks_labels = head.is_guess && !head.is_pts();
    let (found, _) = pieces(file, &search, |line| {
        if first.len() < CHECKED_LINES {
            first.push(line.to_vec());
        }
        if checks_labels {
            labels.add(line);
        }
    })?;
    let count: u64 = found.iter().map(|piece| piece.rows as u64).sum();
    check_count(&head, count as usize)?;
    if head.is_guess && head.is_pts() {
        head.names = pts::names(first.iter().map(Vec::as_slice), head.columns);
    } else if checks_labels {
        labels.refuse()?;
        head.names = pts::colors(first.iter().map(Vec::as_slice), head.columns);
    }
    let store = Store::Lines { bytes: Vec::new().into(), spans: Vec::new(), split: Split::Any };
    let xyz = head.axes.columns;
    let table = Table { dimensions: dimensions(&head), store, big_endian: false, xyz };
    let head = cloud_of(head, Coordinates::F64(Vec::new()), table);
    let lines =
        Lines { spans: super::points_among, split: Split::Any, pieces: found, described: false };
    Ok(Some(Layout { head, rows: Storage::Lines(lines), count, stride: 0, bounds: None }))
}

/// Returns the coordinates of lines.
pub(crate) fn coordinates(table: &Table, count: usize) -> Result<Coordinates, ParseError> {
    let point = |row: usize| {
        let line = table.row(row);
        match super::point(line, table.xyz) {
            Some(point) => super::check_returns(line, || Place::Point(row)).map(|()| point),
            None => Err(super::bad_line(0, line, table.xyz).at(Place::Point(row))),
        }
    };
    Ok(Coordinates::F64((0..count).map(point).collect::<Result<_, _>>()?))
}
