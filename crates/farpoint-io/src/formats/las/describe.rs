//! Records of the header, above all those that describe extra bytes of the points.

use super::fields::{DESCRIPTION, description, dimensions};
use crate::cloud::column::Attribute;
use crate::cloud::header::{LasHeader, Record};
use crate::error::ParseError;
use laz::LazVlr;

/// Bytes of a record of complete descriptions.
const LONGEST: usize = u16::MAX as usize / DESCRIPTION * DESCRIPTION;

/// Makes the input's header describe records that have the added attributes after them.
pub(super) fn describe_kept(header: &mut LasHeader, added: &[Attribute]) -> Result<(), ParseError> {
    // The octree points into the old file, and the compression record describes the old one.
    header.records.retain(|r| r.user != b"copc" && !r.is(LazVlr::USER_ID, LazVlr::RECORD_ID));
    header.extended.retain(|r| r.user != b"copc");
    let before = usize::from(header.raw.point_data_record_length);
    describe(header, before, added)?;
    let length = before + added.iter().map(|a| a.column.kind().size()).sum::<usize>();
    header.raw.point_data_record_length = record_length(length)?;
    Ok(())
}

pub(crate) fn record_length(length: usize) -> Result<u16, ParseError> {
    let too_long = |_| {
        ParseError::new(format!("records of {length} bytes are too long for LAS")).fix("write PLY")
    };
    u16::try_from(length).map_err(too_long)
}

/// Adds descriptions of new extra bytes to the record that describes them, after the bytes before
/// them that nothing describes.
///
/// # Errors
/// If there are more than one record can describe.
pub(super) fn describe(
    header: &mut LasHeader,
    length: usize,
    added: &[Attribute],
) -> Result<(), ParseError> {
    if added.is_empty() {
        return Ok(());
    }
    let place = header.records.iter().position(|r| r.is("LASF_Spec", 4));
    let mut data = place.map_or(Vec::new(), |i| header.records[i].data().to_vec());
    data.truncate(data.len() / DESCRIPTION * DESCRIPTION);
    let unknown = dimensions(header.format, length, Some(&data));
    if let Some(dimension) = unknown.last().filter(|s| s.name == "extra_bytes") {
        let mut remaining = dimension.count;
        while remaining > 0 {
            let count = remaining.min(255);
            data.extend(description("undescribed", None, count as u8));
            remaining -= count;
        }
    }
    for a in added {
        data.extend(description(&a.name, Some(a.column.kind()), 0));
    }
    describable(&data)?;
    let record = new_record("LASF_Spec", 4, "Extra Bytes", &data);
    match place {
        Some(i) => header.records[i] = record,
        None => header.records.push(record),
    }
    Ok(())
}

/// Refuses more descriptions than a record holds.
fn describable(data: &[u8]) -> Result<(), ParseError> {
    let (all, limit) = (data.len() / DESCRIPTION, LONGEST / DESCRIPTION);
    let what = || format!("{all} extra dimensions are more than the {limit} that LAS describes");
    if all <= limit { Ok(()) } else { Err(ParseError::new(what()).fix("write PLY or NPY")) }
}

/// Makes the header's record of extra bytes hold these descriptions.
///
/// # Errors
/// If there are more than one record can describe.
pub(crate) fn describe_extras(header: &mut LasHeader, data: &[u8]) -> Result<(), ParseError> {
    describable(data)?;
    header.records.retain(|r| !r.is("LASF_Spec", 4));
    header.extended.retain(|r| !r.is("LASF_Spec", 4));
    if !data.is_empty() {
        header.records.push(new_record("LASF_Spec", 4, "Extra Bytes", data));
    }
    Ok(())
}

/// A variable length record, of data that fits into 16 bits.
pub(crate) fn new_record(user: &str, id: u16, text: &str, data: &[u8]) -> Record {
    let mut bytes = vec![0u8; 54];
    bytes[2..2 + user.len()].copy_from_slice(user.as_bytes());
    bytes[18..20].copy_from_slice(&id.to_le_bytes());
    bytes[20..22].copy_from_slice(&(data.len() as u16).to_le_bytes());
    bytes[22..22 + text.len()].copy_from_slice(text.as_bytes());
    bytes.extend_from_slice(data);
    Record { user: user.as_bytes().to_vec(), id, head: 54, bytes }
}
