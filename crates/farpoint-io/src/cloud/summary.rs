//! Summary of a file from its header, without reading points.

use crate::cloud::Field;
use crate::cloud::crs::Crs;
use crate::format::Format;

/// Data of a header; `None` if it is not stated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The format.
    pub format: Format,
    /// The format as text, such as `LAZ 1.2, point format 3`.
    pub description: String,
    /// Number of points.
    pub points: u64,
    /// The attributes in file order, x, y and z among them.
    pub fields: Vec<Field>,
    /// The minimum and maximum corner that the header states.
    pub bounds: Option<[[f64; 3]; 2]>,
    /// The coordinate reference system.
    pub crs: Option<Crs>,
    /// The scale of the stored coordinates of each axis.
    pub scale: Option<[f64; 3]>,
    /// Offset that is added to the stored coordinates of each axis.
    pub offset: Option<[f64; 3]>,
    /// The software that wrote the file.
    pub software: Option<String>,
    /// The system that took the points, or how they came to be.
    pub system: Option<String>,
    /// The day the file was written, as `2015-03-14`.
    pub created: Option<String>,
    /// Epoch of GPS times: `week`, `adjusted standard`, or `offset standard` with an offset that LAS 1.5 states.
    pub gps_time: Option<&'static str>,
    /// The octree of COPC.
    pub octree: Option<Octree>,
    /// Warnings that reading the file would give, as far as the header shows.
    pub warnings: Vec<String>,
}

/// The octree of a COPC file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Octree {
    /// Largest distance of other points to those of the root, as the file declares; half of it a level deeper.
    pub spacing: f64,
    /// Number of levels.
    pub levels: u32,
    /// Number of nodes with points.
    pub nodes: usize,
    /// Number of points of the largest node.
    pub largest: u64,
}

impl Summary {
    /// Returns the meters per unit of x and y, as [`Cloud::meters_per_unit`](crate::Cloud::meters_per_unit).
    pub fn meters_per_unit(&self) -> Option<f64> {
        match self.format {
            Format::E57 => Some(1.0),
            _ => self.crs.as_ref()?.meters,
        }
    }

    pub(crate) fn new(format: Format, description: String, points: u64) -> Summary {
        Summary {
            format,
            description,
            points,
            fields: Vec::new(),
            bounds: None,
            crs: None,
            scale: None,
            offset: None,
            software: None,
            system: None,
            created: None,
            gps_time: None,
            octree: None,
            warnings: Vec::new(),
        }
    }
}
