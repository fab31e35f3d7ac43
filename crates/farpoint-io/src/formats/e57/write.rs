//! Writing E57: one scan, whose coordinates stay integers if the input has a scale.

use super::names::{NORMALS, OTHERS, Stored, kind, named, satisfied};
use super::place;
use crate::WriteOptions;
use crate::bytes::panics::catch_panic;
use crate::bytes::share::Counter;
use crate::cloud::Cloud;
use crate::cloud::column::{Attribute, Column};
use crate::cloud::header::{E57Header, Header};
use crate::cloud::pose::Pose;
use crate::cloud::precision::output_coordinates;
use crate::conversion::{self, STATE, Target};
use crate::error::ParseError;
use crate::error::untrusted::fits_xml;
use crate::formats::las;
use ::e57::{
    E57Writer, Extension, IntensityLimits, PointCloud, PointCloudWriter, Record, RecordDataType,
    RecordName, RecordValue,
};
use std::hash::Hasher;
use std::io::Cursor;

/// The state of a point without a position.
const INVALID: i64 = 2;
/// Bytes of a packet for the values of its points, and bytes per column besides: the length of its part, and the rest
/// of a byte.
const PACKET: u64 = u16::MAX as u64 - 506;
const PACKET_COLUMN: u64 = 3;

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
    let input = match &cloud.header {
        Header::E57(header) => Some(&**header),
        _ => None,
    };
    let mut attributes = match input {
        Some(_) => cloud.attributes(rows, warnings),
        None => conversion::attributes(cloud, rows, Target::E57, warnings),
    };
    let local = input.filter(|_| options.precision.is_none()).and_then(|h| local(cloud, rows, h));
    let scan = input.and_then(|header| header.scan.clone());
    let posed = local.is_some();
    let pose = scan.as_ref().filter(|_| posed).and_then(place::pose);
    if let Some(pose) = pose.filter(|pose| pose.turns()) {
        turn_back(&mut attributes, &pose);
    }
    let mut all = match local {
        Some(axes) => axes,
        None => axes(cloud, rows, options, warnings),
    };
    let state = attributes.iter().position(|a| a.name == STATE && a.column.whole_within(0.0, 2.0));
    let state = state.map(|i| attributes.remove(i).column);
    // Some readers expect the states of all points.
    let states = states(cloud, rows, state.as_ref());
    all.iter_mut().for_each(|axis| axis.clear(&states));
    let data_type = RecordDataType::Integer { min: 0, max: INVALID };
    let record = Record { name: RecordName::CartesianInvalidState, data_type };
    all.push(Stored { record, column: Column::U8(states) });
    all.extend(named(attributes, input));
    satisfied(&mut all);
    check_packet(&all)?;
    let about = About { wkt: wkt(cloud, warnings), scan: scan.unwrap_or_default(), posed };
    let known = input.map_or(&[][..], |header| &header.extensions);
    catch_panic("the points cannot be written", || written(about, known, &all, rows.len()))
}

/// Facts in the header of the file.
struct About {
    wkt: Option<String>,
    /// The scan of the input.
    scan: PointCloud,
    /// The coordinates are those before the pose of the scan.
    posed: bool,
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

fn written(
    about: About,
    known: &[Extension],
    all: &[Stored],
    count: usize,
) -> Result<Vec<u8>, ParseError> {
    let write_error =
        |error: ::e57::Error| ParseError::new(error.to_string()).fix("write PLY or LAZ");
    let id = identity(all, count);
    let mut bytes = Cursor::new(Vec::new());
    let mut file = E57Writer::new(&mut bytes, &format!("{{{id}-file}}")).map_err(write_error)?;
    let ours = [NORMALS, OTHERS].map(|(name, url)| Extension::new(name, url));
    for (i, extension) in known.iter().chain(&ours).enumerate() {
        let name = &extension.namespace;
        let uses = |stored: &Stored| matches!(&stored.record.name, RecordName::Unknown { namespace, .. } if namespace == name);
        let repeated = known.iter().take(i).any(|earlier| earlier.namespace == *name);
        if !repeated && all.iter().any(uses) {
            file.register_extension(extension.clone()).map_err(write_error)?;
        }
    }
    file.set_coordinate_metadata(about.wkt);
    let prototype = all.iter().map(|stored| stored.record.clone()).collect();
    let mut scan =
        file.add_pointcloud(&format!("{{{id}-scan}}"), prototype).map_err(write_error)?;
    describe(&mut scan, about.scan, about.posed);
    if let Some(limits) = intensity_limits(all) {
        scan.set_intensity_limits(Some(limits));
    }
    let counter = Counter::new(count);
    for row in 0..count {
        counter.add_row(row);
        scan.add_point(all.iter().map(|stored| stored.value(row)).collect())
            .map_err(write_error)?;
    }
    scan.finalize().map_err(write_error)?;
    file.finalize().map_err(write_error)?;
    drop(file);
    Ok(bytes.into_inner())
}

/// Copies what is known about the scan of the input.
fn describe(to: &mut PointCloudWriter<&mut Cursor<Vec<u8>>>, scan: PointCloud, posed: bool) {
    let text = |text: Option<String>| text.filter(|text| fits_xml(text));
    let identifiers = scan.original_guids.or(scan.guid.map(|guid| vec![guid]));
    to.set_original_guids(identifiers.filter(|all| all.iter().all(|guid| fits_xml(guid))));
    to.set_name(text(scan.name));
    to.set_description(text(scan.description));
    to.set_sensor_vendor(text(scan.sensor_vendor));
    to.set_sensor_model(text(scan.sensor_model));
    to.set_sensor_serial(text(scan.sensor_serial));
    to.set_sensor_hw_version(text(scan.sensor_hw_version));
    to.set_sensor_sw_version(text(scan.sensor_sw_version));
    to.set_sensor_fw_version(text(scan.sensor_fw_version));
    to.set_transform(scan.transform.filter(|_| posed));
    to.set_acquisition_start(scan.acquisition_start);
    to.set_acquisition_end(scan.acquisition_end);
    to.set_temperature(scan.temperature);
    to.set_humidity(scan.humidity);
    to.set_atmospheric_pressure(scan.atmospheric_pressure);
    if scan.color_limits.is_some() {
        to.set_color_limits(scan.color_limits);
    }
}

/// Returns the range of intensities, which some readers expect, if their type has none.
fn intensity_limits(all: &[Stored]) -> Option<IntensityLimits> {
    let stored = all.iter().find(|stored| stored.record.name == RecordName::Intensity)?;
    let finite =
        (0..stored.column.len()).map(|row| stored.column.get(row)).filter(|v| v.is_finite());
    let range = finite.fold(None, |range: Option<[f64; 2]>, v| {
        Some(range.map_or([v; 2], |[low, high]| [low.min(v), high.max(v)]))
    });
    let [low, high] = range?;
    let [min, max] = match stored.record.data_type {
        RecordDataType::Single { min: None, .. } | RecordDataType::Single { max: None, .. } => {
            [low, high].map(|value| Some(RecordValue::Single(value as f32)))
        }
        RecordDataType::Double { min: None, .. } | RecordDataType::Double { max: None, .. } => {
            [low, high].map(|value| Some(RecordValue::Double(value)))
        }
        _ => return None,
    };
    Some(IntensityLimits { intensity_min: min, intensity_max: max })
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

const AXES: [RecordName; 3] =
    [RecordName::CartesianX, RecordName::CartesianY, RecordName::CartesianZ];

/// Returns the coordinates before the pose of the scan, in the number types of the input, if they give the same points.
fn local(cloud: &Cloud, rows: &[usize], header: &E57Header) -> Option<Vec<Stored>> {
    let kinds = header.axes.clone()?;
    let pose = header.scan.as_ref().and_then(place::pose);
    let points: Vec<[f64; 3]> = rows.iter().map(|&row| cloud.coordinates.get(row)).collect();
    let local: Vec<[f64; 3]> = match &pose {
        Some(pose) => points.iter().map(|point| pose.moved_back(*point)).collect(),
        None => points.clone(),
    };
    // Rounding to a step moves points that are not those of the input, such as centroids.
    let step = kinds.iter().map(step).reduce(f64::max)?;
    let axes: Vec<Stored> = AXES
        .into_iter()
        .zip(kinds)
        .enumerate()
        .map(|(axis, (name, data_type))| Stored {
            column: Column::F64(local.iter().map(|point| point[axis]).collect()),
            record: Record { name, data_type },
        })
        .collect();
    let same = points.iter().enumerate().all(|(row, point)| {
        let stored = [0, 1, 2].map(|axis| axes[axis].number(row));
        let found = pose.as_ref().map_or(stored, |pose| pose.moved(stored));
        found.iter().zip(point).all(|(a, b)| (a - b).abs() <= step || !b.is_finite())
    });
    same.then_some(axes)
}

/// Turns normals into the frame of the scan.
fn turn_back(attributes: &mut [Attribute], pose: &Pose) {
    let names = attributes.iter().map(|attribute| attribute.name.as_str());
    let [Some(x), Some(y), Some(z)] = conversion::normals(names) else { return };
    let axes = [x, y, z].map(|axis| attributes[axis].column.clone());
    let normals: Vec<[f64; 3]> = (0..axes[0].len())
        .map(|row| pose.turned_back(axes.each_ref().map(|axis| axis.get(row))))
        .collect();
    for (axis, place) in [x, y, z].into_iter().enumerate() {
        let values = normals.iter().map(|normal| normal[axis]).collect();
        attributes[place].column = Column::F64(values).cast(axes[axis].kind());
    }
}

/// Returns the distance of neighboring values; 0 for floating-point numbers.
fn step(kind: &RecordDataType) -> f64 {
    match kind {
        RecordDataType::Integer { .. } => 1.0,
        RecordDataType::ScaledInteger { scale, .. } => scale.abs(),
        _ => 0.0,
    }
}

/// Returns the columns of x, y and z.
fn axes(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Vec<Stored> {
    let steps = match (&cloud.header, options.precision) {
        (Header::Las(header), None) => Some(las::transforms(&header.raw)),
        _ => None,
    };
    let columns = match steps {
        Some(_) => std::array::from_fn(|axis| cloud.coordinates.axis(axis, rows)),
        None => output_coordinates(cloud, rows, options.precision, warnings).axes,
    };
    let axes = AXES.into_iter().zip(columns).enumerate();
    axes.map(|(axis, (name, column))| {
        let data_type = match steps.map(|steps| steps[axis]) {
            Some((scale, offset)) => scaled(&column, scale, offset),
            None => kind(&column),
        };
        Stored { record: Record { name, data_type }, column }
    })
    .collect()
}

/// Returns the type that holds these multiples of a scale.
fn scaled(column: &Column, scale: f64, offset: f64) -> RecordDataType {
    let n = |row: usize| ((column.get(row) - offset) / scale).round() as i64;
    let min = (0..column.len()).map(n).min().unwrap_or(0);
    let max = (0..column.len()).map(n).max().unwrap_or(0);
    RecordDataType::ScaledInteger { min, max, scale, offset }
}

/// Returns the state of each point: that of the input for points without a position, if it has one.
fn states(cloud: &Cloud, rows: &[usize], input: Option<&Column>) -> Vec<u8> {
    let of_row = |(i, row): (usize, &usize)| match input.map(|column| column.get(i) as u8) {
        _ if cloud.coordinates.get(*row).iter().all(|x| x.is_finite()) => 0,
        Some(state) if state != 0 => state,
        _ => INVALID as u8,
    };
    rows.iter().enumerate().map(of_row).collect()
}
