//! Options of approximate samplers.

use crate::arguments::{lookup, number};
use crate::constants::*;
use crate::options::farpoint_run_options;
use crate::points::RowSelection;
use crate::status::Failure;
use farpoint::approximate::{Keep, Method};
use farpoint::{Amount, ApproximateSampler, NonFinite};
use std::mem::MaybeUninit;

/// Options of an approximate sampler. The number of points must be set: a `count` or `ratio` of 0 is
/// FARPOINT_INVALID_ARGUMENT, and so are members of another method.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_approximate_options {
    /// `sizeof(farpoint_approximate_options)`: gives the library the caller's version.
    pub size: usize,
    /// Threads and more; the device is the CPU. NULL: on all threads, with the defaults.
    pub run: *const farpoint_run_options,
    /// FARPOINT_METHOD_RANDOM or FARPOINT_METHOD_GRID.
    pub method: MaybeUninit<farpoint_approximate_method>,
    /// Amount: FARPOINT_COUNT, FARPOINT_RATIO, FARPOINT_ALL, or FARPOINT_CELL.
    pub amount: MaybeUninit<farpoint_amount>,
    /// Points, at least 1, with FARPOINT_COUNT.
    pub count: usize,
    /// Share of the points, above 0 and up to 1, with FARPOINT_RATIO.
    pub ratio: f64,
    /// Size of a cell in the unit of the coordinates, with FARPOINT_CELL.
    pub cell: f64,
    /// The seed of FARPOINT_METHOD_RANDOM and FARPOINT_KEEP_RANDOM.
    pub method_seed: u64,
    /// Point of a cell that FARPOINT_METHOD_GRID keeps: FARPOINT_KEEP_CENTER or another.
    pub keep: MaybeUninit<farpoint_keep>,
    /// Rows of the cloud to sample, as in farpoint_sample_options. NULL: all rows.
    pub rows: *const usize,
    /// Number of `rows`.
    pub row_count: usize,
    /// One byte per point, as in farpoint_sample_options. NULL: all rows.
    pub mask: *const u8,
}

super::options!(farpoint_approximate_options, last: mask);

impl farpoint_approximate_options {
    /// Returns the sampler.
    ///
    /// # Errors
    /// If a number is unknown, or a member is not the method's.
    pub(crate) fn job(&self, non_finite: NonFinite) -> Result<ApproximateSampler, Failure> {
        let method = self.method()?;
        let used: &[_] = match method {
            Method::Grid { .. } => &["keep", "method_seed"],
            _ => &["method_seed"],
        };
        self.refuse_unused(method.name(), used)?;
        Ok(ApproximateSampler::new(method, self.amount()?).non_finite(non_finite))
    }

    /// Returns the sampler for centroids.
    ///
    /// # Errors
    /// If the amount is unknown, or a member of a method is set.
    pub(crate) fn centroids(&self, non_finite: NonFinite) -> Result<ApproximateSampler, Failure> {
        self.refuse_unused("a mean", &[])?;
        let grid = Method::Grid { keep: Keep::Center };
        Ok(ApproximateSampler::new(grid, self.amount()?).non_finite(non_finite))
    }

    /// Refuses members that only other methods have.
    fn refuse_unused(&self, method: &str, used: &[&str]) -> Result<(), Failure> {
        let members = [("method_seed", self.method_seed != 0), ("keep", number(self.keep) != 0)];
        super::refuse_unused(method, used, &members)
    }

    /// Returns the selected rows.
    pub(crate) fn row_selection(&self) -> RowSelection {
        RowSelection { rows: self.rows, row_count: self.row_count, mask: self.mask }
    }

    fn amount(&self) -> Result<Amount, Failure> {
        let amounts = [
            (FARPOINT_COUNT, Amount::Count(self.count)),
            (FARPOINT_RATIO, Amount::Ratio(self.ratio)),
            (FARPOINT_ALL, Amount::All),
            (FARPOINT_CELL, Amount::Cell(self.cell)),
        ];
        super::nonzero(lookup(self.amount, "amount", &amounts)?)
    }

    fn method(&self) -> Result<Method, Failure> {
        let methods = [
            (FARPOINT_METHOD_RANDOM, Method::Random { seed: self.method_seed }),
            (FARPOINT_METHOD_GRID, Method::Grid { keep: self.keep()? }),
        ];
        lookup(self.method, "method", &methods)
    }

    fn keep(&self) -> Result<Keep, Failure> {
        let kept = [
            (FARPOINT_KEEP_CENTER, Keep::Center),
            (FARPOINT_KEEP_FIRST, Keep::First),
            (FARPOINT_KEEP_RANDOM, Keep::Random(self.method_seed)),
        ];
        lookup(self.keep, "keep", &kept)
    }
}
