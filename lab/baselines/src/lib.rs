//! Samplers that the RadiusFPS paper compares with, deterministic: QuickFPS (exact), EdgePC's Morton curve, NPDU and
//! FastPoint (approximate). On the CPU all of them, on a GPU QuickFPS and FastPoint, with the same results.
//!
//! They are built over `farpoint`: clouds are copied and checked as there, with the same errors in the same words. What
//! they are and how they compare: README.md.

mod c;
mod cpu;
mod fastpoint;
pub mod gpu;
mod maxima;
mod method;
mod morton;
mod npdu;
mod quick;
mod run;

pub use c::{Request, farpoint_baselines_error, farpoint_baselines_sample};
pub use cpu::sample;
pub use fastpoint::Details as FastPointDetails;
pub use method::{Estimator, First, Job, Method, Order};

/// Internals for training the estimator of FastPoint.
pub mod estimator {
    pub use super::fastpoint::{INPUTS, Network, OUTPUTS, fitted, inputs, predicted};
}

use farpoint::Statistics;

/// A sample, and what its method knows of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<T> {
    /// Rows of the input, all different, in order of choice; along the curve for [`Method::Morton`].
    pub indices: Vec<usize>,
    /// Squared selection distances of [`Method::Quick`], and the squared covering radius after them.
    pub squared_distances: Vec<T>,
    /// Points per window of [`Method::Npdu`].
    pub window: Option<usize>,
    /// Properties of a sample by [`Method::FastPoint`].
    pub fastpoint: Option<FastPointDetails>,
    /// Number of rows left out because they hold NaN or infinity.
    pub dropped: usize,
    /// Counted work.
    pub statistics: Statistics,
}
