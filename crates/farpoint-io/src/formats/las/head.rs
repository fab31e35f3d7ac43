//! All of a LAS or LAZ file but its points. This alone decides what a header says, by the sizes in it, whether the file
//! is then read whole, in parts, or not at all.

use super::chunks::{LazChunks, plausible};
use super::points;
use crate::bytes::load::{Readable, part};
use crate::bytes::memory;
use crate::cloud::header::{LasHeader, Record};
use crate::error::{ParseError, Place};
use las::Version;
use las::raw::Header as Raw;
use laz::LazVlr;
use laz::laszip::CompressorType;

/// Bytes of the longest header.
const LONGEST: u64 = u16::MAX as u64;
/// Bytes of the header of LAS 1.0 to 1.2, which all others begin with.
const SHORTEST: usize = 227;
/// The newest minor version that is known, and the newest that las knows: 1.5 appends to it.
const NEWEST: u8 = 5;
pub(super) const NEWEST_OF_LAS: u8 = 4;
/// Larger records after the points, such as waveforms, hold no description of the file.
pub(super) const LARGEST: u64 = 16 << 20;

/// A file without its points.
pub(super) struct Head {
    pub(super) header: LasHeader,
    /// Number of points: the file has as many, as far as it shows before they are decompressed.
    pub(super) count: u64,
    pub(super) points: Points,
    /// True if a record after the points was too large to be read.
    pub(super) skipped: bool,
    pub(super) warnings: Vec<String>,
}

/// Places of the points.
pub(super) enum Points {
    /// Records from this byte on.
    Stored(u64),
    Chunks(Box<LazChunks>),
    /// One stream of compressed points, from this byte on.
    Stream(u64, LazVlr),
}

impl Head {
    /// Reads a file of `length` bytes, without records of more than `largest` bytes after the points.
    pub(super) fn read(
        source: &mut dyn Readable,
        length: u64,
        largest: u64,
    ) -> Result<Head, ParseError> {
        let (raw, format) = public_header(&part(source, 0, LONGEST)?)?;
        let mut warnings = Vec::new();
        let count = point_count(&raw, &mut warnings);
        let (records, padding) = records(source, length, &raw, &mut warnings)?;
        let (extended, extended_start) = (Vec::new(), 0);
        let mut header = LasHeader { raw, format, records, padding, extended, extended_start };
        let skipped = extend(source, length, &mut header, largest, &mut warnings)?;
        let points = match header.raw.point_data_record_format & 0xC0 {
            0 => stored(length, &header, count, &mut warnings)?,
            _ => compressed(source, length, &header, count, &mut warnings)?,
        };
        Ok(Head { header, count, points, skipped, warnings })
    }

    /// Returns the corners that the header states.
    pub(super) fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        let raw = &self.header.raw;
        let [low, high] = [[raw.min_x, raw.min_y, raw.min_z], [raw.max_x, raw.max_y, raw.max_z]];
        let is_valid = |axis: usize| (0.0..f64::INFINITY).contains(&(high[axis] - low[axis]));
        // Some writers leave zeros there.
        let stated = self.count == 1 || low != high;
        (self.count > 0 && stated && (0..3).all(is_valid)).then_some([low, high])
    }
}

/// Parses the fixed part at the start of a file; returns the point format, too.
fn public_header(bytes: &[u8]) -> Result<(Raw, u8), ParseError> {
    if !bytes.starts_with(b"LASF") {
        return Err(ParseError::new("the file does not start with 'LASF'").at(Place::Byte(0)));
    }
    let truncated =
        || ParseError::truncated(format!("the header is truncated at {} bytes", bytes.len()));
    let fixed = bytes.first_chunk::<SHORTEST>().ok_or_else(truncated)?;
    let version = Version::new(fixed[24], fixed[25]);
    if version.major != 1 || version.minor > NEWEST {
        return Err(ParseError::new(format!("version {version} of LAS is unknown"))
            .at(Place::Byte(24))
            .fix(format!("versions 1.0 to 1.{NEWEST} are read")));
    }
    let size = usize::from(u16::from_le_bytes([fixed[94], fixed[95]]));
    let mut alike = Version::new(1, version.minor.min(NEWEST_OF_LAS));
    if alike.minor == 3 && size < usize::from(alike.header_size()) {
        // Some writers of LAS 1.3 leave out the place of waveforms.
        alike.minor = 2;
    }
    let least = if version.minor > NEWEST_OF_LAS { 393 } else { usize::from(alike.header_size()) };
    if size < least {
        let what = format!("the header of LAS {version} takes {least} bytes, this one {size}");
        return Err(ParseError::new(what).at(Place::Byte(94)));
    }
    let mut bytes = bytes.get(..size).ok_or_else(truncated)?.to_vec();
    bytes[25] = alike.minor;
    let mut raw = Raw::read_from(&bytes[..]).map_err(|_| truncated())?;
    raw.version = version;
    let format = raw.point_data_record_format & 0x3f;
    let known = las::point::Format::new(format).map_err(|_| {
        ParseError::new(format!("point format {format} is unknown"))
            .at(Place::Byte(104))
            .fix("formats 0 to 10 are read")
    })?;
    if known.is_extended && alike.minor < 4 {
        // Such a header has no count of these points.
        let what = format!("point format {format} needs LAS 1.4, and the header is of {version}");
        return Err(ParseError::new(what).at(Place::Byte(24)));
    }
    if raw.point_data_record_length < known.len() {
        let what = format!(
            "records of {} bytes are too short for point format {format}, which takes {}",
            raw.point_data_record_length,
            known.len()
        );
        return Err(ParseError::new(what).at(Place::Byte(105)));
    }
    Ok((raw, format))
}

/// Returns the number of points: from LAS 1.4 on it has 64 bits, and the old count may be 0.
fn point_count(raw: &Raw, warnings: &mut Vec<String>) -> u64 {
    let old = u64::from(raw.number_of_point_records);
    match raw.large_file.map_or(0, |large| large.number_of_point_records) {
        0 => old,
        new => {
            if old != 0 && old != new {
                warnings.push(format!(
                    "the header counts {old} points in 32 bits and {new} in 64, which are read"
                ));
            }
            new
        }
    }
}

/// Reads the records before the points, and the bytes after them.
fn records(
    source: &mut dyn Readable,
    length: u64,
    raw: &Raw,
    warnings: &mut Vec<String>,
) -> Result<(Vec<Record>, Vec<u8>), ParseError> {
    let (from, start) = (u64::from(raw.header_size), u64::from(raw.offset_to_point_data));
    if start < from {
        let what = format!("the points start at byte {start}, in the header of {from} bytes");
        return Err(ParseError::new(what).at(Place::Byte(96)));
    }
    if start > length {
        let what = format!("the points start at byte {start}, the file has {length} bytes");
        return Err(ParseError::truncated(what));
    }
    memory::fits(start - from, 1)?;
    let bytes = part(source, from, start - from)?;
    let (mut records, mut at) = (Vec::new(), 0);
    let all = raw.number_of_variable_length_records;
    for i in 0..all {
        let Some(record) = Record::read(&bytes, at, false) else {
            warnings.push(format!(
                "variable length record {} of {all} reaches into the points, which start at byte {start}: it is left \
                 out, and so are those after it",
                i + 1
            ));
            break;
        };
        at += record.bytes.len();
        records.push(record);
    }
    Ok((records, bytes[at..].to_vec()))
}

/// Reads the records after the points; returns whether one is too large, apart from the octree of COPC, which has a
/// reader of its own.
fn extend(
    source: &mut dyn Readable,
    length: u64,
    header: &mut LasHeader,
    largest: u64,
    warnings: &mut Vec<String>,
) -> Result<bool, ParseError> {
    let raw = &header.raw;
    let (start, count) = match (raw.evlr, raw.start_of_waveform_data_packet_record) {
        (Some(evlr), _) => (evlr.start_of_first_evlr, evlr.number_of_evlrs),
        // LAS 1.3 has one such record, the waveforms, unless they are in a file of their own.
        (None, Some(start)) => (start, 1),
        (None, None) => (0, 0),
    };
    header.extended_start = start;
    let (mut at, mut skipped) = (start, false);
    for _ in 0..count {
        let head = part(source, at, 60)?;
        let size = head.get(20..28).and_then(|bytes| bytes.try_into().ok());
        let end = size.and_then(|size| at.checked_add(60)?.checked_add(u64::from_le_bytes(size)));
        let Some(end) = end.filter(|&end| end <= length) else {
            warnings.push("the records after the points are truncated and left out in part".into());
            break;
        };
        match end - at > largest {
            true => skipped |= !head[2..].starts_with(b"copc"),
            false => header.extended.extend(Record::read(&part(source, at, end - at)?, 0, true)),
        }
        at = end;
    }
    Ok(skipped)
}

/// Locates uncompressed points.
fn stored(
    length: u64,
    header: &LasHeader,
    count: u64,
    warnings: &mut Vec<String>,
) -> Result<Points, ParseError> {
    let start = u64::from(header.raw.offset_to_point_data);
    let stride = u64::from(header.raw.point_data_record_length);
    let available = (length - start) / stride;
    if available < count {
        let what = format!("the header declares {count} points, the file has {available}");
        return Err(ParseError::truncated(what));
    }
    let end = if header.extended_start > start { header.extended_start } else { length };
    let more = (end.min(length) - start) / stride;
    if more > count {
        warn_of_more(count, &format!("bytes for {} more after them", more - count), warnings);
    }
    Ok(Points::Stored(start))
}

/// Locates compressed points.
fn compressed(
    source: &mut dyn Readable,
    length: u64,
    header: &LasHeader,
    count: u64,
    warnings: &mut Vec<String>,
) -> Result<Points, ParseError> {
    let start = u64::from(header.raw.offset_to_point_data);
    let stride = usize::from(header.raw.point_data_record_length);
    let vlr = header.records.iter().find(|r| r.is(LazVlr::USER_ID, LazVlr::RECORD_ID));
    let vlr = vlr.ok_or_else(|| {
        ParseError::new("the LASzip record is missing").fix("decompress it elsewhere")
    })?;
    let vlr = points::described(vlr.data(), stride)?;
    let kind = points::compressor(&vlr);
    let chunks = match kind {
        CompressorType::None | CompressorType::PointWise => None,
        _ => match LazChunks::find(source, length, start, &vlr, count, stride) {
            // Without points, writers put anything there.
            Err(_) if count == 0 => None,
            chunks => chunks?,
        },
    };
    if let Some(chunks) = chunks {
        if chunks.unused > 0 {
            warn_of_more(count, &format!("{} more chunks of points", chunks.unused), warnings);
        }
        return Ok(Points::Chunks(Box::new(chunks)));
    }
    let chunked = kind == CompressorType::LayeredChunked || vlr.uses_variable_size_chunks();
    if count > 0 && chunked && kind != CompressorType::PointWise {
        return Err(ParseError::truncated("the table of chunks is missing"));
    }
    if !plausible(count, stride, length - start) {
        let what = format!("the header declares {count} points, more than the file can hold");
        return Err(ParseError::truncated(what));
    }
    Ok(Points::Stream(start, vlr))
}

fn warn_of_more(count: u64, more: &str, warnings: &mut Vec<String>) {
    warnings.push(format!(
        "the header declares {count} points, and the file has {more}: only the declared ones are read"
    ));
}
