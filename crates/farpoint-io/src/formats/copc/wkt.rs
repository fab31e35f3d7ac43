//! The coordinate system of COPC, which is always well-known text.

use super::Copc;
use crate::cloud::Cloud;
use crate::cloud::crs::Crs;
use crate::cloud::header::LasHeader;
use crate::formats::las::new_record;

/// Bytes that a record of LAS holds, with the zero at the end.
const LONGEST: usize = u16::MAX as usize - 1;

/// Returns whether this can be written as the well-known text of a file.
pub(super) fn is_valid(text: &str) -> bool {
    let plain = |c: char| !c.is_control() || c.is_whitespace();
    let text = text.trim_end_matches('\0');
    let read = Crs::from_wkt(text).is_some_and(|crs| crs.wkt.is_some());
    text.len() <= LONGEST && text.chars().all(plain) && read
}

/// Puts the coordinate system into the header: that of the options, or that of the file, or the definition of its
/// EPSG code.
pub(super) fn state(
    header: &mut LasHeader,
    cloud: &Cloud,
    options: &Copc,
    warnings: &mut Vec<String>,
) {
    // Point formats from 6 on state it as text or not at all.
    header.raw.global_encoding |= 16;
    if let Some(text) = &options.wkt {
        let is_text = |r: &crate::cloud::header::Record| r.is("LASF_Projection", 2112);
        header.records.retain(|r| !is_text(r));
        header.extended.retain(|r| !is_text(r));
        return push(header, text);
    }
    if Crs::from_las(header).is_some_and(|crs| crs.wkt.is_some()) {
        return;
    }
    let Some(crs) = cloud.crs() else {
        let missing = "no coordinate system is stated; `crs_wkt=FILE` sets one";
        return warnings.push(missing.into());
    };
    match crs.known_wkt(warnings).filter(|text| text.len() <= LONGEST) {
        Some(text) => push(header, &text),
        None => warnings.push(format!(
            "the coordinate system ({}) is not known as well-known text and is left out; \
             `crs_wkt=FILE` sets it",
            crs.name
        )),
    }
}

fn push(header: &mut LasHeader, text: &str) {
    let data = [text.trim_end_matches('\0').as_bytes(), b"\0"].concat();
    header.records.push(new_record("LASF_Projection", 2112, "OGC WKT", &data));
}
