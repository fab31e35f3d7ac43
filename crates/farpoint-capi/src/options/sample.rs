//! Options of exact sampling.

use crate::arguments::lookup;
use crate::constants::*;
use crate::options::farpoint_run_options;
use crate::points::RowSelection;
use crate::status::{Failure, invalid};
use farpoint::{Amount, NonFinite, Sampler};
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::time::Duration;

/// Options of exact sampling. The number of samples must be set: a `count` or `ratio` of 0 is
/// FARPOINT_INVALID_ARGUMENT, as nobody requests none on purpose.
///
/// @code
/// farpoint_sample_options options = {0};
/// options.size = sizeof options;
/// options.count = 512;
/// @endcode
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_sample_options {
    /// `sizeof(farpoint_sample_options)`: gives the library the caller's version.
    pub size: usize,
    /// Device, threads and more. NULL: on all threads of the CPU, with the defaults.
    pub run: *const farpoint_run_options,
    /// Amount: FARPOINT_COUNT, FARPOINT_RATIO, FARPOINT_SPACING or FARPOINT_ALL.
    pub amount: MaybeUninit<farpoint_amount>,
    /// Not 0 to start at a point drawn by `seed`, the same on every machine.
    pub random_start: i32,
    /// Samples, at least 1, with FARPOINT_COUNT.
    pub count: usize,
    /// Share of the points, above 0 and up to 1, with FARPOINT_RATIO.
    pub ratio: f64,
    /// Largest distance to the nearest sample, in the unit of the coordinates, with FARPOINT_SPACING.
    pub spacing: f64,
    /// Rows that come first, in this order: `start_count` of them. NULL: the first usable row.
    pub starts: *const usize,
    /// Number of `starts`.
    pub start_count: usize,
    /// The seed of `random_start`.
    pub seed: u64,
    /// The algorithm, with its options: `"peak"`, `"radius:nvox=24"`. NULL: the fastest. All give the
    /// same samples.
    pub algorithm: *const c_char,
    /// Rows of the cloud to sample, each once: `row_count` of them. Ties go to the row
    /// that is listed first, and the first listed row is the start unless others are given. Indices
    /// and starts are rows of the whole cloud. NULL: all rows.
    pub rows: *const usize,
    /// Number of `rows`.
    pub row_count: usize,
    /// One byte per point of the cloud: points whose byte is not 0 are sampled, as if listed in `rows` from
    /// the first to the last. NULL: all rows. Not together with `rows`.
    pub mask: *const u8,
    /// Not 0 if a call that the progress callback cancels returns the samples chosen so far, as after a `deadline`, instead
    /// of FARPOINT_CANCELED.
    pub partial: i32,
    /// Seconds after which the call returns the samples chosen so far: the beginning of the complete sample, with its
    /// covering radius, and `complete` 0. There is at least the start. 0: none. For farpoint_sample() on the CPU.
    pub deadline: f64,
}

super::options!(farpoint_sample_options, last: deadline);

impl farpoint_sample_options {
    /// Returns the sampler.
    ///
    /// # Safety
    /// Starts and algorithm are as the header says.
    ///
    /// # Errors
    /// If a number or a text is unknown, or the amount is 0.
    pub(crate) unsafe fn job(&self, non_finite: NonFinite) -> Result<Sampler, Failure> {
        let amounts = [
            (FARPOINT_COUNT, Amount::Count(self.count)),
            (FARPOINT_RATIO, Amount::Ratio(self.ratio)),
            (FARPOINT_SPACING, Amount::Spacing(self.spacing)),
            (FARPOINT_ALL, Amount::All),
        ];
        let amount = super::nonzero(lookup(self.amount, "amount", &amounts)?)?;
        // SAFETY: by this function's contract.
        let (start, algorithm) = unsafe {
            let start = super::start(self.starts, self.start_count, self.random_start, self.seed)?;
            (start, super::algorithm(self.algorithm)?)
        };
        let mut job = Sampler::new(amount).algorithm(algorithm).non_finite(non_finite);
        job = job.partial(self.partial != 0);
        if self.deadline != 0.0 {
            job = job.deadline(Duration::try_from_secs_f64(self.deadline).map_err(|_| {
                invalid(format!(
                    "deadline is {:?}; use seconds above 0, or 0 for none",
                    self.deadline
                ))
            })?);
        }
        Ok(match start {
            None => job,
            Some(start) => job.start(start),
        })
    }

    /// Returns the selected rows.
    pub(crate) fn row_selection(&self) -> RowSelection {
        RowSelection { rows: self.rows, row_count: self.row_count, mask: self.mask }
    }
}
