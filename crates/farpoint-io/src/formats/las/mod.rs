//! LAS and LAZ, all point formats; COPC is read as LAZ.
//!
//! The public header is read and written by las, the compression is laz. Points stay the records
//! they are in the file: las's own `Point` would take a coordinate from its integer to a double and
//! back, and drop reserved bits.

mod assignment;
mod chunks;
mod columns;
mod counts;
mod describe;
mod fields;
mod layout;
mod nodes;
mod points;
mod stream;
mod summary;
mod write;

pub(crate) use counts::Counts;
pub(crate) use describe::{describe_extras, new_record, record_length};
pub(crate) use fields::{Extra, base_length, dimensions, extras};
pub(crate) use layout::layout;
pub(crate) use nodes::{Cube, check_places, cubes};
pub(crate) use stream::stream;
pub(crate) use summary::summary;
pub(crate) use write::{before_points, compressed, header_bytes, lay_out, move_extended, write};

use crate::bytes::memory;
use crate::bytes::parallel;
use crate::bytes::part::Part;
use crate::cloud::Cloud;
use crate::cloud::coordinates::Coordinates;
use crate::cloud::crs::Crs;
use crate::cloud::header::{Header, LasHeader, Record};
use crate::cloud::table::{Store, Table};
use crate::error::{ParseError, Place};
use crate::format::Format;
use laz::LazVlr;
use std::borrow::Cow;

/// Reads all points.
pub(crate) fn read(bytes: Cow<'_, [u8]>) -> Result<Cloud, ParseError> {
    let (header, compressed, warnings) = read_header(&bytes)?;
    let raw = &header.raw;
    let count = point_count(raw);
    let stride = usize::from(raw.point_data_record_length);
    let start = raw.offset_to_point_data as usize;
    let records = match compressed {
        false => stored(bytes, start, count, stride)?,
        true => {
            let vlr = header.records.iter().find(|r| r.is(LazVlr::USER_ID, LazVlr::RECORD_ID));
            let vlr = vlr.ok_or_else(|| {
                ParseError::new("the LASzip record is missing").fix("decompress it elsewhere")
            })?;
            points::decompress(&bytes, start, vlr.data(), count, stride)?.into()
        }
    };
    let coordinates = coordinates(raw, &records, stride);
    let store = Store::Records { bytes: records, stride };
    Ok(cloud(header, compressed, coordinates, store, warnings))
}

/// Returns a cloud of records, with all data of its header.
pub(crate) fn cloud(
    header: LasHeader,
    compressed: bool,
    coordinates: Coordinates,
    store: Store,
    warnings: Vec<String>,
) -> Cloud {
    let stride = usize::from(header.raw.point_data_record_length);
    let dimensions = fields::dimensions(header.format, stride, extra_bytes(&header));
    let table = Table { dimensions, store, big_endian: false, xyz: [0, 1, 2] };
    let format = if compressed { Format::Laz } else { Format::Las };
    let description = described(&header, format);
    let (crs, scale) = (Crs::from_las(&header), transforms(&header.raw).map(|(scale, _)| scale));
    let header = Header::Las(Box::new(header));
    let mut cloud = Cloud::from_table(format, description, coordinates, table, header);
    (cloud.crs, cloud.scale, cloud.warnings) = (crs, Some(scale), warnings);
    cloud
}

/// Returns the record that describes extra bytes.
pub(crate) fn extra_bytes(header: &LasHeader) -> Option<&[u8]> {
    let extra = header.records.iter().chain(&header.extended).find(|r| r.is("LASF_Spec", 4));
    extra.map(Record::data)
}

fn described(header: &LasHeader, format: Format) -> String {
    let version = header.raw.version;
    format!("{format} {}.{}, point format {}", version.major, version.minor, header.format)
}

/// Returns the number of points: LAS 1.4 counts in 64 bits and may leave the old count 0.
fn point_count(raw: &las::raw::Header) -> u64 {
    match raw.large_file {
        Some(large) if large.number_of_point_records > 0 => large.number_of_point_records,
        _ => u64::from(raw.number_of_point_records),
    }
}

fn read_header(bytes: &[u8]) -> Result<(LasHeader, bool, Vec<String>), ParseError> {
    let (mut header, compressed) = head(bytes)?;
    let mut warnings = Vec::new();
    (header.extended, header.extended_start) = extended_records(bytes, &header.raw, &mut warnings);
    Ok((header, compressed, warnings))
}

/// Reads the header without the records after the points, and whether these are compressed.
fn head(bytes: &[u8]) -> Result<(LasHeader, bool), ParseError> {
    if !bytes.starts_with(b"LASF") {
        return Err(ParseError::new("the file does not start with 'LASF'").at(Place::Byte(0)));
    }
    let raw = las::raw::Header::read_from(bytes).map_err(|_| {
        ParseError::truncated(format!("the header is truncated at {} bytes", bytes.len()))
    })?;
    let code = raw.point_data_record_format;
    let format = code & 0x3f;
    let known = las::point::Format::new(format).map_err(|_| {
        ParseError::new(format!("point format {format} is unknown"))
            .at(Place::Byte(104))
            .fix("formats 0 to 10 are read")
    })?;
    if raw.point_data_record_length < known.len() {
        let what = format!(
            "records of {} bytes are too short for point format {format}, which takes {}",
            raw.point_data_record_length,
            known.len()
        );
        return Err(ParseError::new(what).at(Place::Byte(105)));
    }
    let mut records = Vec::new();
    let mut at = usize::from(raw.header_size);
    for i in 0..raw.number_of_variable_length_records {
        let record = Record::read(bytes, at, false).ok_or_else(|| {
            let what = format!(
                "variable length record {} of {} is truncated",
                i + 1,
                raw.number_of_variable_length_records
            );
            ParseError::truncated(what).at(Place::Byte(at))
        })?;
        at += record.bytes.len();
        records.push(record);
    }
    let start = raw.offset_to_point_data as usize;
    if start > bytes.len() {
        let what = format!("the points start at byte {start}, the file has {} bytes", bytes.len());
        return Err(ParseError::truncated(what));
    }
    let padding = bytes.get(at..start).unwrap_or_default().to_vec();
    let compressed = code & 0xC0 != 0;
    let header =
        LasHeader { raw, format, records, padding, extended: Vec::new(), extended_start: 0 };
    Ok((header, compressed))
}

fn extended_records(
    bytes: &[u8],
    raw: &las::raw::Header,
    warnings: &mut Vec<String>,
) -> (Vec<Record>, u64) {
    let (start, count) = match (raw.evlr, raw.start_of_waveform_data_packet_record) {
        (Some(evlr), _) => (evlr.start_of_first_evlr, evlr.number_of_evlrs),
        // LAS 1.3 has one such record, the waveforms, unless they are in a file of their own.
        (None, Some(start)) => (start, 1),
        (None, None) => (0, 0),
    };
    let mut records = Vec::new();
    let mut at = usize::try_from(start).unwrap_or(usize::MAX);
    for _ in 0..count {
        let Some(record) = Record::read(bytes, at, true) else {
            warnings.push("the records after the points are truncated and left out in part".into());
            break;
        };
        at += record.bytes.len();
        records.push(record);
    }
    (records, start)
}

/// Returns the records of an uncompressed file.
fn stored(
    bytes: Cow<'_, [u8]>,
    start: usize,
    count: u64,
    stride: usize,
) -> Result<Part, ParseError> {
    let room = bytes.len() - start;
    let length = usize::try_from(count).ok().and_then(|n| n.checked_mul(stride));
    let length = length.filter(|&length| length <= room).ok_or_else(|| {
        let available = room / stride;
        ParseError::truncated(format!(
            "the header declares {count} points, the file has {available}"
        ))
    })?;
    memory::fits(count, size_of::<[f64; 3]>())?;
    Ok(Part::new(bytes, start..start + length))
}

/// Returns scale and offset of each axis.
pub(crate) fn transforms(raw: &las::raw::Header) -> [(f64, f64); 3] {
    [
        (raw.x_scale_factor, raw.x_offset),
        (raw.y_scale_factor, raw.y_offset),
        (raw.z_scale_factor, raw.z_offset),
    ]
}

/// Returns the stored integers of a point.
pub(crate) fn integers(record: &[u8]) -> [i32; 3] {
    [0, 4, 8]
        .map(|at| i32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]))
}

/// Returns the coordinates of records.
pub(crate) fn coordinates(raw: &las::raw::Header, records: &[u8], stride: usize) -> Coordinates {
    let [x, y, z] = transforms(raw);
    let value = |n: i32, (scale, offset): (f64, f64)| f64::from(n) * scale + offset;
    Coordinates::F64(parallel::values(records.len() / stride, |row| {
        let [i, j, k] = integers(&records[row * stride..][..12]);
        [value(i, x), value(j, y), value(k, z)]
    }))
}
