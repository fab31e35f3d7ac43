//! NumPy arrays: (points, 3 or more) of numbers, or structured with x, y and z; NPY and NPZ.
//!
//! Rows are kept as bytes, so that they come back unchanged.

mod archive;
mod arrays;
mod layout;
mod numbers;
mod write;

pub(crate) use archive::{read_archive, write_packed};
pub(crate) use arrays::write_archive;
pub use arrays::{Array, Values};
pub(crate) use layout::layout;
pub(crate) use numbers::numbers;
pub(crate) use write::{
    header, header_of_indices, length_of_header, one_column, parts_of_header, same_header, write,
};

use crate::bytes::memory;
use crate::bytes::part::Part;
use crate::cloud::Cloud;
use crate::cloud::column::{Column, NumberType};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::dtype::{DType, Description, TypeStr};
use crate::cloud::header::{Header, NpyHeader};
use crate::cloud::lines::left_over;
use crate::cloud::table::{Dimension, Store, Table};
use crate::error::{ParseError, Place};
use crate::format::Format;
use std::borrow::Cow;
use std::collections::HashSet;

/// A header with the offset of the values.
struct Parsed {
    dtype: DType,
    shape: Vec<usize>,
    fortran_order: bool,
    start: usize,
}

const FIX: &str = "save an array of shape (points, 3 or more), or structured with fields x, y, z";
/// A row wider than this is a matrix rather than a point, unless the array is longer than wide.
const WIDE: usize = 9;

/// Reads one array.
pub(crate) fn read(bytes: Cow<'_, [u8]>) -> Result<Cloud, ParseError> {
    let parsed = parse(&bytes)?;
    let room = (bytes.len() - parsed.start) as u64;
    let (table, header) = rows(&parsed, bytes, parsed.shape.first().copied().unwrap_or(0))?;
    let (coordinates, rounded) = coordinates(&table, parsed.shape[0], header.plain)?;
    let mut cloud = cloud(&parsed, coordinates, table, header, room);
    if rounded {
        cloud.warnings.push(ROUNDED.into());
    }
    Ok(cloud)
}

/// Warning for [`coordinates`] that are rounded.
pub(crate) const ROUNDED: &str = "64-bit integers beyond 2^53 are rounded in the coordinates";

/// Returns a cloud of rows, with all data of the header; the file has `room` bytes after that.
fn cloud(
    parsed: &Parsed,
    coordinates: Coordinates,
    table: Table,
    header: NpyHeader,
    room: u64,
) -> Cloud {
    let words = match &parsed.dtype {
        DType::Record(_) => "structured".to_owned(),
        other => other.to_string().trim_matches('\'').to_owned(),
    };
    let description = format!("NPY {words}, shape {}", shape_words(&parsed.shape));
    let stride = match (&table.store, &parsed.dtype) {
        (Store::Records { stride, .. }, DType::Plain(kind)) if is_half(kind) => stride / 2,
        (Store::Records { stride, .. }, _) => *stride,
        _ => 0,
    };
    let values = (parsed.shape[0] as u64).saturating_mul(stride as u64);
    let header = Header::Npy(header);
    let mut cloud = Cloud::from_table(Format::Npy, description, coordinates, table, header);
    cloud.warnings.extend(left_over(room.saturating_sub(values), "bytes"));
    cloud
}

/// Returns the first `count` rows.
fn rows(
    parsed: &Parsed,
    bytes: Cow<'_, [u8]>,
    count: usize,
) -> Result<(Table, NpyHeader), ParseError> {
    match &parsed.dtype {
        DType::Plain(kind) => plain(parsed, kind, bytes, count),
        DType::Record(_) => structured(parsed, bytes, count),
        DType::Array(..) => Err(ParseError::new("arrays of arrays are not a cloud").fix(FIX)),
    }
}

/// Returns the points, and whether they hold integers that are no doubles.
pub(crate) fn coordinates(
    table: &Table,
    count: usize,
    plain: Option<NumberType>,
) -> Result<(Coordinates, bool), ParseError> {
    if let Some(coordinates) = table.float_coordinates() {
        return Ok((coordinates, false));
    }
    let rows: Vec<usize> = (0..count).collect();
    let [x, y, z] = table.xyz.map(|dimension| table.column(dimension, 0, &rows));
    let (Some(x), Some(y), Some(z)) = (x, y, z) else {
        return Err(ParseError::new("x, y and z are not numbers").fix(FIX));
    };
    let rounded = [&x, &y, &z].into_iter().any(rounded);
    let coordinates = match plain {
        // f32 stays f32; every other type, mixed ones too, goes to f64.
        Some(NumberType::F32) | None => Coordinates::from_columns(&x, &y, &z),
        Some(_) => Coordinates::from_columns(&x.cast(NumberType::F64), &y, &z),
    };
    Ok((coordinates, rounded))
}

fn rounded(column: &Column) -> bool {
    let largest = 1i64 << 53;
    match column {
        Column::I64(v) => v.iter().any(|x| !(-largest..=largest).contains(x)),
        Column::U64(v) => v.iter().any(|&x| x > largest as u64),
        _ => false,
    }
}

fn shape_words(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    match sizes.as_slice() {
        [one] => format!("({one},)"),
        _ => format!("({})", sizes.join(", ")),
    }
}

/// Reads the header.
fn parse(bytes: &[u8]) -> Result<Parsed, ParseError> {
    let cut = || ParseError::truncated("the header is truncated").at(Place::Byte(bytes.len()));
    let (version, minor) = (*bytes.get(6).ok_or_else(cut)?, *bytes.get(7).ok_or_else(cut)?);
    if bytes.starts_with(MAGIC) && !matches!((version, minor), (1..=3, 0)) {
        let what = format!("version {version}.{minor} of NPY is unknown");
        return Err(ParseError::new(what).at(Place::Byte(6)).fix("save it with NumPy again"));
    }
    let length = match version {
        1 => bytes.get(8..10).map(|b| (10, usize::from(u16::from_le_bytes([b[0], b[1]])))),
        _ => bytes.get(8..12).map(|b| (12, u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)),
    };
    let (before, length) = length.ok_or_else(cut)?;
    let start = before + length;
    let text = bytes.get(before..start).ok_or_else(cut)?;
    let text = std::str::from_utf8(text).ok().filter(|_| bytes.starts_with(MAGIC));
    let description = text.and_then(Description::parse).ok_or_else(|| {
        ParseError::new("the header does not describe an array").at(Place::Byte(before))
    })?;
    let Description { dtype, fortran_order, shape } = description;
    Ok(Parsed { dtype, shape, fortran_order, start })
}

/// Magic bytes of a file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Returns the bytes of all values, if the file has as many as the shape declares.
fn payload(
    bytes: Cow<'_, [u8]>,
    start: usize,
    count: usize,
    size: usize,
) -> Result<Part, ParseError> {
    let room = bytes.len() - start;
    match count.checked_mul(size).filter(|&whole| whole <= room) {
        Some(whole) => Ok(Part::new(bytes, start..start + whole)),
        None => {
            let available = room / size.max(1);
            let what = format!("the shape declares {count} rows, the file has {available}");
            Err(ParseError::truncated(what))
        }
    }
}

/// Returns whether values are float16, which are not stored as they are processed.
fn is_half(kind: &TypeStr) -> bool {
    (kind.kind, kind.size) == (b'f', 2)
}

fn scalar(kind: &TypeStr) -> Option<NumberType> {
    Some(match (kind.kind, kind.size) {
        (b'i', 1) => NumberType::I8,
        (b'i', 2) => NumberType::I16,
        (b'i', 4) => NumberType::I32,
        (b'i', 8) => NumberType::I64,
        (b'u' | b'b', 1) => NumberType::U8,
        (b'u', 2) => NumberType::U16,
        (b'u', 4) => NumberType::U32,
        (b'u', 8) => NumberType::U64,
        (b'f', 4) => NumberType::F32,
        (b'f', 8) => NumberType::F64,
        _ => return None,
    })
}

/// Returns whether NumPy has numbers of this size, which other software would refuse in a copy.
fn exists(kind: &TypeStr) -> bool {
    match kind.kind {
        b'i' | b'u' | b'b' => scalar(kind).is_some(),
        b'f' => matches!(kind.size, 2 | 4 | 8 | 12 | 16),
        b'c' => matches!(kind.size, 8 | 16 | 24 | 32),
        _ => true,
    }
}

/// Reads a (points, columns) array of one type.
fn plain(
    parsed: &Parsed,
    kind: &TypeStr,
    bytes: Cow<'_, [u8]>,
    count: usize,
) -> Result<(Table, NpyHeader), ParseError> {
    let shape = &parsed.shape;
    let words = shape_words(shape);
    let [rows, columns] = shape[..] else {
        return Err(ParseError::new(format!("an array of shape {words} is not a cloud")).fix(FIX));
    };
    if columns < 3 || (columns > WIDE && columns > rows) {
        let what = format!("an array of shape {words} is a matrix, not points by coordinates");
        return Err(ParseError::new(what).fix(FIX));
    }
    let half = is_half(kind);
    let Some(stored) = (if half { Some(NumberType::U16) } else { scalar(kind) }) else {
        let what = format!("values of type {kind} cannot be coordinates");
        return Err(ParseError::new(what).fix("save it as float32 or float64"));
    };
    let too_large = || ParseError::new(format!("the shape {words} is too large"));
    let stride = columns.checked_mul(stored.size()).ok_or_else(too_large)?;
    let mut bytes = payload(bytes, parsed.start, count, stride)?;
    memory::fits(count as u64, stride + size_of::<[f32; 3]>())?;
    if parsed.fortran_order {
        bytes = transposed(&bytes, count, columns, stored.size()).into();
    }
    let mut big_endian = kind.big_endian == Some(true);
    let mut dtype = parsed.dtype.clone();
    let mut scalar = stored;
    if half {
        bytes = widened(&bytes, big_endian).into();
        (big_endian, scalar) = (false, NumberType::F32);
        dtype = DType::Plain("<f4".parse().map_err(|()| ParseError::new("float16"))?);
    }
    let dimension = |i: usize| {
        let name =
            ["x", "y", "z"].get(i).map_or_else(|| format!("column_{}", i + 1), |n| (*n).into());
        Dimension::new(name, scalar, i * scalar.size())
    };
    let store = Store::Records { bytes, stride: columns * scalar.size() };
    let dimensions = (0..columns).map(dimension).collect();
    let table = Table { dimensions, store, big_endian, xyz: [0, 1, 2] };
    Ok((table, NpyHeader { dtype, plain: Some(scalar) }))
}

fn transposed(data: &[u8], rows: usize, columns: usize, size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    for row in 0..rows {
        for column in 0..columns {
            let at = (column * rows + row) * size;
            out.extend_from_slice(&data[at..at + size]);
        }
    }
    out
}

/// Converts float16 to float32, which holds every value of it.
fn widened(bytes: &[u8], big_endian: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    for pair in bytes.chunks_exact(2) {
        let half = [pair[0], pair[1]];
        let half = if big_endian { u16::from_be_bytes(half) } else { u16::from_le_bytes(half) };
        let (sign, exponent, fraction) = (half >> 15, (half >> 10) & 31, half & 1023);
        let size = match exponent {
            0 => f32::from(fraction) * 2f32.powi(-24),
            31 if fraction == 0 => f32::INFINITY,
            31 => f32::NAN,
            _ => f32::from(1024 + fraction) * 2f32.powi(i32::from(exponent) - 25),
        };
        out.extend((if sign == 1 { -size } else { size }).to_le_bytes());
    }
    out
}

/// Reads a one-dimensional array of records.
fn structured(
    parsed: &Parsed,
    bytes: Cow<'_, [u8]>,
    count: usize,
) -> Result<(Table, NpyHeader), ParseError> {
    let (DType::Record(fields), [_]) = (&parsed.dtype, &parsed.shape[..]) else {
        let what =
            format!("a structured array of shape {} is not a cloud", shape_words(&parsed.shape));
        return Err(ParseError::new(what).fix("save it flat, one record a point"));
    };
    let mut dimensions: Vec<Dimension> = Vec::new();
    let (mut at, mut orders, mut names) = (0usize, Vec::new(), HashSet::new());
    for field in fields {
        let unsupported = || {
            ParseError::new(format!("field '{}' does not have a simple type", field.name)).fix(FIX)
        };
        if !field.name.is_empty() && !names.insert(&field.name) {
            let what = format!("two fields have the name '{}'", field.name);
            return Err(ParseError::new(what).fix("rename one"));
        }
        let (kind, count) =
            flat(&field.dtype).filter(|(kind, _)| exists(kind)).ok_or_else(unsupported)?;
        let size = kind.bytes().ok_or_else(unsupported)?;
        orders.extend(kind.big_endian.filter(|_| size > 1));
        let (scalar, each) = match scalar(&kind) {
            Some(scalar) => (scalar, 1),
            // Strings, dates and the like are kept as bytes.
            None => (NumberType::U8, size),
        };
        let spread =
            ["xyz", "position", "points", "coords"].contains(&field.name.as_str()) && count == 3;
        let total = count.checked_mul(each).ok_or_else(unsupported)?;
        for (k, axis) in ["x", "y", "z"].iter().enumerate().filter(|_| spread) {
            dimensions.push(Dimension::new(*axis, scalar, at + k * scalar.size()));
        }
        // NumPy stores the padding of a record as fields without a name.
        if !spread && (kind.kind != b'V' || !field.name.is_empty()) {
            dimensions.push(Dimension::new(field.name.clone(), scalar, at).count(total));
        }
        at = total
            .checked_mul(scalar.size())
            .and_then(|n| n.checked_add(at))
            .ok_or_else(unsupported)?;
    }
    if orders.windows(2).any(|w| w[0] != w[1]) {
        return Err(
            ParseError::new("the fields differ in byte order").fix("save them in one byte order")
        );
    }
    let xyz = axes(&dimensions)?;
    let bytes = payload(bytes, parsed.start, count, at)?;
    let big_endian = orders.first() == Some(&true);
    let table = Table { dimensions, store: Store::Records { bytes, stride: at }, big_endian, xyz };
    Ok((table, NpyHeader { dtype: parsed.dtype.clone(), plain: None }))
}

/// Returns the innermost type of a field and its count.
fn flat(dtype: &DType) -> Option<(TypeStr, usize)> {
    match dtype {
        DType::Plain(kind) => Some((kind.clone(), 1)),
        DType::Array(n, inner) => {
            let (kind, count) = flat(inner)?;
            Some((kind, count.checked_mul(usize::try_from(*n).ok()?)?))
        }
        DType::Record(_) => None,
    }
}

fn axes(dimensions: &[Dimension]) -> Result<[usize; 3], ParseError> {
    let find = |axis: &str| {
        let exact = dimensions.iter().position(|s| s.name == axis);
        let found =
            exact.or_else(|| dimensions.iter().position(|s| s.name.eq_ignore_ascii_case(axis)));
        found.filter(|&i| dimensions[i].count == 1)
    };
    match (find("x"), find("y"), find("z")) {
        (Some(x), Some(y), Some(z)) => Ok([x, y, z]),
        _ => {
            let names: Vec<&str> = dimensions.iter().map(|s| s.name.as_str()).collect();
            let what = format!("the array has no fields x, y and z, only [{}]", names.join(", "));
            Err(ParseError::new(what).fix(FIX))
        }
    }
}
