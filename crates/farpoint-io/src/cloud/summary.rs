//! What a header tells of a file whose points are not read.

use crate::cloud::Field;
use crate::cloud::crs::Crs;
use crate::format::Format;

/// What a header tells; `None` is what it doesn't.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The format.
    pub format: Format,
    /// The format as text, such as `LAZ 1.2, point format 3`.
    pub description: String,
    /// How many points there are.
    pub points: u64,
    /// The attributes in file order, x, y and z among them.
    pub fields: Vec<Field>,
    /// The minimum and maximum corner that the header states.
    pub bounds: Option<[[f64; 3]; 2]>,
    /// The coordinate reference system.
    pub crs: Option<Crs>,
    /// The step of the stored coordinates of each axis.
    pub scale: Option<[f64; 3]>,
    /// What is added to the stored coordinates of each axis.
    pub offset: Option<[f64; 3]>,
    /// The software that wrote the file.
    pub software: Option<String>,
    /// The system that took the points, or how they came to be.
    pub system: Option<String>,
    /// The day the file was written, as `2015-03-14`.
    pub created: Option<String>,
    /// What GPS times count from: `week` or `adjusted standard`.
    pub gps_time: Option<&'static str>,
    /// The octree of COPC.
    pub octree: Option<Octree>,
    /// What reading the file would warn of, as far as the header tells.
    pub warnings: Vec<String>,
}

/// The octree of a COPC file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Octree {
    /// How far from the points of the root others may be, as the file declares; half of it a level deeper.
    pub spacing: f64,
    /// How many levels there are.
    pub levels: u32,
    /// How many nodes with points.
    pub nodes: usize,
    /// As many points the largest of them holds.
    pub largest: u64,
}

impl Summary {
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
