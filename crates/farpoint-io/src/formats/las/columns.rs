//! Records of LAS 1.4 from the columns of other formats, and coordinates as multiples of a scale.

use super::assignment::Fields;
use super::describe::{describe, new_record, record_length};
use super::fields::base_length;
use super::{integers, transforms};
use crate::bytes::parallel;
use crate::cloud::Cloud;
use crate::cloud::column::{Column, NumberType};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::LasHeader;
use crate::cloud::resolution::{integer_step, step_text};
use crate::cloud::table::Dimension;
use crate::conversion::{self, Target};
use crate::error::{ParseError, Place};

/// Records that a thread takes at a time.
const BLOCK: usize = 1 << 13;

/// The largest integer that a coordinate becomes.
const LARGEST: f64 = 2.0e9;

/// Returns a scale at which the range fits into 32 bits, at least `min_scale`, and an offset that is whole and a
/// multiple of it.
fn scale_and_offset(low: f64, high: f64, min_scale: f64) -> (f64, f64) {
    let middle = (low + high) / 2.0;
    let per_unit = 1.0 / min_scale;
    let decimal = min_scale >= 1.0 || (per_unit - per_unit.round()).abs() < per_unit * 1e-12;
    let offset = if decimal { middle.round() } else { (middle / min_scale).round() * min_scale };
    let reach = (high - offset).abs().max((low - offset).abs());
    let mut scale = min_scale;
    while reach / scale > LARGEST {
        // As written, 1e-7 is closer to the value that readers expect than the computed power.
        scale = format!("{:e}", scale * 10.0).parse().unwrap_or(scale * 10.0);
    }
    (scale, offset)
}

fn new_header(
    cloud: &Cloud,
    rows: &[usize],
    format: u8,
    scale: Option<f64>,
    warnings: &mut Vec<String>,
) -> Result<LasHeader, ParseError> {
    let coordinates = &cloud.coordinates;
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for &row in rows {
        for (axis, value) in coordinates.get(row).into_iter().enumerate() {
            if !value.is_finite() {
                let what = "LAS cannot hold a coordinate that is not finite";
                let axis = ["x", "y", "z"][axis];
                return Err(ParseError::new(what).at(Place::Point(row)).fix(format!(
                    "leave such points out with `keep={axis}=-1e99..1e99`, or write PLY"
                )));
            }
            low[axis] = low[axis].min(value);
            high[axis] = high[axis].max(value);
        }
    }
    let steps = match scale {
        Some(scale) => [scale; 3],
        None => integer_step(cloud, rows),
    };
    let [x, y, z] = std::array::from_fn(|a| match rows.is_empty() {
        true => (scale.unwrap_or(0.01), 0.0),
        false => scale_and_offset(low[a], high[a], steps[a]),
    });
    if let Some(scale) = scale.filter(|&scale| [x, y, z].iter().any(|axis| axis.0 > scale)) {
        return Err(too_fine(scale));
    }
    let raw = las::raw::Header {
        version: las::Version::new(1, 4),
        // Point formats from 6 on declare that the coordinate system is WKT, were there one.
        global_encoding: 16,
        point_data_record_length: base_length(format) as u16,
        x_scale_factor: x.0,
        y_scale_factor: y.0,
        z_scale_factor: z.0,
        x_offset: x.1,
        y_offset: y.1,
        z_offset: z.1,
        evlr: Some(las::raw::header::Evlr::default()),
        large_file: Some(las::raw::header::LargeFile::default()),
        ..Default::default()
    };
    let wkt = cloud.crs().and_then(|crs| crs.known_wkt(warnings));
    let wkt = wkt.filter(|wkt| wkt.len() < usize::from(u16::MAX));
    let record = wkt.map(|wkt| {
        new_record("LASF_Projection", 2112, "OGC WKT", &[wkt.as_bytes(), b"\0"].concat())
    });
    Ok(LasHeader {
        raw,
        format,
        records: record.into_iter().collect(),
        padding: Vec::new(),
        extended: Vec::new(),
        extended_start: 0,
    })
}

/// Builds a header and records for the rows of a cloud of another format.
pub(super) fn from_columns(
    cloud: &Cloud,
    rows: &[usize],
    scale: Option<f64>,
    warnings: &mut Vec<String>,
) -> Result<(LasHeader, Vec<u8>), ParseError> {
    let attributes = conversion::attributes(cloud, rows, Target::Las, warnings);
    let has = |name: &str| attributes.iter().any(|a| a.name == name);
    // Colors of another range are no colors of LAS.
    let color = |name: &&str| {
        attributes.iter().any(|a| a.name == **name && a.column.kind() == NumberType::U16)
    };
    let format = match (has("nir"), ["red", "green", "blue"].iter().all(color)) {
        (true, _) => 8,
        (false, true) => 7,
        (false, false) => 6,
    };
    let mut header = new_header(cloud, rows, format, scale, warnings)?;
    let Fields { known, added } = Fields::assign(attributes, format, warnings);
    let transforms = transforms(&header.raw);
    let length = base_length(format);
    let extra: usize = added.iter().map(|a| a.column.kind().size()).sum();
    let stride = length + extra;
    let mut points = vec![0; rows.len() * stride];
    let blocks = points.chunks_mut(BLOCK * stride).zip(rows.chunks(BLOCK)).enumerate();
    let fill = |(block, (records, rows)): (usize, (&mut [u8], &[usize]))| {
        let mut exact = true;
        let first = block * BLOCK;
        for (i, (record, &row)) in records.chunks_exact_mut(stride).zip(rows).enumerate() {
            exact &= match &cloud.coordinates {
                Coordinates::F32(points) => set_single(record, points[row], &transforms),
                Coordinates::F64(points) => set_position(record, points[row], &transforms),
            };
            // A point without returns is a single return.
            record[14] = 0x11;
            known.iter().for_each(|(dimension, column)| set(record, dimension, column, first + i));
        }
        let mut at = length;
        for a in &added {
            a.column.write_into(first, records, stride, at, false);
            at += a.column.kind().size();
        }
        exact
    };
    if parallel::map(blocks, fill).contains(&false) {
        warnings.push(rounded(transforms.map(|(scale, _)| scale)));
    }
    describe(&mut header, length, &added)?;
    header.raw.point_data_record_length = record_length(stride)?;
    Ok((header, points))
}

fn rounded(steps: [f64; 3]) -> String {
    let [x, y, z] = steps.map(step_text);
    let steps = if x == y && y == z { x } else { format!("{x}, {y} and {z}") };
    format!("coordinates are rounded to multiples of {steps}; `scale` sets another step")
}

fn too_fine(scale: f64) -> ParseError {
    ParseError::new(format!("the coordinates do not fit into 32 bits at the scale {scale}"))
        .fix("use a larger scale")
}

/// Like [`set_position`], for float32: returns whether reading gives back the same float32.
fn set_single(record: &mut [u8], position: [f32; 3], transforms: &[(f64, f64); 3]) -> bool {
    set_position(record, position.map(f64::from), transforms)
        || integers(record)
            .into_iter()
            .zip(transforms)
            .zip(position)
            .all(|((n, (scale, offset)), value)| (f64::from(n) * scale + offset) as f32 == value)
}

/// Writes the nearest integers into the record; returns whether they give back the position, except for the last
/// digits of a double.
fn set_position(record: &mut [u8], position: [f64; 3], transforms: &[(f64, f64); 3]) -> bool {
    let mut exact = true;
    for (axis, value) in position.into_iter().enumerate() {
        let (scale, offset) = transforms[axis];
        let n = ((value - offset) / scale).round();
        exact &= (n * scale + offset - value).abs() <= scale * 1e-4;
        record[4 * axis..4 * axis + 4].copy_from_slice(&(n as i32).to_le_bytes());
    }
    exact
}

fn set(record: &mut [u8], dimension: &Dimension, column: &Column, i: usize) {
    let value = column.get(i);
    let at = dimension.offset;
    match (dimension.bits, dimension.kind) {
        (Some((first, number)), _) => {
            let mask = (((1u16 << number) - 1) as u8) << first;
            record[at] = (record[at] & !mask) | ((value as u8) << first);
        }
        (None, NumberType::U8) => record[at] = value as u8,
        (None, NumberType::I8) => record[at] = value as i8 as u8,
        (None, NumberType::U16) => {
            record[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes())
        }
        (None, NumberType::I16) => {
            record[at..at + 2].copy_from_slice(&(value as i16).to_le_bytes())
        }
        _ => record[at..at + 8].copy_from_slice(&value.to_le_bytes()),
    }
}

/// Stores the coordinates of records as multiples of another scale.
pub(super) fn rescale(
    raw: &mut las::raw::Header,
    points: &mut [u8],
    scale: f64,
    warnings: &mut Vec<String>,
) -> Result<(), ParseError> {
    let old = transforms(raw);
    if old.iter().all(|(current, _)| *current == scale) {
        return Ok(());
    }
    let new = old.map(|(_, offset)| (scale, offset));
    let mut exact = true;
    for record in points.chunks_exact_mut(usize::from(raw.point_data_record_length)) {
        let stored = integers(record);
        let value = |axis: usize| f64::from(stored[axis]) * old[axis].0 + old[axis].1;
        let position: [f64; 3] = std::array::from_fn(value);
        if (0..3).any(|axis| (position[axis] - new[axis].1).abs() / scale > LARGEST) {
            return Err(too_fine(scale));
        }
        exact &= set_position(record, position, &new);
    }
    (raw.x_scale_factor, raw.y_scale_factor, raw.z_scale_factor) = (scale, scale, scale);
    if !exact {
        warnings.push(rounded([scale; 3]));
    }
    Ok(())
}
