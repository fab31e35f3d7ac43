//! Samplers other than farthest point sampling: their results have a
//! type of their own, [`ApproximateSample`], and state their guarantees.
//!
//! | method | order needed | points | source |
//! |---|---|---|---|
//! | [`Method::Random`] | no | exactly M | - |
//! | [`Method::Grid`] | no | exactly M, or one per cell of a size | - |
//! | [`Method::Morton`] | no | exactly M | EdgePC, Ying et al., ISCA 2023 |
//! | [`Method::Npdu`] | with [`Order::Input`] | exactly M | Li et al., 2022 |
//! | [`Method::FastPoint`] | no | exactly M | FastPoint, ICCV 2025 |
//!
//! All return the same on every run, machine and number of threads ([`Method::traits`]). Non-finite rows
//! and invalid numbers are treated as by [`crate::Sampler`]: the same errors, in the same
//! words. M = 0 returns an empty sample. Progress is reported and runs are canceled as there.
//!
//! This module uses `fps` (its checks, and its samples as FastPoint's first) and `spatial`; they do
//! not use it.

mod device;
mod fastpoint;
mod frame;
mod grid;
mod maxima;
mod morton;
mod npdu;
mod random;
mod run;
mod sampler;
mod watch;
mod work;

pub use device::ApproximateDevice;
pub use fastpoint::FastPointDetails;
/// Internals for training the estimator of FastPoint.
#[doc(hidden)]
pub mod estimator {
    pub use super::fastpoint::{INPUTS, Network, OUTPUTS, fitted, inputs, predicted};
}
pub use grid::Centroids;
pub use sampler::{ApproximateSample, ApproximateSampler, Details, Estimator, Keep, Method, Order};
