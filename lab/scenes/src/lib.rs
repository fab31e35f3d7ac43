//! Scenes with a class for every point, for segmentation networks: rooms with colors and the classes of S3DIS, turns of
//! a LiDAR in a town with intensities and the classes of SemanticKITTI. Turns of other LiDARs in a suburb have no classes.
//!
//! A scene depends only on its kind, its size and its seed: the same seed gives the same bits on every machine.

mod c;
mod indoor;
mod plan;
mod suburb;
mod surface;
mod town;
mod traffic;

pub use c::{farpoint_scenes_classes, farpoint_scenes_generate};
pub use farpoint_generate::parts::Sensor;
pub use indoor::indoor;
pub use suburb::suburb;
pub use town::town;

use std::ffi::CStr;

/// The class of points that belong to none.
pub const UNLABELED: u8 = 255;

/// A scene: points in meters, a color or an intensity, and a class for every point.
#[derive(Debug, Clone, PartialEq)]
pub struct Labeled {
    /// Points in meters, z up.
    pub points: Vec<[f32; 3]>,
    /// Colors or intensities, one per point.
    pub paint: Paint,
    /// Number of each point's class in [`Setting::classes`], or [`UNLABELED`].
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

/// The kinds of scenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Setting {
    /// A room or a corridor with colors, see [`indoor()`].
    Indoor,
    /// A turn of a LiDAR in a town with intensities, see [`town()`].
    Town,
}

impl Setting {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Indoor, Self::Town];

    /// Generates exactly `n` points of a scene of this kind, with their classes.
    pub fn generate(self, n: usize, seed: u64) -> Labeled {
        match self {
            Self::Indoor => indoor(n, seed),
            Self::Town => town(n, seed),
        }
    }

    /// Returns the names of the classes, by number: those of S3DIS or SemanticKITTI in their order.
    pub fn classes(self) -> Vec<&'static str> {
        self.names().to_str().map_or_else(|_| Vec::new(), |names| names.split(',').collect())
    }

    /// Returns the names, separated by commas.
    fn names(self) -> &'static CStr {
        match self {
            Self::Indoor => {
                c"ceiling,floor,wall,beam,column,window,door,chair,table,bookcase,sofa,board,clutter"
            }
            Self::Town => {
                c"car,bicycle,motorcycle,truck,other-vehicle,person,bicyclist,motorcyclist,road,parking,sidewalk,\
                other-ground,building,fence,vegetation,trunk,terrain,pole,traffic-sign"
            }
        }
    }
}
