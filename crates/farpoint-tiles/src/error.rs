//! Errors, with a remedy where there is one.

use crate::{StoreError, TileId};
use thiserror::Error;

/// Error of this crate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The cloud does not allow the requested sample.
    #[error(transparent)]
    Job(#[from] farpoint::Error),
    /// Bytes are no message, or one that was truncated or changed.
    #[error("{what} cannot be read at byte {at} of {len}: {why}")]
    Encoding {
        /// Kind of message or record.
        what: &'static str,
        /// Offset at which reading stopped.
        at: usize,
        /// Total number of bytes.
        len: usize,
        /// Reason.
        why: &'static str,
    },
    /// A tile's store failed.
    #[error("store of tile {tile}: {source}")]
    Store {
        /// Number of the tile.
        tile: TileId,
        /// Error of the store.
        source: StoreError,
    },
    /// A tile reports that it cannot go on.
    #[error("tile {tile} failed: {text}")]
    Tile {
        /// Number of the tile.
        tile: TileId,
        /// Message of the tile.
        text: String,
    },
    /// A tile did not answer any attempt.
    #[error("tile {tile} did not answer {tries} calls in a row ({last})")]
    Lost {
        /// Number of the tile.
        tile: TileId,
        /// Number of calls made.
        tries: usize,
        /// Error of the transport at the last call.
        last: String,
    },
    /// A tile's log ends before the bands that all tiles have finished.
    #[error(
        "the log of tile {tile} has {has} finished bands instead of {needed}; \
         restore the log or restart the run"
    )]
    LogTooShort {
        /// Number of the tile.
        tile: TileId,
        /// Number of bands in its log.
        has: u64,
        /// Number of bands that the conductor has finished.
        needed: u64,
    },
    /// Parts of a run that do not belong together.
    #[error("{0}")]
    Mismatch(String),
}
