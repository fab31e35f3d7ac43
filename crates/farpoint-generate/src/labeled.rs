//! Scenes with a class for every point, for segmentation networks.

/// The class of points that belong to none.
pub const UNLABELED: u8 = 255;

/// Classes of [`indoor`](crate::indoor()), those of S3DIS in its order.
pub const INDOOR_CLASSES: [&str; 13] = [
    "ceiling", "floor", "wall", "beam", "column", "window", "door", "chair", "table", "bookcase",
    "sofa", "board", "clutter",
];

/// Classes of [`town`](crate::town()), those of SemanticKITTI in its order.
pub const TOWN_CLASSES: [&str; 19] = [
    "car",
    "bicycle",
    "motorcycle",
    "truck",
    "other-vehicle",
    "person",
    "bicyclist",
    "motorcyclist",
    "road",
    "parking",
    "sidewalk",
    "other-ground",
    "building",
    "fence",
    "vegetation",
    "trunk",
    "terrain",
    "pole",
    "traffic-sign",
];

/// A scene: points in meters, a color or an intensity, and a class for every point.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Labeled {
    /// Points in meters, z up.
    pub points: Vec<[f32; 3]>,
    /// Colors or intensities, one per point.
    pub paint: Paint,
    /// Number of each point's class in [`INDOOR_CLASSES`] or [`TOWN_CLASSES`], or [`UNLABELED`].
    pub classes: Vec<u8>,
}

/// Color or intensity of points.
#[derive(Debug, Clone, PartialEq)]
pub enum Paint {
    /// Red, green, blue.
    Colors(Vec<[u8; 3]>),
    /// Share of the light that comes back, in `0.0..1.0`.
    Intensity(Vec<f32>),
}
