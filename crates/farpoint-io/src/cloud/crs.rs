//! The coordinate reference system of a file.
//!
//! LAS keeps it as well-known text (record 2112) or as GeoTIFF keys (records 34735 and 34737), E57 as well-known
//! text. Only the parts that readers need are extracted. For formats that hold text alone, an EPSG code is looked up.

mod keys;
mod registry;
mod wkt;

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
    /// Meters per unit of heights, if the file states it.
    pub heights: Option<f64>,
    /// The system of the heights, if keys state it beside that of x and y; its text would contain it.
    pub(crate) vertical: Option<Vertical>,
}

const PROJECTION: &str = "LASF_Projection";
const WKT: u16 = 2112;

impl Crs {
    /// Reads what a file states as well-known text, up to a zero; `None` if it is empty. Of other text the beginning
    /// becomes the name.
    pub(crate) fn from_wkt(text: &str) -> Option<Crs> {
        let text = text.split('\0').next().unwrap_or_default().trim();
        if text.is_empty() {
            return None;
        }
        let Some(tree) = wkt::parse(text) else {
            let code = text.strip_prefix("EPSG:").and_then(|code| code.parse().ok());
            let start: String = text.chars().take(40).collect();
            let unread = || Crs::named(format!("{start:?}, which is not well-known text"));
            return code.and_then(Crs::of_code).or_else(|| Some(unread()));
        };
        let systems = tree.systems();
        let horizontal = systems.iter().find(|system| !system.is_vertical());
        let vertical = systems.iter().find(|system| system.is_vertical()).or(horizontal);
        let epsg = tree.epsg();
        Some(Crs {
            epsg,
            wkt: Some(text.to_owned()),
            geographic: horizontal.is_some_and(|system| system.is_geographic()),
            meters: horizontal
                .filter(|system| !system.is_geographic())
                .and_then(|system| system.meters(0)),
            heights: vertical.and_then(|system| system.heights()),
            ..Crs::named(epsg.map_or_else(|| tree.name(), |code| format!("EPSG:{code}")))
        })
    }

    fn named(name: String) -> Crs {
        let (epsg, wkt, vertical) = (None, None, None);
        Crs { name, epsg, wkt, geographic: false, meters: None, heights: None, vertical }
    }

    /// Returns the system of an EPSG code, if its definition is known.
    fn of_code(code: u32) -> Option<Crs> {
        let crs = Crs::from_wkt(&registry::definition(code)?)?;
        Some(Crs { wkt: None, epsg: Some(code), name: format!("EPSG:{code}"), ..crs })
    }

    /// Returns well-known text: the file's, or the definition of its EPSG code, with that of its heights or a warning.
    pub(crate) fn known_wkt(&self, warnings: &mut Vec<String>) -> Option<Cow<'_, str>> {
        if let Some(text) = &self.wkt {
            return Some(Cow::Borrowed(text));
        }
        let code = self.epsg?;
        let Some(vertical) = &self.vertical else {
            return registry::definition(code).map(Cow::Owned);
        };
        if let Some(text) = vertical.epsg.and_then(|heights| registry::compound(code, heights)) {
            return Some(Cow::Owned(text));
        }
        let text = registry::definition(code)?;
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
        let text = find(WKT).and_then(|data| Crs::from_wkt(&String::from_utf8_lossy(data)));
        let record = |id: u16| find(id).unwrap_or_default();
        let keys = Keys {
            directory: record(keys::DIRECTORY),
            doubles: record(keys::DOUBLES),
            ascii: record(keys::ASCII),
        };
        let read = text.clone().filter(|crs| crs.wkt.is_some());
        read.or_else(|| keys.crs()).or(text)
    }
}

#[cfg(test)]
mod tests;
