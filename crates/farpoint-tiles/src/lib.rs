//! Exact farthest point sampling of clouds larger than memory.
//!
//! A cloud is cut into *tiles* by space; a tile is cut into *pages* of neighboring points. A [`Tile`]
//! decides which of its points are chosen, a [`Conductor`] says how far all of them go at a time and carries
//! what they must know of each other. What comes out are the indices of [`farpoint::reference`], one by one:
//! docs/development/tiles.md has the method and its costs, docs/development/proofs.md its proof.
//!
//! Nothing here does I/O. Two traits are filled in by others:
//!
//! * a [`Store`] holds the points of one tile, their distances and the tile's log: [`MemoryStore`], or a file;
//! * a [`Transport`] carries requests to tiles and brings back replies ([`message`]):
//!   [`Local`] and [`Threads`] here; processes or actors elsewhere. It may lose, repeat and delay them, and
//!   tiles may begin anew at any time from their stores: the result is the same.
//!
//! # One machine
//!
//! [`Tiled`] cuts a cloud in memory into tiles:
//!
//! ```
//! use farpoint::{Amount, NonFinite, Start};
//! use farpoint_tiles::{Plan, Threads, TileOptions, Tiled, sample};
//!
//! let cloud: Vec<[f32; 3]> = (0..5000).map(|i| [i as f32, (i * i % 97) as f32, 0.0]).collect();
//! let tiled = Tiled::new(&cloud, NonFinite::Error, 8, 256)?;
//! let plan = Plan::new(Amount::Count(100), tiled.starts(&Start::Index(0))?);
//! let mut transport = Threads(tiled.workers(TileOptions::default()));
//! let found = sample(plan, tiled.tiles(), &mut transport)?;
//! let truth = farpoint::Sampler::count(100).sample(&cloud)?;
//! assert!(found.indices.iter().eq(truth.indices.iter().map(|&i| i as u64).collect::<Vec<_>>().iter()));
//! # Ok::<(), farpoint_tiles::Error>(())
//! ```

#![forbid(unsafe_code)]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod ahead;
mod column;
mod conductor;
pub mod cut;
mod entry;
mod error;
mod geometry;
pub mod message;
mod slab;
mod solve;
mod store;
mod tile;
mod tiled;
mod transport;
mod wire;

pub use column::Column;
pub use conductor::{Band, Conductor, Mode, Outcome, Plan, Statistics};
pub use entry::{Entry, Key, TileId};
pub use error::Error;
pub use geometry::{Bound, Corners};
pub use store::{MemoryStore, Pages, Store, StoreError};
pub use tile::{Tile, TileOptions};
pub use tiled::{Tiled, TiledSample, sample};
pub use transport::{ByteTransport, ByteWorker, Encoded, Local, Lost, Threads, Transport, Worker};
pub use wire::Bytes;
