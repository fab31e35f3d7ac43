//! Exact farthest point sampling of point cloud files larger than memory.
#![forbid(unsafe_code)]

mod build;
mod error;
mod extents;
mod folder;
mod grid;
mod log;
mod order;
mod place;
mod rows;
mod sort;
mod spool;
mod state;
mod store;
mod survey;

pub use error::Error;
