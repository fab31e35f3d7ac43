//! E57: cartesian and spherical scans, each moved by its pose; several scans become one cloud.

mod attributes;
mod names;
mod place;
mod summary;
mod write;

pub(crate) use summary::summary;
pub(crate) use write::write;

use crate::bytes::load::Readable;
use crate::bytes::memory;
use crate::bytes::panics::catch_panic;
use crate::bytes::share::Counter;
use crate::cloud::Cloud;
use crate::cloud::column::{Column, NumberType};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::crs::Crs;
use crate::cloud::header::{E57Header, Header};
use crate::cloud::pose;
use crate::conversion::STATE;
use crate::error::{self, ParseError};
use crate::format::Format;
use ::e57::{E57Reader, PointCloud, Record, RecordDataType, RecordName, RecordValue};
use attributes::Attributes;
use place::Place;
use std::io::{Cursor, Read, Seek};

/// Name of the attribute that distinguishes scans.
const SCAN: &str = "scan";
/// Largest number of attributes of an XML element; files have some ten.
const MOST_ATTRIBUTES: usize = 4096;
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

/// Returns the scans that the header describes, as all readers take them, with warnings.
fn scans<T: Read + Seek>(
    reader: &E57Reader<T>,
    size: u64,
) -> Result<(Vec<PointCloud>, Vec<String>), ParseError> {
    let mut scans = reader.pointclouds();
    let mut warnings = Vec::new();
    if scans.len() > 1 {
        warnings.push(joined(&scans));
    }
    for (number, scan) in scans.iter_mut().enumerate() {
        check(scan, size)?;
        if scan.records == 0 {
            warnings.push(format!("scan {number} has no points"));
        }
        if scan.transform.as_mut().is_some_and(|pose| !place::normalize(&mut pose.rotation)) {
            warnings.push(pose::without_rotation(number));
        }
    }
    Ok((scans, warnings))
}

/// Returns the scans that have points: what others state says nothing about any.
fn filled(scans: &[PointCloud]) -> impl Iterator<Item = &PointCloud> {
    scans.iter().filter(|scan| scan.records > 0)
}

/// Opens a file. The time of parsing XML grows with the square of the attributes of an element, so that thousands of them
/// are refused.
fn opened(source: &mut dyn Readable) -> Result<Reader<'_>, ParseError> {
    let xml = Reader::raw_xml(&mut *source).unwrap_or_default();
    let is_name = |tag: &&[u8]| !tag.starts_with(b"!") && !tag.starts_with(b"?");
    let most = xml.split(|&b| b == b'<').filter(is_name).map(attributes_of).max();
    let spaces = xml.windows(5).filter(|word| *word == b"xmlns").count();
    let most = most.unwrap_or(0).max(spaces);
    if most > MOST_ATTRIBUTES {
        return Err(ParseError::new(format!("an XML element has {most} attributes or namespaces")));
    }
    source.rewind().map_err(|error| ParseError::unread(&error))?;
    Reader::new(source).map_err(e57_error)
}

/// Returns the number of attributes of an XML element, from its name on.
fn attributes_of(tag: &[u8]) -> usize {
    let (mut count, mut quote) = (0, None);
    for &b in tag {
        match (quote, b) {
            (Some(open), _) if open == b => quote = None,
            (None, b'"' | b'\'') => (count, quote) = (count + 1, Some(b)),
            (None, b'>') => break,
            _ => {}
        }
    }
    count
}

fn read_scans(bytes: &[u8]) -> Result<Cloud, ParseError> {
    let mut source = Cursor::new(bytes);
    let mut reader = opened(&mut source)?;
    let (scans, mut warnings) = scans(&reader, bytes.len() as u64)?;
    let mut points = Points::default();
    let counter = Counter::new(scans.iter().map(|scan| scan.records as usize).sum());
    for (number, scan) in scans.iter().enumerate() {
        let columns = scan.prototype.len().saturating_sub(3);
        memory::fits(scan.records, size_of::<[f64; 3]>() + columns * size_of::<f64>())?;
        points.read(&mut reader, scan, number, &counter, &mut warnings)?;
    }
    let Points { places, attributes, ends, scanners, invalid } = points;
    let mut cloud = Cloud::from_file(Format::E57, described(&scans), Coordinates::F64(places));
    let attributes = attributes.add_to(&mut cloud);
    if scans.len() > 1 {
        cloud.add_column(SCAN, numbers_of_scans(&ends));
    }
    cloud.scanners = scanners;
    cloud.crs = reader.coordinate_metadata().and_then(Crs::from_wkt);
    cloud.scale = scale(&scans);
    if invalid > 0 {
        warnings.push(format!("{invalid} points are marked invalid and have NaN coordinates"));
    }
    if !reader.images().is_empty() {
        warnings.push("the images in the file are left out".into());
    }
    cloud.warnings = warnings;
    cloud.header = Header::E57(Box::new(E57Header {
        axes: place::axes(&scans),
        scan: (scans.len() == 1).then(|| scans[0].clone()),
        attributes,
        extensions: reader.extensions(),
    }));
    Ok(cloud)
}

/// The points of all scans so far.
#[derive(Default)]
struct Points {
    places: Vec<[f64; 3]>,
    attributes: Attributes,
    /// End of the rows of each scan.
    ends: Vec<usize>,
    /// First row of each scan, and the place of its scanner.
    scanners: Vec<(u64, [f64; 3])>,
    /// Number of points marked invalid, which become NaN.
    invalid: usize,
}

impl Points {
    /// Appends the points of a scan and their attributes.
    fn read(
        &mut self,
        reader: &mut Reader,
        scan: &PointCloud,
        number: usize,
        counter: &Counter,
        warnings: &mut Vec<String>,
    ) -> Result<(), ParseError> {
        let (place, first) = (Place::of(scan), self.places.len());
        let origin = place.pose.as_ref().map_or([0.0; 3], |pose| pose.translation);
        self.scanners.push((first as u64, origin));
        // Writers leave out the section of a scan without points.
        if scan.records > 0 {
            let columns = self.attributes.columns(scan, first);
            if self.read_section(reader, scan, &place, &columns, counter)? {
                let what = "points than its header counts, which are left out";
                warnings.push(format!("scan {number} has more {what}"));
            }
            let pose = place.pose.as_ref().filter(|pose| pose.turns());
            let turned = pose.is_none_or(|pose| self.attributes.turn(&columns, first, pose));
            if !turned {
                let what = "lack an axis and are not turned with its points";
                warnings.push(format!("the normals of scan {number} {what}"));
            }
        }
        self.ends.push(self.places.len());
        Ok(())
    }

    /// Reads the points that the header counts; returns whether more follow.
    fn read_section(
        &mut self,
        reader: &mut Reader,
        scan: &PointCloud,
        place: &Place,
        columns: &[(usize, usize)],
        counter: &Counter,
    ) -> Result<bool, ParseError> {
        let mut values = Vec::with_capacity(scan.prototype.len());
        let float = |kind: &RecordDataType| {
            matches!(kind, RecordDataType::Single { .. } | RecordDataType::Double { .. })
        };
        // Some writers fill the last word of integers, which has up to 64 bits.
        let beyond = if scan.prototype.iter().any(|r| float(&r.data_type)) { 1 } else { 64 };
        let mut section = scan.clone();
        section.records = scan.records.saturating_add(beyond);
        // Unlike the crate's simple reader, the raw one takes packets without a whole point.
        let mut stored = reader.pointcloud_raw(&section).map_err(e57_error)?;
        for point in stored.by_ref().take(scan.records as usize) {
            let at = error::Place::Point(self.places.len());
            let point = point.map_err(|e| e57_error(e).at(at))?;
            values.clear();
            let recorded = point.iter().zip(&scan.prototype);
            values.extend(recorded.map(|(v, record)| number(v, &record.data_type)));
            let point = place.point(&values);
            counter.add_row(self.places.len());
            self.invalid += usize::from(point.is_none());
            self.places.push(point.unwrap_or([f64::NAN; 3]));
            self.attributes.push(columns, &values);
        }
        Ok(stored.take(beyond as usize).take_while(Result::is_ok).count() as u64 == beyond)
    }
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
        |axis| filled(scans).try_fold(f64::INFINITY, |a, scan| Some(of_scan(scan, axis)?.min(a)));
    let [x, y, z] = axes.each_ref().map(finest);
    Some([x?, y?, z?]).filter(|steps| steps.iter().all(|step| step.is_finite()))
}

/// Checks the number of points. A point takes at least a bit, unless all its values are constants: then the file's
/// size limits nothing, and the crate would make points without end.
fn check(scan: &PointCloud, size: u64) -> Result<(), ParseError> {
    let constant = |r: &Record| match r.data_type {
        RecordDataType::Integer { min, max } | RecordDataType::ScaledInteger { min, max, .. } => {
            min >= max
        }
        _ => false,
    };
    let bits = size.saturating_mul(8);
    if scan.records > 0 && (scan.prototype.iter().all(constant) || scan.records > bits) {
        let what = format!("{} points are declared, more than the file can hold", scan.records);
        return Err(ParseError::new(what).at(error::Place::Byte(scan.file_offset as usize)));
    }
    Ok(())
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
