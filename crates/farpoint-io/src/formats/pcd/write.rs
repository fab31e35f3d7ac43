//! Writing PCD: the kept rows as stored, or typed columns from another format.
//!
//! The output is never organized: a sample of a grid is no grid, so HEIGHT becomes 1.

use crate::bytes::pieces::append_lines;
use crate::cloud::column::{Attribute, Column, NumberType, named_axes};
use crate::cloud::header::DataKind;
use crate::cloud::header::{Header, PcdHeader};
use crate::cloud::precision::{output_coordinates, usual_precision};
use crate::cloud::records;
use crate::cloud::table::{Dimension, Store, Table};
use crate::cloud::{Cloud, distinct};
use crate::conversion::{self, Target};
use crate::error::ParseError;
use crate::{Encoding, WriteOptions, formats::pcd::lzf};

/// Writes the rows, in the input's encoding if that was PCD and no other is set.
pub(crate) fn write(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, ParseError> {
    let requested = match options.encoding {
        None => None,
        Some(Encoding::Ascii) => Some(DataKind::Ascii),
        Some(Encoding::Binary) => Some(DataKind::Binary),
        Some(Encoding::BinaryCompressed) => Some(DataKind::BinaryCompressed),
        Some(Encoding::BinaryBigEndian) => {
            return Err(ParseError::new("PCD has no big-endian encoding").fix("use binary, or PLY"));
        }
    };
    let source = match (&cloud.header, &cloud.table) {
        (Header::Pcd(header), Some(table)) => Some((header, table)),
        _ => None,
    };
    let data = requested.or(source.map(|(h, _)| h.data)).unwrap_or(DataKind::Binary);
    let input_kind = source.map(|_| cloud.coordinates.kind());
    let usual = || input_kind.is_none().then(|| usual_precision(cloud, warnings));
    let precision = options.precision.or_else(usual);
    if let Some((header, table)) = source
        && (data == DataKind::Ascii) == cloud.has_lines()
        && precision.is_none_or(|p| Some(p.kind()) == input_kind)
    {
        let added = named(cloud.added(rows), &table.dimensions);
        let text = kept_header(header, &table.dimensions, &added, rows.len(), data);
        return body(text, data, table, rows, &added);
    }
    let attributes = conversion::attributes(cloud, rows, Target::Pcd, warnings);
    let attributes = named(packed_colors(attributes), &[]);
    let output = output_coordinates(cloud, rows, precision, warnings);
    let offset = output.offset_text();
    let (table, columns) = bare_table(output.axes, attributes);
    let viewpoint = source.and_then(|(h, _)| line_of(h, b"VIEWPOINT"));
    let text = new_header(&columns, rows.len(), data, viewpoint, offset);
    body(text, data, &table, rows, &columns)
}

fn line_of<'a>(header: &'a PcdHeader, word: &[u8]) -> Option<&'a [u8]> {
    let line = header.lines.iter().find(|l| l.to_ascii_uppercase().starts_with(word))?;
    Some(line)
}

/// Returns a table without stored bytes: every value comes from the columns.
fn bare_table(axes: [Column; 3], attributes: Vec<Attribute>) -> (Table, Vec<Attribute>) {
    let mut columns = named_axes(axes);
    columns.extend(attributes);
    let store = Store::Records { bytes: Vec::new().into(), stride: 0 };
    (Table { dimensions: Vec::new(), store, big_endian: false, xyz: [0; 3] }, columns)
}

/// Packs colors of one byte into one `rgb`, or `rgba`, as other readers of PCD expect.
fn packed_colors(mut attributes: Vec<Attribute>) -> Vec<Attribute> {
    let bytes = |name: &str| {
        attributes.iter().find_map(|a| match &a.column {
            Column::U8(values) if a.name == name => Some(values.clone()),
            _ => None,
        })
    };
    let (Some(red), Some(green), Some(blue)) = (bytes("red"), bytes("green"), bytes("blue")) else {
        return attributes;
    };
    let alpha = bytes("alpha");
    let packed = (0..red.len()).map(|i| {
        let alpha = alpha.as_ref().map_or(0, |alpha| alpha[i]);
        u32::from_be_bytes([alpha, red[i], green[i], blue[i]])
    });
    let name = if alpha.is_some() { "rgba" } else { "rgb" };
    let packed = Attribute { name: name.into(), column: Column::U32(packed.collect()) };
    let place = attributes.iter().position(|a| a.name == "red").unwrap_or(0);
    attributes[place] = packed;
    attributes.retain(|a| {
        let channel = matches!(a.name.as_str(), "red" | "green" | "blue" | "alpha");
        !(channel && a.column.kind() == NumberType::U8)
    });
    attributes
}

fn type_letter(kind: NumberType) -> &'static str {
    match kind {
        NumberType::F32 | NumberType::F64 => "F",
        NumberType::U8 | NumberType::U16 | NumberType::U32 | NumberType::U64 => "U",
        _ => "I",
    }
}

/// Replaces spaces, which end field names, and makes names differ from the stored ones and each other.
fn named(mut attributes: Vec<Attribute>, stored: &[Dimension]) -> Vec<Attribute> {
    for a in &mut attributes {
        a.name = a.name.replace(|c: char| c.is_whitespace() || c.is_control() || c == '#', "_");
        if a.name.is_empty() || a.name == "_" {
            a.name = "unnamed".into();
        }
    }
    let axes = ["x", "y", "z"].map(String::from);
    distinct(&mut attributes, stored.iter().map(|s| s.name.clone()).chain(axes).collect());
    attributes
}

fn push_line(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(line);
    out.push(b'\n');
}

/// Returns a header line of one word for each field.
fn list_line(
    word: &str,
    dimensions: &[Dimension],
    added: &[Attribute],
    value: impl Fn(&str, NumberType, usize) -> String,
) -> String {
    let stored = dimensions.iter().map(|s| value(&s.name, s.kind, s.count));
    let more = added.iter().map(|a| value(&a.name, a.column.kind(), 1));
    let values: Vec<String> = stored.chain(more).collect();
    format!("{word} {}", values.join(" "))
}

/// Returns the line that describes the fields under `word`, if it is one of those.
fn field_line(word: &[u8], dimensions: &[Dimension], added: &[Attribute]) -> Option<String> {
    Some(match word {
        b"FIELDS" | b"COLUMNS" => {
            list_line("FIELDS", dimensions, added, |name, _, _| name.to_owned())
        }
        b"SIZE" => list_line("SIZE", dimensions, added, |_, kind, _| kind.size().to_string()),
        b"TYPE" => list_line("TYPE", dimensions, added, |_, kind, _| type_letter(kind).to_owned()),
        b"COUNT" => list_line("COUNT", dimensions, added, |_, _, count| count.to_string()),
        _ => return None,
    })
}

/// Returns the input's header with the numbers that change.
pub(crate) fn kept_header(
    header: &PcdHeader,
    dimensions: &[Dimension],
    added: &[Attribute],
    count: usize,
    data: DataKind,
) -> Vec<u8> {
    let mut out = Vec::new();
    for line in &header.lines {
        let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let word = word.to_ascii_uppercase();
        // Some readers refuse fields without a value, which are no dimensions.
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        let changed = !added.is_empty() || words != dimensions.len() + 1;
        let fields = field_line(&word, dimensions, added).filter(|_| changed);
        let new = match word.as_slice() {
            b"WIDTH" => Some(format!("WIDTH {count}")),
            b"HEIGHT" => Some("HEIGHT 1".into()),
            b"POINTS" => Some(format!("POINTS {count}")),
            b"DATA" => Some(format!("DATA {}", super::data_name(data))),
            _ => fields,
        };
        match new {
            Some(new) => push_line(&mut out, new.as_bytes()),
            None => push_line(&mut out, line),
        }
    }
    out
}

fn new_header(
    columns: &[Attribute],
    count: usize,
    data: DataKind,
    viewpoint: Option<&[u8]>,
    offset: Option<String>,
) -> Vec<u8> {
    let mut out = b"# .PCD v0.7 - Point Cloud Data file format\n".to_vec();
    if let Some(offset) = offset {
        push_line(&mut out, format!("# offset {offset}").as_bytes());
    }
    push_line(&mut out, b"VERSION 0.7");
    for word in [&b"FIELDS"[..], b"SIZE", b"TYPE", b"COUNT"] {
        if let Some(line) = field_line(word, &[], columns) {
            push_line(&mut out, line.as_bytes());
        }
    }
    push_line(&mut out, format!("WIDTH {count}\nHEIGHT 1").as_bytes());
    push_line(&mut out, viewpoint.unwrap_or(b"VIEWPOINT 0 0 0 1 0 0 0"));
    push_line(&mut out, format!("POINTS {count}\nDATA {}", super::data_name(data)).as_bytes());
    out
}

/// Appends the rows after the header: the stored values, then the columns.
fn body(
    mut out: Vec<u8>,
    data: DataKind,
    table: &Table,
    rows: &[usize],
    columns: &[Attribute],
) -> Result<Vec<u8>, ParseError> {
    match data {
        DataKind::BinaryCompressed => return compressed_body(out, table, rows, columns),
        DataKind::Binary => {
            records::append(&mut out, Some((table, rows)), rows.len(), columns, false);
        }
        DataKind::Ascii => {
            append_lines(&mut out, rows.len(), |i, out| {
                let stored = table.row(rows[i]);
                out.extend_from_slice(stored);
                for (k, a) in columns.iter().enumerate() {
                    if k > 0 || !stored.is_empty() {
                        out.push(b' ');
                    }
                    a.column.push_text(i, out);
                }
                out.push(b'\n');
            });
        }
    }
    Ok(out)
}

/// Appends each field of all points together, compressed.
fn compressed_body(
    mut out: Vec<u8>,
    table: &Table,
    rows: &[usize],
    columns: &[Attribute],
) -> Result<Vec<u8>, ParseError> {
    let mut planes = Vec::new();
    for dimension in &table.dimensions {
        let field = dimension.offset..dimension.offset + dimension.count * dimension.kind.size();
        for &row in rows {
            planes.extend_from_slice(&table.row(row)[field.clone()]);
        }
    }
    for a in columns {
        for i in 0..rows.len() {
            a.column.push_bytes(i, false, &mut planes);
        }
    }
    let packed = lzf::compress(&planes);
    let too_large =
        |_| ParseError::new("more than 4 GiB do not fit in binary_compressed").fix("use binary");
    let sizes = [packed.len(), planes.len()];
    for size in sizes {
        out.extend(u32::try_from(size).map_err(too_large)?.to_le_bytes());
    }
    out.extend(packed);
    Ok(out)
}
