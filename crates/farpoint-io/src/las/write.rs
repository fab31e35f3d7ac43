//! Writing LAS and LAZ: the kept records as they were stored with the input's header and records,
//! or a new LAS 1.4 file from another format's columns.

use super::fields::{base_length, description, slots};
use super::placing::Fields;
use super::{integers, transforms};
use crate::WriteOptions;
use crate::cloud::Cloud;
use crate::column::{Attribute, Column, Scalar};
use crate::conversion::{self, Target};
use crate::coordinates::Coordinates;
use crate::error::{Fault, Place};
use crate::header::{Header, LasHeader, Record};
use crate::quiet::guarded;
use crate::records;
use crate::resolution::{integer_step, step_text};
use crate::table::{Slot, Table};
use laz::{LazVlr, LazVlrBuilder, ParLasZipCompressor};
use rayon::prelude::*;
use std::io::Cursor;

/// Bytes of points in a chunk, which laz reserves; the usual 50,000 points unless they are huge.
const CHUNK: usize = 16 << 20;

/// Records that a thread takes at a time.
const BLOCK: usize = 1 << 13;

/// The largest integer that a coordinate becomes.
const LARGEST: f64 = 2.0e9;

/// Writes the rows.
pub(crate) fn write(
    cloud: &Cloud,
    rows: &[usize],
    compress: bool,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, Fault> {
    if let Header::Las(header) = &cloud.header {
        warn_of_octree(header, warnings);
    }
    let (header, points) = laid_out(cloud, rows, options, warnings)?;
    assemble(header, points, compress)
}

/// Warns that the octree of the input is not one of the output.
pub(super) fn warn_of_octree(header: &LasHeader, warnings: &mut Vec<String>) {
    if header.records.iter().any(|r| r.user == b"copc") {
        warnings.push("the octree of COPC is left out; the output is plain LAZ".into());
    }
}

/// The rows as records, and a header that describes them but for what depends on how they are put
/// together.
pub(crate) fn laid_out(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<(LasHeader, Vec<u8>), Fault> {
    if let Some(scale) = options.scale.filter(|scale| !(scale.is_finite() && *scale > 0.0)) {
        return Err(Fault::new(format!("{scale} is no scale")).fix("give a step such as 0.001"));
    }
    if let (Header::Las(header), Some(table)) = (&cloud.header, &cloud.table) {
        let mut header = (**header).clone();
        let mut points = kept(table, rows, &cloud.added(rows));
        describe_kept(&mut header, &cloud.added)?;
        if let Some(scale) = options.scale {
            rescale(&mut header.raw, &mut points, scale, warnings)?;
        }
        return Ok((header, points));
    }
    from_columns(cloud, rows, options.scale, warnings)
}

/// The kept records, each with the added values after it.
fn kept(table: &Table, rows: &[usize], added: &[Attribute]) -> Vec<u8> {
    let mut points = Vec::new();
    records::append(&mut points, Some((table, rows)), rows.len(), added, false);
    points
}

/// Makes the input's header describe records that have the added attributes after them.
pub(super) fn describe_kept(header: &mut LasHeader, added: &[Attribute]) -> Result<(), Fault> {
    // The octree points into the old file, and the compression record describes the old one.
    header.records.retain(|r| r.user != b"copc" && !r.is(LazVlr::USER_ID, LazVlr::RECORD_ID));
    header.extended.retain(|r| r.user != b"copc");
    let before = usize::from(header.raw.point_data_record_length);
    describe(header, before, added);
    let length = before + added.iter().map(|a| a.column.kind().size()).sum::<usize>();
    header.raw.point_data_record_length = record_length(length)?;
    Ok(())
}

/// Stores the coordinates of records as multiples of another step.
fn rescale(
    raw: &mut las::raw::Header,
    points: &mut [u8],
    scale: f64,
    warnings: &mut Vec<String>,
) -> Result<(), Fault> {
    let old = transforms(raw);
    if old.iter().all(|(own, _)| *own == scale) {
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

pub(crate) fn record_length(length: usize) -> Result<u16, Fault> {
    let too_long =
        |_| Fault::new(format!("records of {length} bytes are too long for LAS")).fix("write PLY");
    u16::try_from(length).map_err(too_long)
}

/// Adds descriptions of new extra bytes to the record that describes them, after the bytes before
/// them that nothing describes.
fn describe(header: &mut LasHeader, length: usize, added: &[Attribute]) {
    if added.is_empty() {
        return;
    }
    let place = header.records.iter().position(|r| r.is("LASF_Spec", 4));
    let mut data = place.map_or(Vec::new(), |i| header.records[i].data().to_vec());
    data.truncate(data.len() / super::fields::DESCRIPTION * super::fields::DESCRIPTION);
    let unknown = slots(header.format, length, Some(&data));
    if let Some(slot) = unknown.last().filter(|s| s.name == "extra_bytes") {
        let mut left = slot.count;
        while left > 0 {
            let count = left.min(255);
            data.extend(description("undescribed", None, count as u8));
            left -= count;
        }
    }
    for a in added {
        data.extend(description(&a.name, Some(a.column.kind()), 0));
    }
    let record = new_record("LASF_Spec", 4, "Extra Bytes", &data);
    match place {
        Some(i) => header.records[i] = record,
        None => header.records.push(record),
    }
}

/// Makes the header's record of extra bytes hold these descriptions.
pub(crate) fn describe_extras(header: &mut LasHeader, data: &[u8]) {
    header.records.retain(|r| !r.is("LASF_Spec", 4));
    header.extended.retain(|r| !r.is("LASF_Spec", 4));
    if !data.is_empty() {
        header.records.push(new_record("LASF_Spec", 4, "Extra Bytes", data));
    }
}

/// A variable length record. Data beyond 64 KiB does not fit and is cut at a whole description.
pub(crate) fn new_record(user: &str, id: u16, text: &str, data: &[u8]) -> Record {
    let longest = usize::from(u16::MAX) / super::fields::DESCRIPTION * super::fields::DESCRIPTION;
    let data = &data[..data.len().min(longest)];
    let mut bytes = vec![0u8; 54];
    bytes[2..2 + user.len()].copy_from_slice(user.as_bytes());
    bytes[18..20].copy_from_slice(&id.to_le_bytes());
    bytes[20..22].copy_from_slice(&(data.len() as u16).to_le_bytes());
    bytes[22..22 + text.len()].copy_from_slice(text.as_bytes());
    bytes.extend_from_slice(data);
    Record { user: user.as_bytes().to_vec(), id, head: 54, bytes }
}

/// Puts header, records, points and later records together.
fn assemble(mut header: LasHeader, points: Vec<u8>, compress: bool) -> Result<Vec<u8>, Fault> {
    let laz = prepare(&mut header, compress)?;
    let mut counts = Counts::new(&header);
    counts.add(&points);
    counts.state(&mut header);
    let mut out = before_points(&header)?;
    match laz {
        None => out.extend_from_slice(&points),
        Some(vlr) => out = compressed(out, &points, vlr)?,
    }
    drop(points);
    move_extended(&mut header, out.len() as u64);
    header.extended.iter().for_each(|r| out.extend_from_slice(&r.bytes));
    let head = header_bytes(&header.raw)?;
    out[..head.len()].copy_from_slice(&head);
    Ok(out)
}

/// States in the header what comes before the points; gives the LASzip record if they are compressed.
pub(super) fn prepare(header: &mut LasHeader, compress: bool) -> Result<Option<LazVlr>, Fault> {
    let stride = usize::from(header.raw.point_data_record_length);
    let laz = if compress { Some(compression(header, stride)?) } else { None };
    header.raw.point_data_record_format = header.format | if compress { 0x80 } else { 0 };
    header.raw.number_of_variable_length_records = header.records.len() as u32;
    let head = header_bytes(&header.raw)?.len();
    let records: usize = header.records.iter().map(|r| r.bytes.len()).sum();
    let start = head + records + header.padding.len();
    header.raw.header_size = head as u16;
    header.raw.offset_to_point_data = u32::try_from(start)
        .map_err(|_| Fault::new("the records before the points exceed 4 GiB"))?;
    Ok(laz)
}

/// The bytes before the first point.
pub(crate) fn before_points(header: &LasHeader) -> Result<Vec<u8>, Fault> {
    let mut out = header_bytes(&header.raw)?;
    header.records.iter().for_each(|r| out.extend_from_slice(&r.bytes));
    out.extend_from_slice(&header.padding);
    Ok(out)
}

pub(crate) fn header_bytes(raw: &las::raw::Header) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    raw.write_to(&mut bytes)
        .map_err(|e| Fault::new(format!("the header cannot be written: {e}")))?;
    Ok(bytes)
}

/// The LASzip record for these points, which is added to the header's records.
fn compression(header: &mut LasHeader, stride: usize) -> Result<LazVlr, Fault> {
    let extra = record_length(stride - base_length(header.format))?;
    let vlr = LazVlrBuilder::default()
        .with_point_format(header.format, extra)
        .map_err(|e| Fault::new(format!("cannot be compressed: {e}")).fix("write LAS"))?
        .with_fixed_chunk_size((CHUNK / stride).clamp(1, 50_000) as u32)
        .build();
    let mut data = Vec::new();
    vlr.write_to(&mut data).map_err(|e| Fault::new(format!("the LASzip record: {e}")))?;
    header.records.push(new_record(LazVlr::USER_ID, LazVlr::RECORD_ID, LazVlr::DESCRIPTION, &data));
    Ok(vlr)
}

fn compressed(out: Vec<u8>, points: &[u8], vlr: LazVlr) -> Result<Vec<u8>, Fault> {
    guarded("the points cannot be compressed", || {
        let failed = |e: String| {
            Fault::new(format!("the points cannot be compressed: {e}")).fix("write LAS")
        };
        let mut cursor = Cursor::new(out);
        cursor.set_position(cursor.get_ref().len() as u64);
        let mut laz = ParLasZipCompressor::new(cursor, vlr).map_err(|e| failed(e.to_string()))?;
        laz.compress_many(points).map_err(|e| failed(e.to_string()))?;
        laz.done().map_err(|e| failed(e.to_string()))?;
        Ok(laz.into_inner().into_inner())
    })
}

/// The numbers in the header that depend on which points are kept.
pub(crate) struct Counts {
    stride: usize,
    /// The bits of a record that count its return.
    mask: u8,
    count: u64,
    returns: [u64; 16],
    low: [i32; 3],
    high: [i32; 3],
}

impl Counts {
    pub(crate) fn new(header: &LasHeader) -> Counts {
        Counts {
            stride: usize::from(header.raw.point_data_record_length),
            mask: if header.format < 6 { 7 } else { 15 },
            count: 0,
            returns: [0; 16],
            low: [i32::MAX; 3],
            high: [i32::MIN; 3],
        }
    }

    pub(crate) fn add(&mut self, points: &[u8]) {
        self.count += (points.len() / self.stride) as u64;
        for record in points.chunks_exact(self.stride) {
            self.returns[usize::from(record[14] & self.mask)] += 1;
            for (axis, n) in integers(record).into_iter().enumerate() {
                self.low[axis] = self.low[axis].min(n);
                self.high[axis] = self.high[axis].max(n);
            }
        }
    }

    pub(crate) fn state(&self, header: &mut LasHeader) {
        let (raw, count) = (&mut header.raw, self.count);
        let value = |n: i32, axis: usize| {
            let (scale, offset) = transforms(raw)[axis];
            if count == 0 { 0.0 } else { f64::from(n) * scale + offset }
        };
        let low: [f64; 3] = std::array::from_fn(|a| value(self.low[a], a));
        let high: [f64; 3] = std::array::from_fn(|a| value(self.high[a], a));
        // A negative scale turns the two around.
        [raw.min_x, raw.min_y, raw.min_z] = std::array::from_fn(|a| low[a].min(high[a]));
        [raw.max_x, raw.max_y, raw.max_z] = std::array::from_fn(|a| low[a].max(high[a]));
        let by_return = |i: usize| self.returns.get(i + 1).copied().unwrap_or(0);
        // The old 32-bit counts stay 0 where LAS 1.4 says so.
        let small = header.format < 6 && u32::try_from(count).is_ok();
        let old = raw.large_file.is_none() || small;
        raw.number_of_point_records = if old { count as u32 } else { 0 };
        raw.number_of_points_by_return =
            std::array::from_fn(|i| if old { by_return(i) as u32 } else { 0 });
        if let Some(large) = &mut raw.large_file {
            large.number_of_point_records = count;
            large.number_of_points_by_return = std::array::from_fn(by_return);
        }
    }
}

/// The records after the points come to a new place.
pub(crate) fn move_extended(header: &mut LasHeader, start: u64) {
    let wave = header.raw.start_of_waveform_data_packet_record;
    let length: u64 = header.extended.iter().map(|r| r.bytes.len() as u64).sum();
    let (from, to) = (header.extended_start, header.extended_start.saturating_add(length));
    if let Some(wave) = wave.filter(|w| (from..to).contains(w)) {
        header.raw.start_of_waveform_data_packet_record = Some(wave - from + start);
    }
    if let Some(evlr) = &mut header.raw.evlr {
        evlr.number_of_evlrs = header.extended.len() as u32;
        evlr.start_of_first_evlr = if header.extended.is_empty() { 0 } else { start };
    }
}

/// A step at which the range fits into 32 bits, at least the one wanted, and an offset that is whole
/// and a multiple of it.
fn scale_and_offset(low: f64, high: f64, wanted: f64) -> (f64, f64) {
    let middle = (low + high) / 2.0;
    let per_unit = 1.0 / wanted;
    let decimal = wanted >= 1.0 || (per_unit - per_unit.round()).abs() < per_unit * 1e-12;
    let offset = if decimal { middle.round() } else { (middle / wanted).round() * wanted };
    let reach = (high - offset).abs().max((low - offset).abs());
    let mut scale = wanted;
    while reach / scale > LARGEST {
        // As written, 1e-7 is closer to what a reader expects than the computed power.
        scale = format!("{:e}", scale * 10.0).parse().unwrap_or(scale * 10.0);
    }
    (scale, offset)
}

fn new_header(
    cloud: &Cloud,
    rows: &[usize],
    format: u8,
    scale: Option<f64>,
) -> Result<LasHeader, Fault> {
    let coordinates = &cloud.coordinates;
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for &row in rows {
        for (axis, value) in coordinates.get(row).into_iter().enumerate() {
            if !value.is_finite() {
                let what = "LAS cannot hold a coordinate that is not finite";
                return Err(Fault::new(what)
                    .at(Place::Point(row))
                    .fix("leave such points out, or write PLY"));
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
    let mut software = [0u8; 32];
    software[..8].copy_from_slice(b"farpoint");
    let raw = las::raw::Header {
        version: las::Version::new(1, 4),
        // Point formats from 6 on say that the coordinate system is WKT, were there one.
        global_encoding: 16,
        generating_software: software,
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
    let wkt = cloud.crs().and_then(|crs| crs.wkt.as_ref());
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

fn from_columns(
    cloud: &Cloud,
    rows: &[usize],
    scale: Option<f64>,
    warnings: &mut Vec<String>,
) -> Result<(LasHeader, Vec<u8>), Fault> {
    let attributes = conversion::attributes(cloud, rows, Target::Las, warnings);
    let has = |name: &str| attributes.iter().any(|a| a.name == name);
    let format = match (has("nir"), has("red") && has("green") && has("blue")) {
        (true, _) => 8,
        (false, true) => 7,
        (false, false) => 6,
    };
    let mut header = new_header(cloud, rows, format, scale)?;
    let Fields { known, added } = Fields::of(attributes, format, warnings);
    let transforms = transforms(&header.raw);
    let length = base_length(format);
    let extra: usize = added.iter().map(|a| a.column.kind().size()).sum();
    let stride = length + extra;
    let mut points = vec![0; rows.len() * stride];
    let blocks = points.par_chunks_mut(BLOCK * stride).zip(rows.par_chunks(BLOCK)).enumerate();
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
            known.iter().for_each(|(slot, column)| set(record, slot, column, first + i));
        }
        let mut at = length;
        for a in &added {
            a.column.write_into(first, records, stride, at, false);
            at += a.column.kind().size();
        }
        exact
    };
    let exact = blocks.map(fill).reduce(|| true, |a, b| a && b);
    if !exact {
        warnings.push(rounded(transforms.map(|(scale, _)| scale)));
    }
    describe(&mut header, length, &added);
    header.raw.point_data_record_length = record_length(stride)?;
    Ok((header, points))
}

fn rounded(steps: [f64; 3]) -> String {
    let [x, y, z] = steps.map(step_text);
    let steps = if x == y && y == z { x } else { format!("{x}, {y} and {z}") };
    format!("coordinates are rounded to multiples of {steps}; --scale sets another step")
}

fn too_fine(scale: f64) -> Fault {
    Fault::new(format!("the coordinates reach too far for a step of {scale} in 32 bits"))
        .fix("give a larger scale")
}

/// As [`set_position`], of float32: whether reading gives back the same float32.
fn set_single(record: &mut [u8], position: [f32; 3], transforms: &[(f64, f64); 3]) -> bool {
    set_position(record, position.map(f64::from), transforms)
        || integers(record)
            .into_iter()
            .zip(transforms)
            .zip(position)
            .all(|((n, (scale, offset)), value)| (f64::from(n) * scale + offset) as f32 == value)
}

/// Writes the nearest integers into the record; returns whether they give back the position, but for
/// the last digits of a double.
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

fn set(record: &mut [u8], slot: &Slot, column: &Column, i: usize) {
    let value = column.get(i);
    let at = slot.offset;
    match (slot.bits, slot.kind) {
        (Some((first, number)), _) => {
            let mask = (((1u16 << number) - 1) as u8) << first;
            record[at] = (record[at] & !mask) | ((value as u8) << first);
        }
        (None, Scalar::U8) => record[at] = value as u8,
        (None, Scalar::I8) => record[at] = value as i8 as u8,
        (None, Scalar::U16) => record[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes()),
        (None, Scalar::I16) => record[at..at + 2].copy_from_slice(&(value as i16).to_le_bytes()),
        _ => record[at..at + 8].copy_from_slice(&value.to_le_bytes()),
    }
}
