//! Jobs and their results.

use farpoint::{Amount, Start};
use farpoint_io::WriteOptions;
use std::path::{Path, PathBuf};

/// A job on a file, with its memory limit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Job {
    /// Number of points.
    pub amount: Amount,
    /// Start of the sample; the first usable row unless set.
    pub start: Option<Start>,
    /// True if rows that are exactly (0, 0, 0) are left out.
    pub drop_zeros: bool,
    /// True if double coordinates are sampled in single precision, relative to their minimum corner.
    pub single: bool,
    /// Bytes of memory that the process may take. More is taken if the allocator keeps freed memory: see
    /// docs/scale.md for measurements.
    pub memory: u64,
    /// The folder of the spool; one beside the output unless set, which is removed in the end: by a later run
    /// beside it, if this one is killed.
    pub spool: Option<PathBuf>,
    /// True to resume a run that was interrupted in that folder.
    pub resume: bool,
    /// True if outputs are in the order of the input instead of that of choice.
    pub sorted: bool,
    /// True to add a column `spacing` to the points, the selection distance of each, unless they are written as COPC.
    pub spacing: bool,
    /// Sizes that follow from the memory unless set. They change no result.
    #[doc(hidden)]
    pub sizes: Sizes,
}

/// Sizes that follow from the memory unless set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
#[non_exhaustive]
pub struct Sizes {
    /// Largest number of points of a tile.
    pub tile: Option<u64>,
    /// Largest number of candidates of a band.
    pub candidates: Option<u64>,
    /// Bytes of memory for the order of the output.
    pub sorting: Option<u64>,
    /// Bytes that are free on the disk.
    pub free: Option<u64>,
    /// Parts of the input that are read between two calls of the observer.
    pub lap: Option<usize>,
}

impl Job {
    /// Creates a job for this amount, with `memory` bytes of memory.
    pub fn new(amount: Amount, memory: u64) -> Job {
        let sizes = Sizes::default();
        let (start, spool) = (None, None);
        let (drop_zeros, single, resume) = (false, false, false);
        let (sorted, spacing) = (false, false);
        Job { amount, start, drop_zeros, single, memory, spool, resume, sorted, spacing, sizes }
    }

    /// Sets the start.
    pub fn start(self, start: impl Into<Option<Start>>) -> Job {
        Job { start: start.into(), ..self }
    }

    /// Leaves out rows that are exactly (0, 0, 0).
    pub fn drop_zeros(self, drop_zeros: bool) -> Job {
        Job { drop_zeros, ..self }
    }

    /// Samples doubles in single precision.
    pub fn single(self, single: bool) -> Job {
        Job { single, ..self }
    }

    /// Sets the folder of the spool.
    pub fn spool(self, spool: impl Into<Option<PathBuf>>) -> Job {
        Job { spool: spool.into(), ..self }
    }

    /// Resumes a run that was interrupted.
    pub fn resume(self, resume: bool) -> Job {
        Job { resume, ..self }
    }

    /// Writes outputs in the order of the input.
    pub fn sorted(self, sorted: bool) -> Job {
        Job { sorted, ..self }
    }

    /// Adds a column `spacing` to the points.
    pub fn spacing(self, spacing: bool) -> Job {
        Job { spacing, ..self }
    }

    #[doc(hidden)]
    pub fn sizes(self, tile: u64, candidates: u64, sorting: u64) -> Job {
        let some = |size| Some(size).filter(|&size| size > 0);
        let (tile, candidates, sorting) = (some(tile), some(candidates), some(sorting));
        Job { sizes: Sizes { tile, candidates, sorting, ..self.sizes }, ..self }
    }
}

/// Outputs of a job.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outputs<'a> {
    /// The chosen points, in order of choice, and the options of writing them.
    pub points: Option<(&'a Path, &'a WriteOptions)>,
    /// The chosen rows of the input (int64), in order of choice.
    pub indices: Option<&'a Path>,
}

/// Result of a job.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// Rows of the input.
    pub points: u64,
    /// Rows left out.
    pub dropped: u64,
    /// Chosen rows.
    pub samples: u64,
    /// The largest distance of a point to the sample.
    pub covering_radius: f64,
    /// Tiles that the cloud was cut into.
    pub tiles: usize,
    /// Bands in which it was sampled.
    pub bands: u64,
    /// Bytes of the spool.
    pub spooled: u64,
    /// Seconds: reading into the spool, sampling, writing.
    pub seconds: [f64; 3],
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Progress of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Parts of the input have been read.
    Read {
        /// Their number so far.
        parts: usize,
        /// Number of all; each is read twice.
        of: usize,
    },
    /// The rows have been read once.
    Surveyed {
        /// True if an interrupted run had read some.
        resumed: bool,
        /// Rows in all.
        rows: u64,
        /// Rows that hold NaN or infinity.
        bad: u64,
        /// Rows that are exactly (0, 0, 0).
        zeros: u64,
        /// The minimum corner, if it is subtracted.
        corner: Option<[f64; 3]>,
    },
    /// The spool is whole.
    Spooled {
        /// Tiles that the cloud is cut into.
        tiles: usize,
        /// True if an interrupted run had made it.
        resumed: bool,
    },
    /// A band is finished.
    Band {
        /// Its number.
        number: u64,
        /// Samples so far.
        samples: u64,
        /// Largest number of samples limit.
        limit: u64,
    },
    /// The output is being written.
    Writing,
}
