//! The coordinate reference system of a file.
//!
//! LAS keeps it as well-known text (record 2112) or as GeoTIFF keys (records 34735 and 34737), E57 as well-known
//! text. Only the parts that readers need are extracted. For formats that hold text alone, an EPSG code is looked up.

mod keys;
mod registry;

use crate::cloud::header::{LasHeader, Record};
use keys::Keys;
pub(crate) use keys::Vertical;
use std::borrow::Cow;

/// A coordinate reference system, as far as the file states it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Crs {
    /// Name for messages: `EPSG:2992`, or the name in its WKT or citation.
    pub name: String,
    /// The EPSG code, if it has one.
    pub epsg: Option<u32>,
    /// Its well-known text, if the file holds that.
    pub wkt: Option<String>,
    /// True if coordinates are longitude and latitude in degrees.
    pub geographic: bool,
    /// Meters per horizontal unit of projected coordinates, if the file states it.
    pub meters: Option<f64>,
    /// The system of the heights, if keys state it beside that of x and y; its text would contain it.
    pub(crate) vertical: Option<Vertical>,
}

const PROJECTION: &str = "LASF_Projection";
const WKT: u16 = 2112;

impl Crs {
    /// Parses well-known text; `None` if it is empty.
    pub(crate) fn from_wkt(text: &str) -> Option<Crs> {
        let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        let kind = text.split(['[', '(']).next()?.trim();
        if kind.is_empty() || kind.len() == text.len() {
            return None;
        }
        let epsg = last_authority(text);
        let title = text.split('"').nth(1).unwrap_or_default();
        Some(Crs {
            name: epsg.map_or_else(|| title.to_owned(), |code| format!("EPSG:{code}")),
            epsg,
            wkt: Some(text.to_owned()),
            geographic: is_geographic(text),
            meters: projected_unit(text),
            vertical: None,
        })
    }

    /// Returns well-known text: the file's, or the definition of its EPSG code, with that of its heights or a warning.
    pub(crate) fn known_wkt(&self, warnings: &mut Vec<String>) -> Option<Cow<'_, str>> {
        if let Some(text) = &self.wkt {
            return Some(Cow::Borrowed(text));
        }
        let code = self.epsg?;
        let Some(vertical) = &self.vertical else { return registry::wkt(code).map(Cow::Owned) };
        if let Some(text) = vertical.epsg.and_then(|heights| registry::compound(code, heights)) {
            return Some(Cow::Owned(text));
        }
        let text = registry::wkt(code)?;
        warnings.push(format!(
            "the coordinate system of the heights ({}) is not known as well-known text and is left out",
            vertical.name
        ));
        Some(Cow::Owned(text))
    }

    /// Returns the system of a LAS file.
    pub(crate) fn from_las(header: &LasHeader) -> Option<Crs> {
        let records = || header.records.iter().chain(&header.extended);
        let find = |id: u16| records().find(|r| r.is(PROJECTION, id)).map(Record::data);
        let wkt = find(WKT).and_then(|data| Crs::from_wkt(&String::from_utf8_lossy(data)));
        let record = |id: u16| find(id).unwrap_or_default();
        let keys = Keys {
            directory: record(keys::DIRECTORY),
            doubles: record(keys::DOUBLES),
            ascii: record(keys::ASCII),
        };
        wkt.or_else(|| keys.crs())
    }
}

/// Returns the code in the authority of the whole text, which is at its end.
fn last_authority(text: &str) -> Option<u32> {
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let at = squeezed.rfind("AUTHORITY[\"EPSG\",").map(|at| at + 17);
    let at = at.max(squeezed.rfind("ID[\"EPSG\",").map(|at| at + 10));
    let rest = squeezed.get(at?..)?;
    let end = rest.find(']')?;
    // Any bracket but the last closes a part of the system, such as its axis or unit.
    (&rest[end..] == "]]").then(|| rest[..end].trim_matches('"').parse().ok())?
}

/// Returns the part of the text inside the brackets that open at `start`.
fn bracketed(text: &str, start: usize) -> &str {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b'[' => depth += 1,
            b']' if depth <= 1 => return &text[start..at],
            b']' => depth -= 1,
            _ => {}
        }
    }
    &text[start..]
}

/// Returns a projected system within the text, without the geographic one that it is based on.
fn projected(text: &str) -> Option<String> {
    let start = text.find("PROJCS[").or_else(|| text.find("PROJCRS["))?;
    let system = bracketed(text, start);
    let base = ["GEOGCS[", "BASEGEOGCRS[", "BASEGEODCRS["].iter().find_map(|w| system.find(w));
    Some(match base {
        Some(at) => system.replacen(bracketed(system, at), "", 1),
        None => system.to_owned(),
    })
}

/// Returns whether coordinates are longitude and latitude, also as a part of a compound system.
fn is_geographic(text: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let geocentric = text.contains("GEODCRS[") && text.contains("CS[Cartesian");
    has(&["GEOGCS[", "GEOGCRS[", "GEODCRS["])
        && !has(&["PROJCS[", "PROJCRS[", "GEOCCS["])
        && !geocentric
}

/// Returns the unit of a projected system, in meters.
fn projected_unit(text: &str) -> Option<f64> {
    projected(text).and_then(last_unit)
}

/// Returns the last unit of length, in meters: earlier ones belong to parameters.
fn last_unit(text: String) -> Option<f64> {
    let rest = &text[text.rfind("UNIT[")? + 5..];
    let value = rest.split(',').nth(1)?;
    value.split(']').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_text_gives_name_code_and_unit() {
        let text = r#"PROJCS["NAD83 / Oregon",GEOGCS["NAD83",UNIT["degree",0.0174],
            AUTHORITY["EPSG","4269"]],PROJECTION["Lambert"],PARAMETER["false_easting",1312335],
            UNIT["foot",0.3048],AXIS["Easting",EAST],AUTHORITY["EPSG","2992"]]"#;
        let crs = Crs::from_wkt(text).unwrap();
        assert_eq!((crs.name.as_str(), crs.epsg), ("EPSG:2992", Some(2992)));
        assert_eq!((crs.geographic, crs.meters), (false, Some(0.3048)));
        let unnamed = text.replace(r#",AUTHORITY["EPSG","2992"]"#, "");
        let crs = Crs::from_wkt(&unnamed).unwrap();
        assert_eq!((crs.name.as_str(), crs.epsg), ("NAD83 / Oregon", None));
        let newer = r#"GEOGCRS["WGS 84",CS[ellipsoidal,2],ID["EPSG",4326]]"#;
        let crs = Crs::from_wkt(newer).unwrap();
        assert_eq!((crs.name.as_str(), crs.geographic, crs.meters), ("EPSG:4326", true, None));
        let compound = r#"COMPD_CS["both",GEOGCS["WGS 84"],VERT_CS["up",UNIT["metre",1]]]"#;
        let crs = Crs::from_wkt(compound).unwrap();
        assert_eq!((crs.geographic, crs.meters), (true, None));
        let geocentric = r#"GEODCRS["WGS 84",CS[Cartesian,3],ID["EPSG",4978]]"#;
        assert!(!Crs::from_wkt(geocentric).unwrap().geographic);
        assert_eq!(Crs::from_wkt("\0\0"), None);
        assert_eq!(Crs::from_wkt("somewhere"), None);
    }
}
