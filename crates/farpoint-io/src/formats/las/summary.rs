//! The header of a LAS or LAZ file, without its points.

use super::head::{Head, LARGEST};
use super::nodes::octree;
use super::{transforms, without_points};
use crate::bytes::load::part;
use crate::cloud::header::Header;
use crate::cloud::summary::Summary;
use crate::error::ParseError;
use crate::format::Format;
use std::cell::RefCell;
use std::fs::File;

/// LAS is not older; some writers put zeros or ones for a date.
const FIRST_YEAR: u16 = 2000;

/// Reads the data before the points, and the records after them that describe the file.
pub(crate) fn summary(file: &mut File, length: u64) -> Result<Summary, ParseError> {
    let head = Head::read(file, length, LARGEST)?;
    let (count, bounds, warnings) = (head.count, head.bounds(), head.warnings.clone());
    let (cloud, _) = without_points(head);
    let format = cloud.format.unwrap_or(Format::Las);
    let Header::Las(header) = &cloud.header else { unreachable!("the header is that of LAS") };
    let mut summary = Summary::new(format, cloud.description(), count);
    (summary.bounds, summary.warnings) = (bounds, warnings);
    let read = RefCell::new(file);
    let read = |at: u64, bytes: usize| part(&mut **read.borrow_mut(), at, bytes as u64);
    match octree(&read, length, header) {
        Ok(octree) => summary.octree = octree,
        Err(error) => summary.warnings.push(format!("the octree of COPC: {}", error.what)),
    }
    let raw = &header.raw;
    summary.offset = Some(transforms(raw).map(|(_, offset)| offset));
    summary.software = words(&raw.generating_software);
    summary.system = words(&raw.system_identifier);
    summary.created = date(raw.file_creation_year, raw.file_creation_day_of_year);
    summary.gps_time = cloud.gps_time();
    (summary.fields, summary.scale) = (cloud.fields(), cloud.scale());
    summary.crs = cloud.crs;
    Ok(summary)
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
