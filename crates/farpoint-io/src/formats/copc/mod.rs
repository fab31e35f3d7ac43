//! COPC output: LAZ with an octree whose levels are farthest point samples.
//!
//! COPC guarantees its readers that the points of the levels 0 to l lie no farther than `spacing / 2^l` from all
//! others. Selection distances of a farthest-first order give such levels by themselves: those at least as large as
//! that spacing belong to the levels up to l.

mod cube;
mod extended;
mod hierarchy;
mod info;
mod levels;
mod order;
mod spacing;
#[cfg(test)]
mod tests;
mod wkt;
mod write;

pub(crate) use write::write;

use crate::format::plain_name;
use std::path::Path;

/// Points of a node unless set: viewers number them in 16 bits.
const NODE_POINTS: usize = u16::MAX as usize;
/// Smallest allowed `node_points`.
const MIN_NODE_POINTS: usize = 100;
/// Largest allowed `node_points`: a reader has to decompress all of them.
const MAX_NODE_POINTS: usize = 10_000_000;

/// Levels of COPC from points in farthest-first order. The rows that are written are in that order, with a distance
/// each; in the file they are put into nodes, and in a node into the order that compresses best.
///
/// ```
/// use farpoint_io::Copc;
/// let levels = Copc::new([f64::INFINITY, 2.0, 1.0]).node_points(50_000);
/// assert_eq!(levels.node_points, 50_000);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Copc {
    /// The selection distance of each row: its distance from those before it when it was chosen. They never increase,
    /// and the first is infinite.
    pub distances: Vec<f64>,
    /// Largest difference of a distance from that between the coordinates of the cloud, if it was computed from
    /// rounded ones; 0 unless set.
    pub error: f64,
    /// Largest number of points of a node, which only duplicates exceed; 65,535 unless set.
    pub node_points: usize,
    /// The coordinate system as well-known text; that of the cloud unless set.
    pub wkt: Option<String>,
}

impl Copc {
    /// Creates levels from these selection distances.
    pub fn new(distances: impl Into<Vec<f64>>) -> Self {
        Self { distances: distances.into(), error: 0.0, node_points: NODE_POINTS, wkt: None }
    }

    /// Sets the error of the distances.
    pub fn error(self, error: f64) -> Self {
        Self { error, ..self }
    }

    /// Sets the number of points that a node should hold.
    pub fn node_points(self, points: impl Into<Option<usize>>) -> Self {
        Self { node_points: points.into().unwrap_or(NODE_POINTS), ..self }
    }

    /// Sets the coordinate system.
    pub fn wkt(self, wkt: impl Into<Option<String>>) -> Self {
        Self { wkt: wkt.into(), ..self }
    }

    /// Estimates the bytes that writing `points` points takes, besides the cloud.
    pub fn memory(points: usize) -> u64 {
        points as u64 * write::MEMORY as u64
    }

    /// Returns the problem with the options other than the distances, and advice.
    pub fn wrong(&self) -> Option<(String, &'static str)> {
        if !(MIN_NODE_POINTS..=MAX_NODE_POINTS).contains(&self.node_points) {
            let what = format!("nodes of {} points cannot be made", self.node_points);
            return Some((what, "use 100 to 10,000,000 points"));
        }
        if !(self.error >= 0.0 && self.error.is_finite()) {
            return Some((
                format!("{} is not a valid error of a distance", self.error),
                "use 0 or more",
            ));
        }
        let wkt = self.wkt.as_deref().filter(|text| !wkt::is_valid(text));
        wkt.map(|_| {
            let what = "the coordinate system is not well-known text, or exceeds 64 KiB".to_owned();
            (what, "use text such as PROJCS[...], GEOGCS[...] or COMPD_CS[...]")
        })
    }

    /// Returns whether a file of this name is COPC: it ends in `.copc.laz`.
    pub fn is_named(path: &Path) -> bool {
        let name = plain_name(path);
        let name = name.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        name.ends_with(".copc.laz")
    }
}
