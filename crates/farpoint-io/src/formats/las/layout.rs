//! Places of the points of a LAS or LAZ file, without reading them.

use super::chunks::LazChunks;
use super::summary::{LARGEST, LONGEST, part};
use super::{cloud, head, point_count};
use crate::cloud::coordinates::Coordinates;
use crate::cloud::header::{LasHeader, Record};
use crate::cloud::layout::{Layout, Storage};
use crate::cloud::table::Store;
use crate::error::ParseError;
use laz::LazVlr;
use std::fs::File;

/// Reads all but the points; `None` for a file that can't be read in parts.
pub(crate) fn layout(file: &mut File, length: u64) -> Result<Option<Layout>, ParseError> {
    let first = part(file, 0, LONGEST)?;
    let start = match las::raw::Header::read_from(&first[..]) {
        Ok(raw) => u64::from(raw.offset_to_point_data),
        // The problem is reported below.
        Err(_) => LONGEST,
    };
    let (mut header, compressed) = head(&part(file, 0, start.max(LONGEST))?)?;
    let (count, stride) = (point_count(&header.raw), header.raw.point_data_record_length);
    let stride = usize::from(stride);
    let available = length.saturating_sub(start) / stride as u64;
    if !compressed && available < count {
        let what = format!("the header declares {count} points, the file has {available}");
        return Err(ParseError::truncated(what));
    }
    let mut warnings = Vec::new();
    if !extended(file, &mut header, &mut warnings)? {
        return Ok(None);
    }
    let rows = if compressed {
        let vlr = header.records.iter().find(|r| r.is(LazVlr::USER_ID, LazVlr::RECORD_ID));
        let vlr = vlr.map(|vlr| vlr.data().to_vec()).ok_or_else(|| {
            ParseError::new("the LASzip record is missing").fix("decompress it elsewhere")
        })?;
        LazChunks::find(file, length, start, &vlr, count, stride)?
            .map(|chunks| Storage::Chunks(Box::new(chunks)))
    } else {
        Some(Storage::Stride(start))
    };
    let raw = &header.raw;
    let bounds = [[raw.min_x, raw.min_y, raw.min_z], [raw.max_x, raw.max_y, raw.max_z]];
    let is_valid = (0..3).all(|a| bounds[0][a] <= bounds[1][a] && bounds[1][a].is_finite());
    let bounds = (is_valid && bounds[0] != bounds[1]).then_some(bounds);
    let store = Store::Records { bytes: Vec::new().into(), stride };
    let head = cloud(header, compressed, Coordinates::F64(Vec::new()), store, warnings);
    Ok(rows.map(|rows| Layout { head, rows, count, stride, bounds }))
}

/// Reads the records after the points; `false` if one is large, such as waveforms.
fn extended(
    file: &mut File,
    header: &mut LasHeader,
    warnings: &mut Vec<String>,
) -> Result<bool, ParseError> {
    let raw = &header.raw;
    let (start, count) = match (raw.evlr, raw.start_of_waveform_data_packet_record) {
        (Some(evlr), _) => (evlr.start_of_first_evlr, evlr.number_of_evlrs),
        (None, Some(start)) => (start, 1),
        (None, None) => (0, 0),
    };
    header.extended_start = start;
    let mut at = start;
    for _ in 0..count {
        let bytes = part(file, at, 60)?;
        let length = bytes.get(20..28).and_then(|bytes| bytes.try_into().ok());
        let length = length.map(u64::from_le_bytes);
        if length.is_some_and(|length| length > LARGEST && !bytes[2..].starts_with(b"copc")) {
            return Ok(false);
        }
        let whole = part(file, at, length.unwrap_or(0).saturating_add(60))?;
        let Some(record) = Record::read(&whole, 0, true) else {
            warnings.push("the records after the points are truncated and left out in part".into());
            return Ok(true);
        };
        at = at.saturating_add(record.bytes.len() as u64);
        header.extended.push(record);
    }
    Ok(true)
}
