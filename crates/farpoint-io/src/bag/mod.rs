//! MCAP recordings ("bags"): what is in one, one message as a cloud, and all clouds of a topic cut down
//! while everything else is passed on ([docs/bags.md](https://github.com/farpoint/farpoint/blob/main/docs/bags.md)).
//!
//! From the bottom up: `wire` (the two encodings of ROS), `cloud2` (the message with the points),
//! `source` and `frames` (where the bytes come from, the records of a file), `unpack` (the records of a
//! chunk), `pieces` (a file as pieces that can be worked on side by side), `kind` (which types hold
//! clouds), `contents` (topics, counts, times), `folder` (recordings in several files), `message` (one
//! message as a cloud), `queue`, `cut` and `writer` (what `rewrite` is made of).
//!
//! Memory is bounded for a recording of any length: one record, or the pieces that are being worked on.

mod cloud2;
mod contents;
mod cut;
mod folder;
mod frames;
mod kind;
mod message;
mod pieces;
mod queue;
mod rewrite;
mod source;
mod unpack;
mod wire;
mod writer;

pub use cloud2::{PointCloud2, PointField};
pub use contents::{Bag, Contents, Topic};
pub use cut::{Cut, Kept};
pub use folder::recordings;
pub use kind::Kind;
pub use rewrite::{Rewrite, Stages, Totals};
pub use wire::Encoding;

pub(crate) use message::{read, read_of};

/// Bytes of the largest record that is read into memory.
const LARGEST: usize = 512 << 20;

/// What a file starts and ends with.
const MAGIC: &[u8] = mcap::MAGIC;

/// Way out of a file that is not as it should be.
const RECOVER: &str = "'mcap recover' keeps what can be read of it";
