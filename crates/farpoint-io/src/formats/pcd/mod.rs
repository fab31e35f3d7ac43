//! PCD: ascii, binary and binary_compressed, organized or not.
//!
//! The rows are cut out of the file unchanged.

mod header;
mod layout;
mod lzf;
mod write;

pub(crate) use layout::{layout, lines};
pub(crate) use write::{kept_header, write};

use crate::bytes::memory;
use crate::bytes::part::Part;
use crate::bytes::pieces::{change_lines, filled_lines, find_line, line_number};
use crate::cloud::Cloud;
use crate::cloud::column::Column;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::{DataKind, Header, PcdHeader};
use crate::cloud::lines::{self, LONGEST};
use crate::cloud::table::{Dimension, Split, Store, Table, Tokens};
use crate::error::{ParseError, Place};
use crate::format::Format;
use header::Meta;
use std::borrow::Cow;

/// Reads all points.
pub(crate) fn read(bytes: Cow<'_, [u8]>) -> Result<Cloud, ParseError> {
    let (lines, meta, start) = parsed(&bytes)?;
    let count = usize::try_from(meta.points).map_err(|_| too_many(&meta, 0))?;
    let ascii = meta.data == DataKind::Ascii;
    let (dimensions, stride) = dimensions(&meta, ascii)?;
    let xyz = axes(&dimensions)?;
    let (store, left) = match meta.data {
        DataKind::Ascii => ascii_rows(bytes, start, &meta, count, stride)?,
        DataKind::Binary => binary_rows(bytes, start, &meta, count, stride)?,
        DataKind::BinaryCompressed => {
            compressed_rows(&bytes[start..], &dimensions, &meta, count, stride)?
        }
    };
    let table = Table { dimensions, store, big_endian: false, xyz };
    let coordinates = coordinates(&table, count)?;
    Ok(cloud(lines, &meta, coordinates, table, left))
}

/// Parses the lines of the header, and locates the data.
fn parsed(bytes: &[u8]) -> Result<(Vec<Vec<u8>>, Meta, usize), ParseError> {
    let (lines, start) = header_lines(bytes)?;
    let lines: Vec<Vec<u8>> = lines.into_iter().map(<[u8]>::to_vec).collect();
    let meta = Meta::parse(&lines)?;
    Ok((lines, meta, start))
}

/// Returns a cloud of rows, with all data of the header; `left` is the warning of data after them.
fn cloud(
    lines: Vec<Vec<u8>>,
    meta: &Meta,
    coordinates: Coordinates,
    table: Table,
    left: Option<String>,
) -> Cloud {
    let mut warnings = Vec::from_iter(left);
    for name in meta.empty.iter().filter(|name| *name != "_") {
        warnings.push(format!("the field '{name}' has COUNT 0 and is left out"));
    }
    if meta.width.checked_mul(meta.height) != Some(meta.points) {
        warnings.push(format!(
            "WIDTH {} times HEIGHT {} is not POINTS {}, which is used",
            meta.width, meta.height, meta.points
        ));
    }
    let mut description = format!("PCD {}", data_name(meta.data));
    if meta.height > 1 {
        description += &format!(", organized {} x {}", meta.width, meta.height);
    }
    let header = Header::Pcd(PcdHeader { lines, data: meta.data });
    let mut cloud = Cloud::from_table(Format::Pcd, description, coordinates, table, header);
    cloud.warnings.extend(warnings);
    cloud
}

fn data_name(data: DataKind) -> &'static str {
    match data {
        DataKind::Ascii => "ascii",
        DataKind::Binary => "binary",
        DataKind::BinaryCompressed => "binary_compressed",
    }
}

/// Returns the lines up to `DATA`, and the offset of the data.
fn header_lines(bytes: &[u8]) -> Result<(Vec<&[u8]>, usize), ParseError> {
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    let last = lines::line_end(bytes).last().copied();
    let mut lines = Vec::new();
    let mut at = 0;
    loop {
        let length = bytes[at..].iter().position(|b| Some(*b) == last);
        let end = length.map_or(bytes.len(), |n| at + n);
        let line = bytes[at..end].trim_ascii();
        lines.push(line);
        let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        if word.eq_ignore_ascii_case(b"DATA") {
            return Ok((lines, length.map_or(end, |_| end + 1)));
        }
        if length.is_none() {
            let place = Place::Line(lines.len());
            return Err(ParseError::truncated("the header has no end ('DATA')").at(place));
        }
        at = end + 1;
    }
}

/// Returns the fields, and the size of a row in bytes or values.
fn dimensions(meta: &Meta, ascii: bool) -> Result<(Vec<Dimension>, usize), ParseError> {
    let mut dimensions = Vec::new();
    let mut at = 0usize;
    for field in &meta.fields {
        let kind = field.kind;
        let count = usize::try_from(field.count).ok();
        let size = count.and_then(|n| n.checked_mul(if ascii { 1 } else { kind.size() }));
        let end = size.and_then(|n| n.checked_add(at)).filter(|&n| n < 1 << 32);
        let (Some(count), Some(end)) = (count, end) else {
            return Err(ParseError::new(format!(
                "field '{}' has COUNT {}",
                field.name, field.count
            )));
        };
        dimensions.push(Dimension::new(field.name.clone(), kind, at).count(count));
        at = end;
    }
    Ok((dimensions, at))
}

fn axes(dimensions: &[Dimension]) -> Result<[usize; 3], ParseError> {
    let find = |axis: &str| dimensions.iter().position(|s| s.name.eq_ignore_ascii_case(axis));
    match (find("x"), find("y"), find("z")) {
        (Some(x), Some(y), Some(z)) => Ok([x, y, z]),
        _ => {
            let names: Vec<&str> = dimensions.iter().map(|s| s.name.as_str()).collect();
            let what = format!("there are no fields x, y and z, only [{}]", names.join(", "));
            Err(ParseError::new(what).fix("only PCD files with coordinates can be read"))
        }
    }
}

fn too_many(meta: &Meta, found: usize) -> ParseError {
    let what = format!("the header declares {} points, the file has {found}", meta.points);
    ParseError::truncated(what)
}

fn ascii_rows(
    bytes: Cow<'_, [u8]>,
    start: usize,
    meta: &Meta,
    count: usize,
    values: usize,
) -> Result<(Store, Option<String>), ParseError> {
    lines::check(&bytes, start)?;
    let mut spans = filled_lines(&bytes, start..bytes.len(), |b| b == b'\n' || b == b'\r');
    let left = lines::left_over(spans.len().saturating_sub(count) as u64, "lines");
    spans.truncate(count);
    let found = |span: &(usize, usize)| Tokens::new(&bytes[span.0..span.1], Split::Space).count();
    if let Some(span) = find_line(&spans, |span| found(span) != values) {
        let what = format!("{} values instead of {values}", found(&span));
        return Err(ParseError::new(what).at(Place::Line(line_number(&bytes, span.0))));
    }
    if spans.len() < count {
        return Err(too_many(meta, spans.len()));
    }
    change_lines(&mut spans, |(first, end)| {
        *end = *first + bytes[*first..*end].trim_ascii_end().len() - start;
        *first -= start;
    });
    let end = bytes.len();
    let store = Store::Lines { bytes: Part::new(bytes, start..end), spans, split: Split::Space };
    Ok((store, left))
}

fn binary_rows(
    bytes: Cow<'_, [u8]>,
    start: usize,
    meta: &Meta,
    count: usize,
    stride: usize,
) -> Result<(Store, Option<String>), ParseError> {
    let rest = bytes.len() - start;
    let available = rest / stride.max(1);
    match available < count {
        true => Err(too_many(meta, available)),
        false => {
            memory::fits(count as u64, stride + size_of::<[f32; 3]>())?;
            let left = lines::left_over((rest - count * stride) as u64, "bytes");
            let bytes = Part::new(bytes, start..start + count * stride);
            Ok((Store::Records { bytes, stride }, left))
        }
    }
}

/// Compressed data keeps each field of all points together; records have them interleaved.
fn compressed_rows(
    data: &[u8],
    dimensions: &[Dimension],
    meta: &Meta,
    count: usize,
    stride: usize,
) -> Result<(Store, Option<String>), ParseError> {
    let size = |at: usize| {
        let bytes = data.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let (Some(packed), Some(length)) = (size(0), size(4)) else {
        return Err(ParseError::truncated("the sizes of the compressed data are missing"));
    };
    if count.checked_mul(stride) != Some(length) {
        let what = format!(
            "the data holds {length} bytes, the header declares {} points of {stride}",
            meta.points
        );
        return Err(ParseError::new(what));
    }
    let left = lines::left_over(data.len().saturating_sub(8 + packed) as u64, "bytes");
    let packed = data.get(8..8 + packed).ok_or_else(|| {
        ParseError::truncated(format!(
            "{packed} compressed bytes are declared, the file has {}",
            data.len() - 8
        ))
    })?;
    let planes = match (packed.is_empty(), length) {
        (true, 0) => Vec::new(),
        _ => lzf::decompress(packed, length)
            .ok_or_else(|| ParseError::new("the compressed data is damaged"))?,
    };
    let mut bytes = vec![0u8; length];
    for dimension in dimensions {
        let size = dimension.count * dimension.kind.size();
        let plane = &planes[dimension.offset * count..(dimension.offset + size) * count];
        for (row, value) in bytes.chunks_exact_mut(stride).zip(plane.chunks_exact(size)) {
            row[dimension.offset..dimension.offset + size].copy_from_slice(value);
        }
    }
    Ok((Store::Records { bytes: bytes.into(), stride }, left))
}

pub(crate) fn coordinates(table: &Table, count: usize) -> Result<Coordinates, ParseError> {
    if let Some(coordinates) = table.float_coordinates() {
        return Ok(coordinates);
    }
    let rows: Vec<usize> = (0..count).collect();
    let axis = |axis: usize| -> Result<Column, ParseError> {
        let dimension = table.xyz[axis];
        table.column(dimension, 0, &rows).ok_or_else(|| {
            let invalid_row = rows.iter().find(|&&r| table.column(dimension, 0, &[r]).is_none());
            let what = format!("field '{}' holds no number", table.dimensions[dimension].name);
            ParseError::new(what).at(Place::Point(*invalid_row.unwrap_or(&0)))
        })
    };
    Ok(Coordinates::from_columns(&axis(0)?, &axis(1)?, &axis(2)?))
}
