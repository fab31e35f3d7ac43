//! E57: cartesian and spherical scans, each moved by its pose; several scans become one cloud.

mod summary;
mod write;

pub(crate) use summary::summary;
pub(crate) use write::write;

use crate::bytes::load::Readable;
use crate::bytes::memory;
use crate::bytes::panics::catch_panic;
use crate::cloud::Cloud;
use crate::cloud::column::{Column, NumberType};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::crs::Crs;
use crate::error::{ParseError, Place};
use crate::format::Format;
use ::e57::{
    CartesianCoordinate, E57Reader, PointCloud, Record, RecordDataType, RecordName, RecordValue,
};
use std::collections::{HashMap, HashSet};
use std::io::Cursor;

/// Name of the attribute that distinguishes scans.
const SCAN: &str = "scan";
/// Name of the attribute that marks points without a position.
const STATE: &str = "invalid_state";
/// Largest number of scans named in a warning.
const NAMED: usize = 5;

type Reader<'a> = E57Reader<&'a mut dyn Readable>;

/// Reads all scans of a file.
pub(crate) fn read(bytes: &[u8]) -> Result<Cloud, ParseError> {
    catch_panic("the file cannot be decoded", || read_scans(bytes))
}

fn e57_error(error: ::e57::Error) -> ParseError {
    ParseError::new(error.to_string()).fix("the file is damaged: download or export it again")
}

fn read_scans(bytes: &[u8]) -> Result<Cloud, ParseError> {
    let mut source = Cursor::new(bytes);
    let mut reader = Reader::new(&mut source).map_err(e57_error)?;
    let scans = reader.pointclouds();
    let mut points = Vec::new();
    let mut columns = Columns::default();
    let mut without_place = 0;
    let mut ends = Vec::new();
    for scan in &scans {
        check(scan, bytes.len())?;
        let attributes = scan.prototype.len().saturating_sub(3);
        memory::fits(scan.records, size_of::<[f64; 3]>() + attributes * size_of::<f64>())?;
        let first = points.len();
        without_place += positions(&mut reader, scan, &mut points)?;
        columns.read(&mut reader, scan, first, points.len())?;
        ends.push(points.len());
    }
    let coordinates = Coordinates::F64(points);
    let mut cloud = Cloud::from_file(Format::E57, described(&scans), coordinates);
    let count = cloud.len();
    cloud.add_columns(columns.finish(count));
    if scans.len() > 1 {
        cloud.add_column(SCAN, numbers_of_scans(&ends));
        cloud.warnings.push(joined(&scans));
    }
    cloud.crs = reader.coordinate_metadata().and_then(Crs::from_wkt);
    cloud.scale = scale(&scans);
    if without_place > 0 {
        cloud
            .warnings
            .push(format!("{without_place} points are marked invalid and have NaN coordinates"));
    }
    if !reader.images().is_empty() {
        cloud.warnings.push("the images in the file are left out".into());
    }
    Ok(cloud)
}

fn described(scans: &[PointCloud]) -> String {
    let number = match scans.len() {
        1 => "1 scan".to_owned(),
        n => format!("{n} scans"),
    };
    let spherical = scans.iter().any(|s| s.has_spherical() && !s.has_cartesian());
    format!("E57 {}, {number}", if spherical { "spherical" } else { "cartesian" })
}

/// Returns the number of the scan of each point, from 0.
fn numbers_of_scans(ends: &[usize]) -> Column {
    let mut numbers = Vec::with_capacity(ends.last().copied().unwrap_or(0));
    for (scan, &end) in ends.iter().enumerate() {
        numbers.resize(end, scan as u32);
    }
    match u16::try_from(ends.len()) {
        Ok(_) => Column::U32(numbers).cast(NumberType::U16),
        Err(_) => Column::U32(numbers),
    }
}

fn joined(scans: &[PointCloud]) -> String {
    let named: Vec<String> = scans
        .iter()
        .enumerate()
        .filter_map(|(i, scan)| Some(format!("{i} is '{}'", scan.name.as_ref()?)))
        .take(NAMED)
        .collect();
    let names = match named.is_empty() {
        true => String::new(),
        false => {
            format!(" ({}{})", named.join(", "), if scans.len() > NAMED { ", ..." } else { "" })
        }
    };
    format!("{} scans become one cloud; the attribute '{SCAN}' numbers them{names}", scans.len())
}

/// Returns the scale of the coordinates, if all are scaled integers.
fn scale(scans: &[PointCloud]) -> Option<[f64; 3]> {
    let axes = [RecordName::CartesianX, RecordName::CartesianY, RecordName::CartesianZ];
    let of_scan = |scan: &PointCloud, axis: &RecordName| {
        let record = scan.prototype.iter().find(|record| record.name == *axis)?;
        match record.data_type {
            RecordDataType::ScaledInteger { scale, .. } if scale > 0.0 => Some(scale),
            _ => None,
        }
    };
    let finest =
        |axis| scans.iter().try_fold(f64::INFINITY, |a, scan| Some(of_scan(scan, axis)?.min(a)));
    let [x, y, z] = axes.each_ref().map(finest);
    Some([x?, y?, z?]).filter(|steps| steps.iter().all(|step| step.is_finite()))
}

/// Checks the number of points. A point takes at least a bit, unless all its values are constants: then the file's
/// size limits nothing, and the crate would make points without end.
fn check(scan: &PointCloud, size: usize) -> Result<(), ParseError> {
    let constant = |r: &Record| match r.data_type {
        RecordDataType::Integer { min, max } | RecordDataType::ScaledInteger { min, max, .. } => {
            min >= max
        }
        _ => false,
    };
    let bits = size as u64 * 8;
    if scan.records > 0 && (scan.prototype.iter().all(constant) || scan.records > bits) {
        let what = format!("{} points are declared, more than the file can hold", scan.records);
        return Err(ParseError::new(what).at(Place::Byte(scan.file_offset as usize)));
    }
    Ok(())
}

/// Appends the positions; returns the number of those marked invalid, which become NaN.
fn positions(
    reader: &mut Reader,
    scan: &PointCloud,
    out: &mut Vec<[f64; 3]>,
) -> Result<usize, ParseError> {
    let mut simple = reader.pointcloud_simple(scan).map_err(e57_error)?;
    simple.intensity_to_color(false);
    simple.normalize_color(false);
    simple.normalize_intensity(false);
    let mut invalid = 0;
    for point in simple {
        let point = point.map_err(|e| e57_error(e).at(Place::Point(out.len())))?;
        out.push(match point.cartesian {
            CartesianCoordinate::Valid { x, y, z } => [x, y, z],
            _ => {
                invalid += 1;
                [f64::NAN; 3]
            }
        });
    }
    Ok(invalid)
}

/// Returns the name of an attribute in other formats; `None` for coordinates.
fn attribute_name(name: &RecordName) -> Option<String> {
    Some(match name {
        RecordName::CartesianX | RecordName::CartesianY | RecordName::CartesianZ => return None,
        RecordName::SphericalRange | RecordName::SphericalAzimuth => return None,
        RecordName::SphericalElevation => return None,
        RecordName::CartesianInvalidState | RecordName::SphericalInvalidState => STATE.into(),
        RecordName::Intensity => "intensity".into(),
        RecordName::IsIntensityInvalid => "intensity_invalid".into(),
        RecordName::ColorRed => "red".into(),
        RecordName::ColorGreen => "green".into(),
        RecordName::ColorBlue => "blue".into(),
        RecordName::IsColorInvalid => "color_invalid".into(),
        RecordName::RowIndex => "row".into(),
        RecordName::ColumnIndex => "column".into(),
        RecordName::ReturnCount => "number_of_returns".into(),
        RecordName::ReturnIndex => "return_index".into(),
        RecordName::TimeStamp => "time_stamp".into(),
        RecordName::IsTimeStampInvalid => "time_stamp_invalid".into(),
        RecordName::Unknown { name, .. } => name.clone(),
    })
}

/// The attributes of all scans under their names.
#[derive(Default)]
struct Columns {
    /// The attributes in file order.
    all: Vec<Values>,
    /// Index of the values of each name.
    places: HashMap<String, usize>,
}

/// One attribute.
struct Values {
    name: String,
    kind: Kind,
    values: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Single,
    Double,
    /// Whole numbers within these limits.
    Integer(i64, i64),
}

impl Kind {
    fn from_record_type(kind: &RecordDataType) -> Kind {
        match kind {
            RecordDataType::Single { .. } => Kind::Single,
            RecordDataType::Integer { min, max } => Kind::Integer(*min, *max),
            _ => Kind::Double,
        }
    }

    /// Returns the type that holds its values.
    fn scalar(self) -> NumberType {
        match self {
            Kind::Single => NumberType::F32,
            Kind::Integer(0.., ..=255) => NumberType::U8,
            Kind::Integer(0.., ..=65535) => NumberType::U16,
            Kind::Integer(a, b) if i32::try_from(a).is_ok() && i32::try_from(b).is_ok() => {
                NumberType::I32
            }
            _ => NumberType::F64,
        }
    }

    /// Returns the kind that holds the values of both.
    fn joined(self, other: Kind) -> Kind {
        match (self, other) {
            (a, b) if a == b => a,
            (Kind::Integer(a, b), Kind::Integer(c, d)) => Kind::Integer(a.min(c), b.max(d)),
            _ => Kind::Double,
        }
    }
}

impl Columns {
    fn read(
        &mut self,
        reader: &mut Reader,
        scan: &PointCloud,
        first: usize,
        end: usize,
    ) -> Result<(), ParseError> {
        let mut attributes: Vec<(usize, String, RecordDataType)> = Vec::new();
        let mut taken = HashSet::new();
        for (i, record) in scan.prototype.iter().enumerate() {
            let Some(mut name) = attribute_name(&record.name) else { continue };
            // Two extensions may use one name.
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            attributes.push((i, name, record.data_type.clone()));
        }
        if attributes.is_empty() {
            return Ok(());
        }
        let mut places = Vec::with_capacity(attributes.len());
        for (_, name, kind) in &attributes {
            places.push(self.place(name, Kind::from_record_type(kind), first));
        }
        let raw = reader.pointcloud_raw(scan).map_err(e57_error)?;
        for (row, values) in raw.take(end - first).enumerate() {
            let values = values.map_err(|e| e57_error(e).at(Place::Point(first + row)))?;
            for ((i, _, kind), &place) in attributes.iter().zip(&places) {
                if let Some(value) = values.get(*i) {
                    self.all[place].values.push(number(value, kind));
                }
            }
        }
        Ok(())
    }

    /// Returns the index of the attribute of that name, filled up to row `first`: an earlier scan may lack it.
    fn place(&mut self, name: &str, kind: Kind, first: usize) -> usize {
        let place = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.all.push(Values { name: name.to_owned(), kind, values: Vec::new() });
            self.all.len() - 1
        });
        let attribute = &mut self.all[place];
        attribute.kind = attribute.kind.joined(kind);
        attribute.values.resize(first, f64::NAN);
        place
    }

    fn finish(self, len: usize) -> Vec<(String, Column)> {
        let mut out = Vec::new();
        for Values { name, kind, mut values } in self.all {
            values.resize(len, f64::NAN);
            let full = values.iter().all(|v| !v.is_nan());
            let kind = if full || kind == Kind::Single { kind } else { Kind::Double };
            let column = match kind.scalar() {
                NumberType::F32 => Column::F32(values.into_iter().map(|v| v as f32).collect()),
                NumberType::U8 => Column::U8(values.into_iter().map(|v| v as u8).collect()),
                NumberType::U16 => Column::U16(values.into_iter().map(|v| v as u16).collect()),
                NumberType::I32 => Column::I32(values.into_iter().map(|v| v as i32).collect()),
                _ => Column::F64(values),
            };
            out.push((name, column));
        }
        out
    }
}

fn number(value: &RecordValue, kind: &RecordDataType) -> f64 {
    match (value, kind) {
        (RecordValue::Single(v), _) => f64::from(*v),
        (RecordValue::Double(v), _) => *v,
        (RecordValue::ScaledInteger(v), RecordDataType::ScaledInteger { scale, offset, .. }) => {
            *v as f64 * scale + offset
        }
        (RecordValue::ScaledInteger(v) | RecordValue::Integer(v), _) => *v as f64,
    }
}
