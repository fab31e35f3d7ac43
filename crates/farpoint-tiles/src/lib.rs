//! Exact farthest point sampling of clouds larger than memory.
//!
//! A cloud is cut into *tiles* by space; a tile is cut into *pages* of neighboring points. A [`Tile`]
//! decides which of its points are chosen, a [`Conductor`] says how far all of them go at a time and carries
//! what they must know of each other. What comes out are the indices of [`farpoint::reference`], one by one:
//! docs/scale.md has the method, its proof and its costs.
//!
//! Nothing here does I/O. Two traits are filled in by others:
//!
//! * a [`Store`] holds the points of one tile, their distances and the tile's log: [`MemoryStore`], or a file;
//! * a [`Transport`] carries requests to tiles and brings back replies, both of them bytes ([`message`]):
//!   [`Local`] and [`Threads`] here; processes or actors elsewhere. It may lose, repeat and delay them, and
//!   tiles may begin anew at any time from their stores: the result is the same.
//!
//! # One machine
//!
//! [`sample()`] cuts a cloud in memory into tiles and samples it.

#![forbid(unsafe_code)]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod column;
mod entry;
mod error;
mod geometry;
pub mod message;
mod store;
mod transport;
mod wire;

pub use column::Column;
pub use entry::{Entry, Key, TileId};
pub use error::Error;
pub use geometry::{Bound, Corners};
pub use store::{MemoryStore, Pages, Store, StoreError};
pub use transport::{Bytes, Local, Lost, Threads, Transport, Worker};
