//! The header of a LAS or LAZ file, without its points.

use super::fields::dimensions;
use super::nodes::octree;
use super::{described, head, point_count, transforms};
use crate::cloud::Field;
use crate::cloud::crs::Crs;
use crate::cloud::header::{LasHeader, Record};
use crate::cloud::summary::Summary;
use crate::error::ParseError;
use crate::format::Format;
use las::raw::Header as Raw;
use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Bytes of the longest header.
pub(super) const LONGEST: u64 = 375;
/// LAS is not older; some writers put zeros or ones for a date.
const FIRST_YEAR: u16 = 2000;
/// Larger records after the points hold no description of the file.
pub(super) const LARGEST: u64 = 16 << 20;

/// Reads the data before the points, and the records after them that describe the file.
pub(crate) fn summary(file: &mut File, length: u64) -> Result<Summary, ParseError> {
    let first = part(file, 0, LONGEST)?;
    let start = match Raw::read_from(&first[..]) {
        Ok(raw) => u64::from(raw.offset_to_point_data),
        // The problem is reported below.
        Err(_) => LONGEST,
    };
    let (mut header, compressed) = head(&part(file, 0, start.max(LONGEST))?)?;
    let raw = &header.raw;
    let (count, stride) = (point_count(raw), usize::from(raw.point_data_record_length));
    let room = length.saturating_sub(start) / (stride as u64).max(1);
    if !compressed && room < count {
        let what = format!("the header declares {count} points, the file has {room}");
        return Err(ParseError::truncated(what));
    }
    header.extended = extended(file, &header.raw)?;
    let extra = header.records.iter().chain(&header.extended).find(|r| r.is("LASF_Spec", 4));
    let dimensions = dimensions(header.format, stride, extra.map(Record::data));
    let format = if compressed { Format::Laz } else { Format::Las };
    let mut summary = Summary::new(format, described(&header, format), count);
    summary.fields = dimensions.iter().map(Field::from).collect();
    let read = RefCell::new(file);
    let read = |at: u64, bytes: usize| part(&mut read.borrow_mut(), at, bytes as u64);
    match octree(&read, length, &header) {
        Ok(octree) => summary.octree = octree,
        Err(error) => summary.warnings.push(format!("the octree of COPC: {}", error.what)),
    }
    copy_header(&header, &mut summary);
    Ok(summary)
}

/// Copies the fixed part of the header.
fn copy_header(header: &LasHeader, summary: &mut Summary) {
    let raw = &header.raw;
    let transforms = transforms(raw);
    let bounds = [[raw.min_x, raw.min_y, raw.min_z], [raw.max_x, raw.max_y, raw.max_z]];
    let is_valid = |axis: usize| bounds[0][axis] <= bounds[1][axis] && bounds[1][axis].is_finite();
    // Some writers leave zeros there.
    let stated = summary.points == 1 || bounds[0] != bounds[1];
    summary.bounds = (summary.points > 0 && stated && (0..3).all(is_valid)).then_some(bounds);
    summary.crs = Crs::from_las(header);
    summary.scale = Some(transforms.map(|(scale, _)| scale));
    summary.offset = Some(transforms.map(|(_, offset)| offset));
    summary.software = words(&raw.generating_software);
    summary.system = words(&raw.system_identifier);
    summary.created = date(raw.file_creation_year, raw.file_creation_day_of_year);
    let timed = summary.fields.iter().any(|field| field.name == "gps_time");
    summary.gps_time = timed.then(|| header.gps_time());
}

/// Reads at most `length` bytes from an offset on.
pub(super) fn part(file: &mut File, at: u64, length: u64) -> Result<Vec<u8>, ParseError> {
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(at))
        .and_then(|_| file.by_ref().take(length).read_to_end(&mut bytes));
    read.map_err(|error| ParseError::unread(&error))?;
    Ok(bytes)
}

/// Reads the records after the points, without large ones.
fn extended(file: &mut File, raw: &Raw) -> Result<Vec<Record>, ParseError> {
    // The one record that LAS 1.3 has there holds waveforms.
    let Some(evlr) = raw.evlr else { return Ok(Vec::new()) };
    let mut records = Vec::new();
    let mut at = evlr.start_of_first_evlr;
    for _ in 0..evlr.number_of_evlrs {
        let head = part(file, at, 60)?;
        let Some(length) = head.get(20..28).and_then(|bytes| bytes.try_into().ok()) else { break };
        let length = u64::from_le_bytes(length);
        if length <= LARGEST {
            records.extend(Record::read(&part(file, at, 60 + length)?, 0, true));
        }
        let Some(next) = at.checked_add(length).and_then(|next| next.checked_add(60)) else {
            break;
        };
        at = next;
    }
    Ok(records)
}

/// Returns text up to its first zero; `None` if there is none.
fn words(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[..end]);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the date of a day of a year, from 1.
fn date(year: u16, day: u16) -> Option<String> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let lengths = [31, 28 + u16::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut remaining = day.checked_sub(1)?;
    if year < FIRST_YEAR {
        return None;
    }
    for (month, length) in lengths.into_iter().enumerate() {
        if remaining < length {
            return Some(format!("{year:04}-{:02}-{:02}", month + 1, remaining + 1));
        }
        remaining -= length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_years() {
        assert_eq!(date(2015, 73).as_deref(), Some("2015-03-14"));
        assert_eq!(date(2024, 60).as_deref(), Some("2024-02-29"));
        assert_eq!(date(2024, 366).as_deref(), Some("2024-12-31"));
        assert_eq!(date(2023, 366), None);
        assert_eq!(date(1, 1), None);
        assert_eq!(date(2023, 0), None);
    }
}
