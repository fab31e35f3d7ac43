//! Division of the allowed memory.

use crate::disk::error::Error;
use crate::disk::job::Job;
use crate::disk::rows::Stored;
use crate::disk::spool::ROW;
use farpoint_io::Reader;

/// Bytes that the process takes before it reads anything, with those that allocators keep.
pub(crate) const PROCESS: u64 = 24 << 20;
/// Tenths of the rest that are divided: allocators keep free memory between the rest. Measured at 20 million points
/// with 256 MiB.
const USED_TENTHS: u64 = 7;
/// Smallest number of bytes that are divided.
const MIN_WORK: u64 = 24 << 20;
/// Bytes of a candidate of a band, with its state; of float32, and of float64.
const CANDIDATE: [u64; 2] = [160, 260];
/// Bytes of an undecided point of another tile: kept, sent, and examined. Again of float32 and float64.
const CARRIED: [u64; 2] = [128, 224];
/// Bytes of a page that stays in memory.
const CACHED_PAGE: u64 = 256 * 32;

/// Memory share of each part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Threads that read the input.
    pub(crate) readers: usize,
    /// Largest number of points of a tile.
    pub(crate) tile: u64,
    /// Largest number of candidates of a band.
    pub(crate) candidates: u64,
    /// Undecided points that are carried from tile to tile, and half of those that tiles must send each other.
    pub(crate) carried: u64,
    /// Pages that stay in memory, of all tiles.
    pub(crate) pages: u64,
    /// Bytes for the order of the output.
    pub(crate) sorting: u64,
    /// Bytes for rows that are written in another format.
    pub(crate) converting: u64,
    /// Bytes for the ends of lists that grow.
    pub(crate) buffers: u64,
}

/// Returns the memory limit at which `work` bytes are divided, beside a file that is held in memory.
fn total(work: u64, held: u64) -> u64 {
    work.div_ceil(USED_TENTHS) * 10 + PROCESS + held
}

/// Returns the bytes that are divided if `converting` are for rows in another format.
fn divided(converting: u64) -> u64 {
    converting.div_ceil(3) * 4
}

/// Returns the least limit if a file that takes `held` bytes can't be read in parts.
pub(crate) fn least(held: u64) -> u64 {
    total(MIN_WORK, held)
}

/// Like [`least`], if `converting` bytes are for rows in another format.
pub(crate) fn least_converting(held: u64, converting: u64) -> u64 {
    total(divided(converting), held)
}

impl Shares {
    /// Returns the shares of a job that takes `converting` bytes for rows in another format.
    pub(crate) fn of(
        reader: &Reader,
        job: &Job,
        converting: u64,
        threads: usize,
    ) -> Result<Shares, Error> {
        // A file that can't be read in parts is in memory all the time.
        let held = reader.held();
        let work = job.memory.saturating_sub(PROCESS + held) / 10 * USED_TENTHS;
        // A part as it is read, and its points by tiles.
        let part = reader.memory_a_part() + reader.memory_a_part() / 2;
        let (reading, converting) = (MIN_WORK.max(2 * part), divided(converting));
        if work < reading.max(converting) {
            let needed = total(reading.max(converting), held);
            return Err(match converting > reading {
                true => Error::converting(reader.name(), needed, job.memory),
                false => Error::through(reader.name(), needed, job.memory),
            });
        }
        // Single precision unless the file has doubles and they are kept.
        let stored = match reader.is_single() || job.single {
            true => Stored::Single,
            false => reader.transforms().map_or(Stored::Double, Stored::Integers),
        };
        let number = if stored.is_single() { 4 } else { 8 };
        let wide = usize::from(!stored.is_single());
        // While it is put in order: scattered bytes, and coordinates with their place.
        let ordering = (3 * stored.size() + ROW) as u64 + 4 * number;
        let sampling = if stored.is_single() { 30 } else { 48 };
        let sizes = job.sizes;
        let tile = work * 2 / 5 / ordering.max(sampling);
        Ok(Shares {
            readers: (work / 2 / part.max(1)).clamp(1, threads as u64) as usize,
            tile: sizes.tile.unwrap_or(tile).max(1),
            candidates: sizes.candidates.unwrap_or(work / 4 / CANDIDATE[wide]).max(1),
            carried: work / 2 / CARRIED[wide],
            pages: work / 8 / CACHED_PAGE,
            sorting: sizes.sorting.unwrap_or(work / 3).max(1),
            converting: work / 4 * 3,
            buffers: work / 4,
        })
    }

    /// Returns the bytes of the extents of `lists` lists.
    pub(crate) fn extent(&self, lists: usize) -> usize {
        let size = (self.buffers / lists.max(1) as u64).clamp(1 << 12, 1 << 20) as usize;
        size / 4096 * 4096
    }
}
