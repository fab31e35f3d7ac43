//! Spatial structures: the box tree and its construction, the candidate
//! grid, nearest neighbors. They know points, not sampling.

mod boxtree;
mod cut;
mod entry;
mod grid;
mod neighbors;
mod order;
mod presence;

pub(crate) use boxtree::{BoxTree, Boxes, FANOUT, LEAF, Level, NONE, box_bound, place};
pub use grid::{Cells, Grid};
pub(crate) use neighbors::Neighbors;
pub(crate) use presence::Presence;
