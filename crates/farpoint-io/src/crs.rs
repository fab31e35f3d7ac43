//! The coordinate reference system of a file.

/// A coordinate reference system, as far as the file states it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Crs {
    /// What to call it: `EPSG:2992`, or the name in its WKT or citation.
    pub name: String,
    /// The EPSG code, if it has one.
    pub epsg: Option<u32>,
    /// Its well-known text, if the file holds that.
    pub wkt: Option<String>,
}
