//! MCAP files of ROS ("bags"): their contents, one message as a cloud, and all clouds of a topic cut down while
//! everything else is passed on ([docs/bags.md](https://github.com/farpoint/farpoint/blob/main/docs/bags.md)).
//!
//! From the bottom up: `wire` (the two encodings of ROS), `cloud2` (the message with the points), `source` and
//! `frames` (the bytes and the records of a file), `unpack` (the records of a chunk), `pieces` (a file as pieces that
//! can be worked on concurrently), `kind` (the types that hold clouds), `contents` (topics, counts, times), `folder`
//! (bags in several files), `message` (one message as a cloud), `queue`, `cut` and `writer` (the parts of `rewrite`).
//!
//! Memory is bounded for a file of any length: one record, or the pieces in work.

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
pub use folder::{bag_files, refuse_other_bag};
pub use kind::Kind;
pub use rewrite::{Rewrite, Stages, Totals};
pub use wire::Encoding;

pub(crate) use message::{read, read_of};

/// Bytes of the largest record that is read into memory.
const LARGEST: usize = 512 << 20;

/// Magic bytes at the start and the end of a file.
const MAGIC: &[u8] = mcap::MAGIC;

/// Advice for a damaged file.
const RECOVER: &str = "'mcap recover' keeps what can be read of it";
