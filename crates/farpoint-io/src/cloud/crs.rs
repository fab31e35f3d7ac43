//! The coordinate reference system of a file.
//!
//! LAS keeps it as well-known text (record 2112) or as GeoTIFF keys (records 34735 and 34737), E57 as well-known
//! text. Only the parts that readers need are extracted. For formats that hold text alone, an EPSG code is looked up.

use crate::cloud::header::{LasHeader, Record};
use flate2::read::ZlibDecoder;
use std::borrow::Cow;
use std::io::{BufRead, BufReader};

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
}

const PROJECTION: &str = "LASF_Projection";
const WKT: u16 = 2112;
const KEYS: u16 = 34735;
const ASCII: u16 = 34737;

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
            geographic: kind.starts_with("GEOG") || kind.starts_with("GEODCRS"),
            meters: projected(text).and_then(last_unit),
        })
    }

    /// Returns well-known text: the file's, or the definition of its EPSG code.
    pub(crate) fn known_wkt(&self) -> Option<Cow<'_, str>> {
        match &self.wkt {
            Some(text) => Some(Cow::Borrowed(text)),
            None => wkt_of_epsg(self.epsg?).map(Cow::Owned),
        }
    }

    /// Returns the system of a LAS file.
    pub(crate) fn from_las(header: &LasHeader) -> Option<Crs> {
        let records = || header.records.iter().chain(&header.extended);
        let find = |id: u16| records().find(|r| r.is(PROJECTION, id)).map(Record::data);
        let wkt = find(WKT).and_then(|data| Crs::from_wkt(&String::from_utf8_lossy(data)));
        wkt.or_else(|| from_keys(find(KEYS)?, find(ASCII).unwrap_or_default()))
    }
}

/// Returns the well-known text of an EPSG code.
fn wkt_of_epsg(code: u32) -> Option<String> {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/epsg.zz"));
    let mut lines = BufReader::new(ZlibDecoder::new(&packed[..])).lines().map_while(Result::ok);
    lines.find_map(|line| {
        let (number, text) = line.split_once(' ')?;
        (number.parse() == Ok(code)).then(|| text.to_owned())
    })
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

/// Returns the last unit of length, in meters: earlier ones belong to parameters.
fn last_unit(text: String) -> Option<f64> {
    let rest = &text[text.rfind("UNIT[")? + 5..];
    let value = rest.split(',').nth(1)?;
    value.split(']').next()?.trim().parse().ok()
}

/// Parses the GeoTIFF keys: four numbers each, the first four describe the directory.
fn from_keys(directory: &[u8], ascii: &[u8]) -> Option<Crs> {
    let numbers: Vec<u16> =
        directory.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    let keys = || numbers.chunks_exact(4).skip(1);
    // Values in the key itself; 32767 stands for a system defined by the file.
    let value = |id: u16| keys().find(|k| k[0] == id && k[1] == 0).map(|k| k[3]);
    let code = |id: u16| value(id).filter(|&code| code > 0 && code != 32767).map(u32::from);
    let text = |id: u16| -> Option<String> {
        let key = keys().find(|k| k[0] == id && k[1] == ASCII)?;
        let (start, length) = (usize::from(key[3]), usize::from(key[2]));
        let bytes = ascii.get(start..start + length)?;
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_matches(|c: char| c == '|' || c == '\0' || c.is_whitespace());
        (!text.is_empty()).then(|| text.to_owned())
    };
    let (model, unit) = (value(1024), value(3076));
    let epsg = code(3072).or_else(|| code(2048));
    let citation = || text(1026).or_else(|| text(3073)).or_else(|| text(2049));
    let name = epsg.map(|code| format!("EPSG:{code}")).or_else(citation)?;
    let meters = match unit {
        Some(9001) => Some(1.0),
        Some(9002) => Some(0.3048),
        Some(9003) => Some(1200.0 / 3937.0),
        _ => None,
    };
    Some(Crs { name, epsg, wkt: None, geographic: model == Some(2), meters })
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
        assert_eq!(Crs::from_wkt("\0\0"), None);
        assert_eq!(Crs::from_wkt("somewhere"), None);
    }

    #[test]
    fn keys_give_code_or_citation() {
        let directory = |keys: &[[u16; 4]]| -> Vec<u8> {
            let head = [[1, 1, 0, keys.len() as u16]];
            head.iter().chain(keys).flatten().flat_map(|n| n.to_le_bytes()).collect()
        };
        let crs = from_keys(&directory(&[[1024, 0, 1, 1], [3072, 0, 1, 2992]]), b"").unwrap();
        assert_eq!((crs.name.as_str(), crs.geographic), ("EPSG:2992", false));
        let custom =
            [[1024, 0, 1, 1], [3072, 0, 1, 32767], [3073, 34737, 8, 2], [3076, 0, 1, 9003]];
        let crs = from_keys(&directory(&custom), b"a|My grid|").unwrap();
        assert_eq!((crs.name.as_str(), crs.epsg), ("My grid", None));
        assert!((crs.meters.unwrap() - 0.304_800_609_6).abs() < 1e-9);
        assert_eq!(from_keys(&directory(&[[3073, 34737, 90, 0]]), b"cut"), None);
        assert_eq!(from_keys(&[1, 2, 3], b""), None);
    }
}
