//! Writing NPY: the rows as stored, else (points, columns) of one type if that holds everything exactly, else a
//! structured array.

use crate::WriteOptions;
use crate::cloud::Cloud;
use crate::cloud::column::{Attribute, Column, NumberType, named_axes};
use crate::cloud::dtype::{DType, Field};
use crate::cloud::header::{Header, NpyHeader};
use crate::cloud::precision::output_coordinates;
use crate::cloud::records;
use crate::cloud::table::Table;
use crate::conversion::{self, Target};
use crate::error::ParseError;
use crate::format::Format;

/// Writes the rows.
pub(crate) fn write(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, ParseError> {
    let input_kind = cloud.coordinates.kind();
    if let (Header::Npy(header), Some(table)) = (&cloud.header, &cloud.table)
        && options.precision.is_none_or(|p| p.kind() == input_kind)
    {
        return same_rows(header, table, rows, cloud.added(rows));
    }
    let attributes = conversion::attributes(cloud, rows, Target::Npy, warnings);
    let mut all = named_axes(output_coordinates(cloud, rows, options.precision, warnings).axes);
    let kind = all[0].column.kind();
    all.extend(attributes);
    // A few rows of many columns would read as a matrix.
    let slim = all.len() <= super::WIDE || all.len() <= rows.len();
    let same = all.iter().all(|a| a.column.kind() == kind);
    // Columns that a text names need a structured array, to keep the names.
    let unnamed = all[3..].iter().all(|a| a.name.starts_with("column_"));
    let raw = cloud.format == Some(Format::Raw);
    let bare = same && slim && (raw || all.len() == 3 || cloud.has_lines() && unnamed);
    let mut out = match bare {
        true => header(&type_code(kind, false), &[rows.len(), all.len()]),
        false => header(&descr(&[], &all, false)?.to_string(), &[rows.len()]),
    };
    records::append(&mut out, None, rows.len(), &all, false);
    Ok(out)
}

/// Returns the header of a one-dimensional array of int64.
pub(crate) fn header_of_indices(count: usize) -> Vec<u8> {
    header(&type_code(NumberType::I64, false), &[count])
}

/// Returns a one-dimensional array.
pub(crate) fn one_column(column: &Column) -> Vec<u8> {
    let mut out = header(&type_code(column.kind(), false), &[column.len()]);
    for i in 0..column.len() {
        column.push_bytes(i, false, &mut out);
    }
    out
}

/// Returns the input's header for `count` rows.
pub(crate) fn same_header(head: &NpyHeader, table: &Table, count: usize) -> Vec<u8> {
    let shape = [count, table.dimensions.len()];
    let shape = if head.plain.is_some() { &shape[..] } else { &shape[..1] };
    header(&head.dtype.to_string(), shape)
}

fn same_rows(
    head: &NpyHeader,
    table: &Table,
    rows: &[usize],
    added: Vec<Attribute>,
) -> Result<Vec<u8>, ParseError> {
    let columns = table.dimensions.len();
    // One type for all: an added column joins if that type holds it exactly.
    let fits = |kind: NumberType| added.iter().all(|a| a.column.kind().fits_in(kind));
    let (mut out, added) = match head.plain {
        Some(kind) if fits(kind) => {
            let added: Vec<Attribute> = added
                .into_iter()
                .map(|a| Attribute { column: a.column.cast(kind), name: a.name })
                .collect();
            let shape = [rows.len(), columns + added.len()];
            (header(&head.dtype.to_string(), &shape), added)
        }
        Some(kind) => {
            let plain: Vec<Field> = table
                .dimensions
                .iter()
                .map(|s| field(&s.name, kind, table.big_endian))
                .collect::<Result<_, _>>()?;
            (header(&descr(&plain, &added, table.big_endian)?.to_string(), &[rows.len()]), added)
        }
        None => {
            let fields = match &head.dtype {
                DType::Record(fields) => fields.as_slice(),
                _ => &[],
            };
            (header(&descr(fields, &added, table.big_endian)?.to_string(), &[rows.len()]), added)
        }
    };
    records::append(&mut out, Some((table, rows)), rows.len(), &added, table.big_endian);
    Ok(out)
}

fn code(kind: NumberType, big_endian: bool) -> String {
    let letter = match kind {
        NumberType::F32 | NumberType::F64 => 'f',
        NumberType::U8 | NumberType::U16 | NumberType::U32 | NumberType::U64 => 'u',
        _ => 'i',
    };
    let order = match (kind.size(), big_endian) {
        (1, _) => '|',
        (_, true) => '>',
        (_, false) => '<',
    };
    format!("{order}{letter}{}", kind.size())
}

fn type_code(kind: NumberType, big_endian: bool) -> String {
    format!("'{}'", code(kind, big_endian))
}

fn field(name: &str, kind: NumberType, big_endian: bool) -> Result<Field, ParseError> {
    let dtype =
        code(kind, big_endian).parse().map_err(|()| ParseError::new(format!("type {kind}")))?;
    Ok(Field { name: name.to_owned(), dtype: DType::Plain(dtype) })
}

fn descr(fields: &[Field], added: &[Attribute], big_endian: bool) -> Result<DType, ParseError> {
    let mut all = fields.to_vec();
    for a in added {
        all.push(field(&a.name, a.column.kind(), big_endian)?);
    }
    Ok(DType::Record(all))
}

/// Returns the magic, version and description, padded so that the values start at a multiple of 64.
pub(crate) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let shape = super::shape_words(shape);
    let mut text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    // Version 1 counts to 65535, version 2 further, version 3 is UTF-8.
    let version = match (text.is_ascii(), text.len() > 65_000) {
        (false, _) => 3,
        (true, true) => 2,
        (true, false) => 1,
    };
    let before = if version == 1 { 10 } else { 12 };
    while !(before + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    match version {
        1 => out.extend((text.len() as u16).to_le_bytes()),
        _ => out.extend((text.len() as u32).to_le_bytes()),
    }
    out.extend(text.bytes());
    out
}

/// Returns the bytes of a header that [`header`] made.
pub(crate) fn length_of_header(bytes: &[u8]) -> Option<usize> {
    let four = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
    let two = |at: usize| Some(usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)));
    match bytes.get(6)? {
        1 => Some(10 + two(8)?),
        _ => Some(12 + four(8)?),
    }
}

/// Returns the description and the shape in a header that [`header`] made.
pub(crate) fn parts_of_header(head: &[u8]) -> Option<(String, Vec<usize>)> {
    let text = String::from_utf8_lossy(head);
    let (_, rest) = text.split_once("{'descr': ")?;
    let (descr, rest) = rest.split_once(", 'fortran_order': ")?;
    let (shape, _) = rest.split_once("'shape': (")?.1.split_once(')')?;
    let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
    Some((descr.to_owned(), sizes.map(|size| size.parse().ok()).collect::<Option<_>>()?))
}
