//! Writing PLY: the kept rows as stored, or typed columns from another format.

use super::{PlyEncoding, encoding_name};
use crate::bytes::pieces::append_lines;
use crate::cloud::column::{Attribute, Column, NumberType, named_axes};
use crate::cloud::header::{Header, HeaderLine, PlyHeader};
use crate::cloud::precision::output_coordinates;
use crate::cloud::records;
use crate::cloud::table::{Store, Table};
use crate::cloud::{Cloud, distinct};
use crate::conversion::{self, Target};
use crate::error::ParseError;
use crate::{Encoding, Precision, WriteOptions};
use std::collections::HashSet;

/// Writes the rows, in the input's encoding if that was PLY and no other is set.
pub(crate) fn write(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, ParseError> {
    let requested = match options.encoding {
        None => None,
        Some(Encoding::Ascii) => Some(PlyEncoding::Ascii),
        Some(Encoding::Binary) => Some(PlyEncoding::BinaryLittleEndian),
        Some(Encoding::BinaryBigEndian) => Some(PlyEncoding::BinaryBigEndian),
        Some(Encoding::BinaryCompressed) => {
            return Err(
                ParseError::new("PLY cannot be compressed").fix("use ascii or binary, or PCD")
            );
        }
    };
    if let (Header::Ply(header), Some(table)) = (&cloud.header, &cloud.table)
        && requested.is_none_or(|w| w == header.encoding)
        && options.precision.is_none_or(|p| p.kind() == cloud.coordinates.kind())
    {
        return Ok(same_rows(header, table, rows, cloud.added(rows), warnings));
    }
    let input_encoding = match &cloud.header {
        Header::Ply(header) => header.encoding,
        _ => PlyEncoding::BinaryLittleEndian,
    };
    Ok(from_columns(cloud, rows, requested.unwrap_or(input_encoding), options.precision, warnings))
}

fn type_name(kind: NumberType) -> &'static str {
    match kind {
        NumberType::I8 => "char",
        NumberType::U8 => "uchar",
        NumberType::I16 => "short",
        NumberType::U16 => "ushort",
        NumberType::I32 => "int",
        NumberType::U32 => "uint",
        NumberType::F32 => "float",
        NumberType::I64 | NumberType::U64 | NumberType::F64 => "double",
    }
}

/// PLY has no 64-bit integers (they become doubles) and no spaces in names.
fn adapted(attribute: Attribute, warnings: &mut Vec<String>) -> Attribute {
    let mut name: String = attribute
        .name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    let column = match attribute.column {
        column @ (Column::I64(_) | Column::U64(_)) => {
            let largest = 2f64.powi(53);
            if !column.whole_within(-largest, largest) {
                warnings
                    .push(format!("'{name}' holds 64-bit integers beyond 2^53, which PLY rounds"));
            }
            column.cast(NumberType::F64)
        }
        column => column,
    };
    Attribute { name, column }
}

fn same_rows(
    header: &PlyHeader,
    table: &Table,
    rows: &[usize],
    added: Vec<Attribute>,
    warnings: &mut Vec<String>,
) -> Vec<u8> {
    let mut added: Vec<Attribute> = added.into_iter().map(|a| adapted(a, warnings)).collect();
    distinct(&mut added, table.dimensions.iter().map(|s| s.name.clone()).collect());
    let mut out = same_header(header, rows.len(), &added);
    match &table.store {
        Store::Records { .. } => {
            records::append(&mut out, Some((table, rows)), rows.len(), &added, table.big_endian);
        }
        Store::Spans { .. } => {
            for (i, &row) in rows.iter().enumerate() {
                out.extend_from_slice(table.row(row));
                added.iter().for_each(|a| a.column.push_bytes(i, table.big_endian, &mut out));
            }
        }
        Store::Lines { .. } => {
            append_lines(&mut out, rows.len(), |i, out| {
                out.extend_from_slice(table.row(rows[i]).trim_ascii_end());
                for a in &added {
                    out.push(b' ');
                    a.column.push_text(i, out);
                }
                out.extend_from_slice(header.line_end);
            });
        }
    }
    out
}

/// Returns the input's header for `count` rows, with the added attributes.
pub(crate) fn same_header(header: &PlyHeader, count: usize, added: &[Attribute]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut line = |text: &[u8]| {
        out.extend_from_slice(text);
        out.extend_from_slice(header.line_end);
    };
    for kept in &header.lines {
        match kept {
            HeaderLine::Kept(text) => line(text),
            HeaderLine::Vertex => line(format!("element vertex {count}").as_bytes()),
            HeaderLine::VertexEnd => {
                for a in added {
                    line(format!("property {} {}", type_name(a.column.kind()), a.name).as_bytes());
                }
            }
        }
    }
    line(b"end_header");
    out
}

fn from_columns(
    cloud: &Cloud,
    rows: &[usize],
    encoding: PlyEncoding,
    precision: Option<Precision>,
    warnings: &mut Vec<String>,
) -> Vec<u8> {
    let attributes = conversion::attributes(cloud, rows, Target::Ply, warnings);
    let output = output_coordinates(cloud, rows, precision, warnings);
    let offset = output.offset_text();
    let mut all = named_axes(output.axes);
    all.extend(attributes.into_iter().map(|a| adapted(a, warnings)));
    distinct(&mut all, HashSet::new());
    let mut out = new_header(cloud, rows.len(), encoding, &all, offset);
    if encoding != PlyEncoding::Ascii {
        let big_endian = encoding == PlyEncoding::BinaryBigEndian;
        records::append(&mut out, None, rows.len(), &all, big_endian);
        return out;
    }
    append_lines(&mut out, rows.len(), |i, out| {
        for (k, a) in all.iter().enumerate() {
            if k > 0 {
                out.push(b' ');
            }
            a.column.push_text(i, out);
        }
        out.push(b'\n');
    });
    out
}

fn new_header(
    cloud: &Cloud,
    count: usize,
    encoding: PlyEncoding,
    all: &[Attribute],
    offset: Option<String>,
) -> Vec<u8> {
    let mut out = format!("ply\nformat {} 1.0\n", encoding_name(encoding)).into_bytes();
    if let Header::Ply(header) = &cloud.header {
        for line in &header.lines {
            if let HeaderLine::Kept(text) = line
                && (text.starts_with(b"comment") || text.starts_with(b"obj_info"))
            {
                out.extend_from_slice(text);
                out.push(b'\n');
            }
        }
    }
    out.extend(
        offset.map(|offset| format!("comment offset {offset}\n")).unwrap_or_default().bytes(),
    );
    out.extend(format!("element vertex {count}\n").bytes());
    for a in all {
        out.extend(format!("property {} {}\n", type_name(a.column.kind()), a.name).bytes());
    }
    out.extend(b"end_header\n");
    out
}
