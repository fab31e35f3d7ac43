//! Writing LAS and LAZ: the kept records as stored with the input's header and records, or a new LAS 1.4 file from
//! another format's columns.

use super::columns::{from_columns, rescale};
use super::counts::Counts;
use super::describe::{describe_kept, new_record, record_length};
use super::fields::base_length;
use super::head::NEWEST_OF_LAS;
use crate::WriteOptions;
use crate::bytes::panics::catch_panic;
use crate::bytes::share::Counter;
use crate::cloud::Cloud;
use crate::cloud::column::Attribute;
use crate::cloud::header::{Header, LasHeader};
use crate::cloud::records;
use crate::cloud::table::Table;
use crate::error::ParseError;
use laz::{LazVlr, LazVlrBuilder, ParLasZipCompressor};
use std::io::Cursor;

/// Bytes of points in a chunk, which laz reserves; the usual 50,000 points unless they are huge.
const CHUNK: usize = 16 << 20;

/// Generating software of LAS files, in at most 31 bytes.
const SOFTWARE: &str = concat!("farpoint ", env!("CARGO_PKG_VERSION"));

/// Writes the rows.
pub(crate) fn write(
    cloud: &Cloud,
    rows: &[usize],
    compress: bool,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Vec<u8>, ParseError> {
    if let Header::Las(header) = &cloud.header {
        warn_of_octree(header, warnings);
    }
    let (header, points) = lay_out(cloud, rows, options, warnings)?;
    assemble(header, points, compress)
}

/// Warns that the octree of the input is not one of the output.
pub(super) fn warn_of_octree(header: &LasHeader, warnings: &mut Vec<String>) {
    if header.records.iter().any(|r| r.user == b"copc") {
        warnings.push("the octree of COPC is left out; the output is plain LAZ".into());
    }
}

/// Returns the rows as records, and a header that describes them except for the details of assembly.
pub(crate) fn lay_out(
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<(LasHeader, Vec<u8>), ParseError> {
    if let Some(scale) = options.scale.filter(|scale| !(scale.is_finite() && *scale > 0.0)) {
        return Err(ParseError::new(format!("{scale} is not a valid scale"))
            .fix("use a number such as 0.001"));
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

/// Returns the kept records, each with the added values after it.
fn kept(table: &Table, rows: &[usize], added: &[Attribute]) -> Vec<u8> {
    let mut points = Vec::new();
    records::append(&mut points, Some((table, rows)), rows.len(), added, false);
    points
}

/// Assembles header, records, points and later records.
fn assemble(mut header: LasHeader, points: Vec<u8>, compress: bool) -> Result<Vec<u8>, ParseError> {
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

/// States in the header what precedes the points; returns the LASzip record if they are compressed.
pub(super) fn prepare(
    header: &mut LasHeader,
    compress: bool,
) -> Result<Option<LazVlr>, ParseError> {
    let stride = usize::from(header.raw.point_data_record_length);
    let laz = if compress { Some(compression(header, stride)?) } else { None };
    header.raw.point_data_record_format = header.format | if compress { 0x80 } else { 0 };
    header.raw.number_of_variable_length_records = header.records.len() as u32;
    let head = header_bytes(&header.raw)?.len();
    let records: usize = header.records.iter().map(|r| r.bytes.len()).sum();
    let start = head + records + header.padding.len();
    header.raw.header_size = head as u16;
    header.raw.offset_to_point_data = u32::try_from(start)
        .map_err(|_| ParseError::new("the records before the points exceed 4 GiB"))?;
    Ok(laz)
}

/// Returns the bytes before the first point.
pub(crate) fn before_points(header: &LasHeader) -> Result<Vec<u8>, ParseError> {
    let mut out = header_bytes(&header.raw)?;
    header.records.iter().for_each(|r| out.extend_from_slice(&r.bytes));
    out.extend_from_slice(&header.padding);
    Ok(out)
}

/// Returns the header as written: by farpoint, and without a date, so that the same command writes the same bytes on
/// any day.
pub(crate) fn header_bytes(raw: &las::raw::Header) -> Result<Vec<u8>, ParseError> {
    let mut raw = raw.clone();
    raw.generating_software = [0; 32];
    raw.generating_software[..SOFTWARE.len()].copy_from_slice(SOFTWARE.as_bytes());
    (raw.file_creation_year, raw.file_creation_day_of_year) = (0, 0);
    let minor = raw.version.minor;
    // What later versions append is in the padding.
    raw.version.minor = minor.min(NEWEST_OF_LAS);
    let mut bytes = Vec::new();
    raw.write_to(&mut bytes)
        .map_err(|e| ParseError::new(format!("the header cannot be written: {e}")))?;
    bytes[25] = minor;
    Ok(bytes)
}

/// Returns the LASzip record for these points, which is added to the header's records.
fn compression(header: &mut LasHeader, stride: usize) -> Result<LazVlr, ParseError> {
    let extra = record_length(stride - base_length(header.format))?;
    let vlr = LazVlrBuilder::default()
        .with_point_format(header.format, extra)
        .map_err(|e| ParseError::new(format!("cannot be compressed: {e}")).fix("write LAS"))?
        .with_fixed_chunk_size((CHUNK / stride).clamp(1, 50_000) as u32)
        .build();
    let mut data = Vec::new();
    vlr.write_to(&mut data).map_err(|e| ParseError::new(format!("the LASzip record: {e}")))?;
    header.records.push(new_record(LazVlr::USER_ID, LazVlr::RECORD_ID, LazVlr::DESCRIPTION, &data));
    Ok(vlr)
}

/// Appends the points and the table of their chunks.
pub(crate) fn compressed(out: Vec<u8>, points: &[u8], vlr: LazVlr) -> Result<Vec<u8>, ParseError> {
    catch_panic("the points cannot be compressed", || {
        let failed = |e: String| {
            ParseError::new(format!("the points cannot be compressed: {e}")).fix("write LAS")
        };
        let (counter, mut cursor) = (Counter::new(points.len()), Cursor::new(out));
        cursor.set_position(cursor.get_ref().len() as u64);
        // Enough chunks that the last ones of a block keep few threads waiting.
        let chunk = vlr.chunk_size() as usize * vlr.items_size() as usize;
        let block = (8 * rayon::current_num_threads() * chunk).max(1);
        let mut laz = ParLasZipCompressor::new(cursor, vlr).map_err(|e| failed(e.to_string()))?;
        // Without any point there is a table all the same.
        laz.compress_many(&[]).map_err(|e| failed(e.to_string()))?;
        for block in points.chunks(block) {
            laz.compress_many(block).map_err(|e| failed(e.to_string()))?;
            counter.add(block.len());
        }
        laz.done().map_err(|e| failed(e.to_string()))?;
        Ok(laz.into_inner().into_inner())
    })
}

/// Moves the records after the points to a new place.
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
