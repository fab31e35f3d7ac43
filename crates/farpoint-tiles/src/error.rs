//! What can go wrong, said so that a user knows what to change.

use crate::{StoreError, TileId};
use thiserror::Error;

/// Every error of this crate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// What is asked for cannot be had of this cloud.
    #[error(transparent)]
    Job(#[from] farpoint::Error),
    /// Bytes that are no message, or one that was cut or changed on its way.
    #[error("{what} cannot be read at byte {at} of {len}: {why}")]
    Encoding {
        /// Which message or record.
        what: &'static str,
        /// Where reading stopped.
        at: usize,
        /// Bytes in all.
        len: usize,
        /// What is wrong there.
        why: &'static str,
    },
    /// A tile's store failed.
    #[error("the store of tile {tile}: {source}")]
    Store {
        /// The tile.
        tile: TileId,
        /// What the store says.
        source: StoreError,
    },
    /// A tile reports that it cannot go on.
    #[error("tile {tile} failed: {text}")]
    Tile {
        /// The tile.
        tile: TileId,
        /// What it says.
        text: String,
    },
    /// A tile did not answer, however often it was asked.
    #[error("tile {tile} did not answer {tries} calls in a row ({last})")]
    Lost {
        /// The tile.
        tile: TileId,
        /// Calls made.
        tries: usize,
        /// What the transport said of the last one.
        last: String,
    },
    /// A tile's log ends before the bands that all tiles have finished.
    #[error(
        "the log of tile {tile} has {has} finished bands, the run has {needed}; \
         restore the log, or begin the run anew"
    )]
    LogTooShort {
        /// The tile.
        tile: TileId,
        /// Bands in its log.
        has: u64,
        /// Bands that the conductor has finished.
        needed: u64,
    },
    /// Parts of a run that do not belong together.
    #[error("{0}")]
    Mismatch(String),
}
