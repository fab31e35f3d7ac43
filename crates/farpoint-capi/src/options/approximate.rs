//! Options of approximate samplers.

use crate::arguments::{lookup, number};
use crate::constants::*;
use crate::options::farpoint_run_options;
use crate::points::RowSelection;
use crate::status::{Failure, invalid};
use farpoint::approximate::{Estimator, Keep, Method, Order};
use farpoint::{Amount, ApproximateSampler, NonFinite};
use std::ffi::c_char;
use std::mem::MaybeUninit;

/// Options of an approximate sampler. The number of points must be set: a `count` or `ratio` of 0 is
/// FARPOINT_INVALID_ARGUMENT, and so are members of another method.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_approximate_options {
    /// `sizeof(farpoint_approximate_options)`: gives the library the caller's version.
    pub size: usize,
    /// Device, threads and more. NULL: on all threads of the CPU, with the defaults.
    pub run: *const farpoint_run_options,
    /// FARPOINT_METHOD_RANDOM or another.
    pub method: MaybeUninit<farpoint_approximate_method>,
    /// Amount: FARPOINT_COUNT, FARPOINT_RATIO, FARPOINT_ALL, or FARPOINT_CELL.
    pub amount: MaybeUninit<farpoint_amount>,
    /// Points, at least 1, with FARPOINT_COUNT.
    pub count: usize,
    /// Share of the points, above 0 and up to 1, with FARPOINT_RATIO.
    pub ratio: f64,
    /// Size of a cell in the unit of the coordinates, with FARPOINT_CELL.
    pub cell: f64,
    /// Rows to start from, for FARPOINT_METHOD_NPDU and FARPOINT_METHOD_FASTPOINT. NULL: the first
    /// usable row.
    pub starts: *const usize,
    /// Number of `starts`.
    pub start_count: usize,
    /// The seed of `random_start`.
    pub seed: u64,
    /// The seed of FARPOINT_METHOD_RANDOM and FARPOINT_KEEP_RANDOM.
    pub method_seed: u64,
    /// Not 0 to start at a point drawn by `seed`.
    pub random_start: i32,
    /// Point of a cell that FARPOINT_METHOD_GRID keeps: FARPOINT_KEEP_CENTER or another.
    pub keep: MaybeUninit<farpoint_keep>,
    /// Order of the windows of FARPOINT_METHOD_NPDU: FARPOINT_WINDOW_INPUT or another.
    pub window_order: MaybeUninit<farpoint_window_order>,
    /// Prediction of FARPOINT_METHOD_FASTPOINT: FARPOINT_ESTIMATOR_NETWORK or another.
    pub estimator: MaybeUninit<farpoint_estimator>,
    /// Points of a window of FARPOINT_METHOD_NPDU; 0: 16 times the points per sample.
    pub window: usize,
    /// Bits per axis of FARPOINT_METHOD_MORTON, 1 to 21; 0: 10.
    pub bits: usize,
    /// The exact algorithm that FARPOINT_METHOD_FASTPOINT begins with, as in farpoint_sample_options.
    pub algorithm: *const c_char,
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
    /// # Safety
    /// Starts and algorithm are as the header says.
    ///
    /// # Errors
    /// If a number or a text is unknown, or a member is not the method's.
    pub(crate) unsafe fn job(&self, non_finite: NonFinite) -> Result<ApproximateSampler, Failure> {
        // SAFETY: by this function's contract.
        let (method, start) = unsafe {
            let start = super::start(self.starts, self.start_count, self.random_start, self.seed)?;
            (self.method()?, start)
        };
        self.refuse_unused(
            method.name(),
            match &method {
                Method::Random { .. } => &["method_seed"],
                Method::Grid { .. } => &["keep", "method_seed"],
                Method::Morton { .. } => &["bits"],
                Method::Npdu { .. } => &["window", "window_order", "starts", "random_start"],
                _ => &["estimator", "algorithm", "starts", "random_start"],
            },
        )?;
        let job = ApproximateSampler::new(method, self.amount()?).non_finite(non_finite);
        Ok(match start {
            None => job,
            Some(start) => job.start(start),
        })
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
        let members = [
            ("starts", self.start_count != 0),
            ("random_start", self.random_start != 0),
            ("method_seed", self.method_seed != 0),
            ("keep", number(self.keep) != 0),
            ("window_order", number(self.window_order) != 0),
            ("estimator", number(self.estimator) != 0),
            ("window", self.window != 0),
            ("bits", self.bits != 0),
            ("algorithm", !self.algorithm.is_null()),
        ];
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

    /// # Safety
    /// The algorithm is as the header says.
    unsafe fn method(&self) -> Result<Method, Failure> {
        let bits = match self.bits {
            0 => 10,
            bits => u32::try_from(bits)
                .map_err(|_| invalid(format!("bits is {bits}; use 1 to 21, or 0 for 10")))?,
        };
        let window = (self.window > 0).then_some(self.window);
        let (keep, order, estimator) = (self.keep()?, self.order()?, self.estimator()?);
        // SAFETY: by this function's contract.
        let first = unsafe { super::algorithm(self.algorithm) }?;
        let methods = [
            (FARPOINT_METHOD_RANDOM, Method::Random { seed: self.method_seed }),
            (FARPOINT_METHOD_GRID, Method::Grid { keep }),
            (FARPOINT_METHOD_MORTON, Method::Morton { bits }),
            (FARPOINT_METHOD_NPDU, Method::Npdu { window, order }),
            (FARPOINT_METHOD_FASTPOINT, Method::FastPoint { first, estimator }),
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

    fn order(&self) -> Result<Order, Failure> {
        let orders = [
            (FARPOINT_WINDOW_INPUT, Order::Input),
            (FARPOINT_WINDOW_MORTON, Order::Morton),
            (FARPOINT_WINDOW_NEIGHBORS, Order::Neighbors),
        ];
        lookup(self.window_order, "window_order", &orders)
    }

    fn estimator(&self) -> Result<Estimator, Failure> {
        let estimators = [
            (FARPOINT_ESTIMATOR_NETWORK, Estimator::Network),
            (FARPOINT_ESTIMATOR_FIT, Estimator::Fit),
        ];
        lookup(self.estimator, "estimator", &estimators)
    }
}
