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
mod head;
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
use crate::error::ParseError;
use crate::format::Format;
use head::{Head, Points};
use std::borrow::Cow;
use std::io::Cursor;

/// Reads all points.
pub(crate) fn read(bytes: Cow<'_, [u8]>) -> Result<Cloud, ParseError> {
    let head = Head::read(&mut Cursor::new(&bytes[..]), bytes.len() as u64, u64::MAX)?;
    let Head { header, count, points, warnings, .. } = head;
    let stride = usize::from(header.raw.point_data_record_length);
    let compressed = !matches!(points, Points::Stored(_));
    let records = match points {
        Points::Stored(start) => {
            memory::fits(count, size_of::<[f64; 3]>())?;
            let (start, length) = (start as usize, count as usize * stride);
            Part::new(bytes, start..start + length)
        }
        Points::Chunks(chunks) => chunks::chunked(&bytes, &chunks)?.into(),
        Points::Stream(start, vlr) => {
            points::sequential(&bytes, start, &vlr, count, stride)?.into()
        }
    };
    let coordinates = coordinates(&header.raw, &records, stride);
    let store = Store::Records { bytes: records, stride };
    Ok(cloud(header, compressed, coordinates, store, warnings))
}

/// Returns a cloud with all but the points of a file, and the places of these.
fn without_points(head: Head) -> (Cloud, Points) {
    let stride = usize::from(head.header.raw.point_data_record_length);
    let store = Store::Records { bytes: Vec::new().into(), stride };
    let (none, compressed) =
        (Coordinates::F64(Vec::new()), !matches!(head.points, Points::Stored(_)));
    (cloud(head.header, compressed, none, store, head.warnings), head.points)
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
    (cloud.crs, cloud.scale) = (crs, Some(scale));
    cloud.warnings.extend(warnings);
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
