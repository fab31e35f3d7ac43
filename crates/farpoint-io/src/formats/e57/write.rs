//! Writing E57: one scan, whose coordinates stay integers if the input has a scale.

use super::STATE;
use crate::WriteOptions;
use crate::bytes::panics::catch_panic;
use crate::cloud::Cloud;
use crate::cloud::column::{Attribute, Column, NumberType};
use crate::cloud::header::Header;
use crate::cloud::precision::output_coordinates;
use crate::conversion::{self, Target};
use crate::error::ParseError;
use crate::error::untrusted::fits_xml;
use crate::formats::las;
use ::e57::{E57Writer, Extension, Record, RecordDataType, RecordName, RecordValue};
use std::collections::HashSet;
use std::hash::Hasher;
use std::io::Cursor;

/// The extension for normals, and one for attributes outside the standard.
const NORMALS: (&str, &str) = ("nor", "http://www.libe57.org/E57_NOR_surface_normals.txt");
const OTHERS: (&str, &str) = ("farpoint", "https://github.com/farpoint/farpoint/attributes");
/// Values are at least a byte wide: the first packet that the crate writes holds only whole bytes, and its reader
/// takes one without a whole point for the end.
const BYTE: i64 = 255;
/// The state of a point without a position.
const INVALID: i64 = 2;
/// Fewer states are less than a byte, which the crate's reader takes for the end, too: such points keep NaN.
const STATES_A_BYTE: usize = 4;
/// Bytes of a packet for the values of its points, and bytes per column besides: the length of its part, and the rest
/// of a byte.
const PACKET: u64 = u16::MAX as u64 - 506;
const PACKET_COLUMN: u64 = 3;

/// A column with its place in the file.
struct Stored {
    record: Record,
    values: Values,
}

enum Values {
    /// Unchanged numbers.
    Plain(Column),
    /// Multiples of a scale, counted from an offset.
    Steps { column: Column, scale: f64, offset: f64 },
}

/// Writes the rows.
pub(crate) fn write(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, ParseError> {
    if cloud.meters_per_unit().is_some_and(|meters| (meters - 1.0).abs() > 1e-9) {
        warnings
            .push("E57 coordinates are in meters; the values stay in the unit of the input".into());
    }
    let mut attributes = conversion::attributes(cloud, rows, Target::E57, warnings);
    let mut all = axes(cloud, rows, options, warnings);
    let state_column =
        attributes.iter().position(|a| a.name == STATE && a.column.whole_within(0.0, 2.0));
    let states = invalid(&all, state_column.map(|i| &attributes[i].column));
    if let Some(states) = states.filter(|states| states.len() >= STATES_A_BYTE) {
        state_column.map(|i| attributes.remove(i));
        all.iter_mut().for_each(|axis| axis.clear(&states));
        let states = Column::U8(states);
        all.push(plain(RecordName::CartesianInvalidState, (0, INVALID), states));
    }
    all.extend(named(attributes));
    check_packet(&all)?;
    let wkt = wkt(cloud, warnings);
    catch_panic("the points cannot be written", || written(wkt, &all, rows.len()))
}

/// Refuses columns of which not one row fits into a packet: the crate would write packets without end.
fn check_packet(all: &[Stored]) -> Result<(), ParseError> {
    let bits: u64 = all.iter().map(|stored| bits(&stored.record.data_type)).sum();
    let size = bits.div_ceil(8) + PACKET_COLUMN * all.len() as u64;
    if size <= PACKET {
        return Ok(());
    }
    let what = format!("{} columns are more than E57 holds of a point in 64 KiB", all.len());
    Err(ParseError::new(what).fix("write PLY or NPY"))
}

/// Bits of a value in a packet.
fn bits(kind: &RecordDataType) -> u64 {
    match *kind {
        RecordDataType::Single { .. } => 32,
        RecordDataType::Double { .. } => 64,
        RecordDataType::ScaledInteger { min, max, .. } | RecordDataType::Integer { min, max } => {
            (u64::BITS - max.abs_diff(min).leading_zeros()).into()
        }
    }
}

/// Returns the coordinate system, unless XML cannot hold its text.
fn wkt(cloud: &Cloud, warnings: &mut Vec<String>) -> Option<String> {
    let crs = cloud.crs()?;
    let wkt = crs.known_wkt(warnings)?.into_owned();
    if fits_xml(&wkt) {
        return Some(wkt);
    }
    warnings.push(format!(
        "the coordinate system ({}) is left out: its text has characters that E57 cannot hold",
        crs.name
    ));
    None
}

fn written(wkt: Option<String>, all: &[Stored], count: usize) -> Result<Vec<u8>, ParseError> {
    let write_error =
        |error: ::e57::Error| ParseError::new(error.to_string()).fix("write PLY or LAZ");
    let id = identity(all, count);
    let mut bytes = Cursor::new(Vec::new());
    let mut file = E57Writer::new(&mut bytes, &format!("{{{id}-file}}")).map_err(write_error)?;
    for (name, url) in [NORMALS, OTHERS] {
        let uses = |stored: &&Stored| matches!(&stored.record.name, RecordName::Unknown { namespace, .. } if namespace == name);
        if all.iter().any(|stored| uses(&stored)) {
            file.register_extension(Extension::new(name, url)).map_err(write_error)?;
        }
    }
    file.set_coordinate_metadata(wkt);
    let prototype = all.iter().map(|stored| stored.record.clone()).collect();
    let mut scan =
        file.add_pointcloud(&format!("{{{id}-scan}}"), prototype).map_err(write_error)?;
    for row in 0..count {
        scan.add_point(all.iter().map(|stored| stored.value(row)).collect())
            .map_err(write_error)?;
    }
    scan.finalize().map_err(write_error)?;
    file.finalize().map_err(write_error)?;
    drop(file);
    Ok(bytes.into_inner())
}

/// Returns a name that is equal for equal points.
fn identity(all: &[Stored], count: usize) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    for stored in all {
        (0..count).for_each(|row| {
            hasher.write_u64(match stored.value(row) {
                RecordValue::Single(value) => value.to_bits().into(),
                RecordValue::Double(value) => value.to_bits(),
                RecordValue::ScaledInteger(value) | RecordValue::Integer(value) => value as u64,
            });
        });
    }
    format!("{:016x}", hasher.finish())
}

/// The columns of x, y and z.
fn axes(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Vec<Stored> {
    let names = [RecordName::CartesianX, RecordName::CartesianY, RecordName::CartesianZ];
    let steps = match (&cloud.header, options.precision) {
        (Header::Las(header), None) => Some(las::transforms(&header.raw)),
        _ => None,
    };
    let columns = match steps {
        Some(_) => std::array::from_fn(|axis| cloud.coordinates.axis(axis, rows)),
        None => output_coordinates(cloud, rows, options.precision, warnings).axes,
    };
    let axes = names.into_iter().zip(columns).enumerate();
    axes.map(|(axis, (name, column))| match steps.map(|steps| steps[axis]) {
        Some((scale, offset)) => {
            let n = |row: usize| ((column.get(row) - offset) / scale).round() as i64;
            let min = (0..column.len()).map(n).min().unwrap_or(0);
            let max = (0..column.len()).map(n).max().unwrap_or(0).max(min + BYTE);
            let data_type = RecordDataType::ScaledInteger { min, max, scale, offset };
            Stored {
                record: Record { name, data_type },
                values: Values::Steps { column, scale, offset },
            }
        }
        None => Stored {
            record: Record { name, data_type: float(&column) },
            values: Values::Plain(column),
        },
    })
    .collect()
}

fn float(column: &Column) -> RecordDataType {
    match column.kind() {
        NumberType::F32 => RecordDataType::Single { min: None, max: None },
        _ => RecordDataType::Double { min: None, max: None },
    }
}

/// Returns the state of each point, if one has no position: that of the input if it has one.
fn invalid(axes: &[Stored], input: Option<&Column>) -> Option<Vec<u8>> {
    let has_place = |row: usize| {
        axes.iter().all(|stored| match &stored.values {
            Values::Plain(column) => column.get(row).is_finite(),
            Values::Steps { .. } => true,
        })
    };
    let (Values::Plain(first) | Values::Steps { column: first, .. }) = &axes.first()?.values;
    let of_row = |row: usize| match input.map(|column| column.get(row) as u8) {
        _ if has_place(row) => 0,
        Some(state) if state != 0 => state,
        _ => INVALID as u8,
    };
    let states: Vec<u8> = (0..first.len()).map(of_row).collect();
    states.iter().any(|&state| state != 0).then_some(states)
}

fn plain(name: RecordName, (min, max): (i64, i64), column: Column) -> Stored {
    let record = Record { name, data_type: RecordDataType::Integer { min, max } };
    Stored { record, values: Values::Plain(column) }
}

/// Gives attributes their E57 names; others go into an extension.
fn named(attributes: Vec<Attribute>) -> Vec<Stored> {
    let has = |name: &str| attributes.iter().any(|a| a.name == name);
    let colors = ["red", "green", "blue"].iter().all(|name| has(name));
    let returns = has("number_of_returns") && (has("return_number") || has("return_index"));
    let mut all: Vec<Stored> = Vec::new();
    let mut taken = HashSet::new();
    for attribute in attributes {
        let Attribute { name, column } = attribute;
        let (record, column) = match name.as_str() {
            "intensity" => (RecordName::Intensity, column),
            "red" if colors => (RecordName::ColorRed, column),
            "green" if colors => (RecordName::ColorGreen, column),
            "blue" if colors => (RecordName::ColorBlue, column),
            "number_of_returns" if returns && is_whole(&column) => {
                (RecordName::ReturnCount, column)
            }
            "return_index" if returns && is_whole(&column) => (RecordName::ReturnIndex, column),
            // E57 counts returns from 0.
            "return_number" if returns && column.whole_within(1.0, 255.0) => {
                let counted = (0..column.len()).map(|row| column.get(row) as u8 - 1).collect();
                (RecordName::ReturnIndex, Column::U8(counted))
            }
            "time_stamp" => (RecordName::TimeStamp, column),
            "nx" | "ny" | "nz" => {
                let axis = name[1..].to_ascii_uppercase();
                (unknown(NORMALS.0, format!("normal{axis}")), column)
            }
            _ => (unknown(OTHERS.0, xml_name(&name)), column),
        };
        if !taken.insert(record.clone()) {
            continue;
        }
        let data_type = kind(&column);
        all.push(Stored {
            record: Record { name: record, data_type },
            values: Values::Plain(column),
        });
    }
    pairs_of_returns(all)
}

/// Drops the count of returns if no number accompanies it, as E57 requires.
fn pairs_of_returns(mut all: Vec<Stored>) -> Vec<Stored> {
    let has = |name: RecordName| all.iter().any(|stored| stored.record.name == name);
    if has(RecordName::ReturnCount) != has(RecordName::ReturnIndex) {
        for stored in &mut all {
            let name = match stored.record.name {
                RecordName::ReturnCount => "number_of_returns",
                RecordName::ReturnIndex => "return_index",
                _ => continue,
            };
            stored.record.name = unknown(OTHERS.0, name.into());
        }
    }
    all
}

fn unknown(namespace: &str, name: String) -> RecordName {
    RecordName::Unknown { namespace: namespace.into(), name }
}

/// Returns a name of letters, digits and underscores that does not begin as names of XML do.
fn xml_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let start = plain.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    match start && !plain.to_ascii_lowercase().starts_with("xml") {
        true => plain,
        false => format!("a_{plain}"),
    }
}

fn is_whole(column: &Column) -> bool {
    !matches!(column.kind(), NumberType::F32 | NumberType::F64)
}

/// Returns the type in the file: whole numbers have the limits of their type, so that it is found again.
fn kind(column: &Column) -> RecordDataType {
    let whole = |min, max| RecordDataType::Integer { min, max };
    match column.kind() {
        NumberType::I8 => whole(i8::MIN.into(), i8::MAX.into()),
        NumberType::U8 => whole(0, u8::MAX.into()),
        NumberType::I16 => whole(i16::MIN.into(), i16::MAX.into()),
        NumberType::U16 => whole(0, u16::MAX.into()),
        NumberType::I32 => whole(i32::MIN.into(), i32::MAX.into()),
        NumberType::U32 => whole(0, u32::MAX.into()),
        // Numbers beyond 2^53 are read as doubles by most.
        NumberType::I64 | NumberType::U64 | NumberType::F64 => {
            RecordDataType::Double { min: None, max: None }
        }
        NumberType::F32 => RecordDataType::Single { min: None, max: None },
    }
}

impl Stored {
    /// Zeroes values of points whose state says that they have no position: not every reader takes NaN.
    fn clear(&mut self, states: &[u8]) {
        let (Values::Plain(column) | Values::Steps { column, .. }) = &mut self.values;
        let cleared = |row: usize| if states[row] == 0 { column.get(row) } else { 0.0 };
        *column = match column.kind() {
            NumberType::F32 => {
                Column::F32((0..states.len()).map(|row| cleared(row) as f32).collect())
            }
            _ => Column::F64((0..states.len()).map(cleared).collect()),
        };
    }

    fn value(&self, row: usize) -> RecordValue {
        let (column, steps) = match &self.values {
            Values::Plain(column) => (column, None),
            Values::Steps { column, scale, offset } => (column, Some((scale, offset))),
        };
        let value = column.get(row);
        if let Some((scale, offset)) = steps {
            return RecordValue::ScaledInteger(((value - offset) / scale).round() as i64);
        }
        match self.record.data_type {
            RecordDataType::Single { .. } => RecordValue::Single(value as f32),
            RecordDataType::Double { .. } => RecordValue::Double(value),
            _ => RecordValue::Integer(value as i64),
        }
    }
}
