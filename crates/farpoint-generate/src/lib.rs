//! Seeded generators of point clouds: realistic scans for demos and benchmarks, and
//! clouds that are hard for algorithms.
//!
//! A cloud depends only on its kind, its size and its seed: the same seed gives the same bits on every
//! machine. Only additions, products, quotients, square roots (all correctly rounded everywhere) and the
//! sines of the `libm` crate are used.
//!
//! ```
//! use farpoint_generate::{Kind, generate, room};
//!
//! let cloud = room(1000, 7);
//! assert_eq!(cloud.len(), 1000);
//! assert_eq!(cloud, generate("room".parse::<Kind>().unwrap(), 1000, 7));
//! ```

#![forbid(unsafe_code)]

mod lidar;
mod object;
mod plain;
mod random;
mod room;
mod vector;

pub use lidar::lidar;
pub use object::object;
pub use plain::{clusters, cube, duplicated, equal, lattice, line, sphere};
pub use room::room;

/// Building blocks of the scenes in lab/scenes; not part of the public interface, and may change at any time.
#[doc(hidden)]
pub mod parts {
    pub use crate::lidar::{Scene, Sensor};
    pub use crate::random::Random;
    pub use crate::room::Choice;
    pub use crate::room::shape::{Builder, Shape};
    pub use crate::vector::Vector;
}

use std::fmt;
use std::str::FromStr;

/// The kinds of clouds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An indoor scan of a furnished room, see [`room()`].
    Room,
    /// One revolution of a 64-ring LiDAR in a street, see [`lidar()`].
    Lidar,
    /// A smooth closed surface, see [`object()`].
    Object,
    /// Uniform in the unit cube, see [`cube`].
    Cube,
    /// An integer grid, see [`lattice`].
    Lattice,
    /// Equal steps along one axis, see [`line()`].
    Line,
    /// The same point repeated, see [`equal`].
    Equal,
    /// Every point two to four times, see [`duplicated`].
    Duplicated,
    /// Clusters of very different sizes, see [`clusters`].
    Clusters,
    /// Uniform on the unit sphere, see [`sphere`].
    Sphere,
}

impl Kind {
    /// Every kind, the realistic ones first.
    pub const ALL: [Self; 10] = [
        Self::Room,
        Self::Lidar,
        Self::Object,
        Self::Cube,
        Self::Lattice,
        Self::Line,
        Self::Equal,
        Self::Duplicated,
        Self::Clusters,
        Self::Sphere,
    ];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Room => "room",
            Self::Lidar => "lidar",
            Self::Object => "object",
            Self::Cube => "cube",
            Self::Lattice => "lattice",
            Self::Line => "line",
            Self::Equal => "equal",
            Self::Duplicated => "duplicated",
            Self::Clusters => "clusters",
            Self::Sphere => "sphere",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error of a text that names no kind of cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseKindError(String);

impl fmt::Display for ParseKindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        write!(f, "'{}' is no kind of cloud; choose one of {}", self.0, names.join(", "))?;
        match self.0.as_str() {
            "indoor" | "town" => {
                f.write_str(" (scenes with classes are in the repository's lab/scenes)")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ParseKindError {}

impl FromStr for Kind {
    type Err = ParseKindError;

    fn from_str(name: &str) -> Result<Self, ParseKindError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| ParseKindError(name.to_owned()))
    }
}

/// Generates exactly `n` points of this kind. Kinds without randomness ignore `seed`.
pub fn generate(kind: Kind, n: usize, seed: u64) -> Vec<[f32; 3]> {
    match kind {
        Kind::Room => room(n, seed),
        Kind::Lidar => lidar(n, seed),
        Kind::Object => object(n, seed),
        Kind::Cube => cube(n, seed),
        Kind::Lattice => lattice(n),
        Kind::Line => line(n),
        Kind::Equal => equal(n),
        Kind::Duplicated => duplicated(n, seed),
        Kind::Clusters => clusters(n, seed),
        Kind::Sphere => sphere(n, seed),
    }
}

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns FNV-1a over the bits of all coordinates.
    fn checksum(cloud: &[[f32; 3]]) -> u64 {
        cloud
            .iter()
            .flatten()
            .flat_map(|value| value.to_bits().to_le_bytes())
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            })
    }

    #[test]
    fn count_is_exact_and_all_is_finite() {
        for kind in Kind::ALL {
            for n in [0, 1, 2, 3, 64, 1000, 4097] {
                let cloud = generate(kind, n, 3);
                assert_eq!(cloud.len(), n, "{kind}");
                assert!(cloud.iter().flatten().all(|value| value.is_finite()), "{kind}");
            }
        }
    }

    #[test]
    fn names_parse() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        for (name, scene) in [("house", false), ("indoor", true), ("town", true)] {
            let error = name.parse::<Kind>().unwrap_err().to_string();
            assert!(error.contains("room") && error.contains("lab/scenes") == scene, "{error}");
        }
    }

    /// If one of these changes, every committed benchmark record and golden cloud is stale.
    #[test]
    fn same_bits_everywhere() {
        let expected = [
            (Kind::Room, 0x31bf_aa98_97ce_ebd2),
            (Kind::Lidar, 0xfbc8_3616_734e_f4cf),
            (Kind::Object, 0x68c5_66e3_71e7_8813),
            (Kind::Cube, 0xa67a_b557_f5aa_be3a),
            (Kind::Lattice, 0x5056_763f_51b6_7828),
            (Kind::Line, 0x176e_a8dc_3a38_4fe8),
            (Kind::Equal, 0x2180_1d04_88d3_a325),
            (Kind::Duplicated, 0xdd7a_ed9d_e70c_efc5),
            (Kind::Clusters, 0x2b21_b319_ad5a_fc7d),
            (Kind::Sphere, 0xf3f3_7df1_2ac6_dd15),
        ];
        for (kind, sum) in expected {
            let found = checksum(&generate(kind, 10_000, 1));
            assert_eq!(found, sum, "{kind}: {found:#018x}");
        }
    }

    #[test]
    fn seeds_matter() {
        for kind in [Kind::Room, Kind::Lidar, Kind::Object, Kind::Cube, Kind::Clusters] {
            assert_ne!(generate(kind, 100, 1), generate(kind, 100, 2), "{kind}");
        }
    }

    #[test]
    fn every_row_of_duplicated_occurs_two_to_four_times() {
        for n in [2, 3, 5, 1001] {
            let mut rows: Vec<_> =
                duplicated(n, 5).iter().map(|point| point.map(f32::to_bits)).collect();
            rows.sort_unstable();
            assert!(rows.chunk_by(|a, b| a == b).all(|run| (2..=4).contains(&run.len())));
        }
    }
}
