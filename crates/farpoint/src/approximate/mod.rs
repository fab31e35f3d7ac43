//! Samplers other than farthest point sampling: their results have a
//! type of their own, [`ApproximateSample`], and state their guarantees.
//!
//! | method | points | source |
//! |---|---|---|
//! | [`Method::Random`] | exactly M | - |
//! | [`Method::Grid`] | exactly M, or one per cell of a size | - |
//!
//! Both return the same on every run, machine and number of threads. Non-finite rows
//! and invalid numbers are treated as by [`crate::Sampler`]: the same errors, in the same
//! words. M = 0 returns an empty sample. Progress is reported and runs are canceled as there.
//!
//! This module uses `fps` (its checks); `fps` does not use it.

mod device;
mod grid;
mod random;
mod run;
mod sampler;
mod watch;

pub use grid::Centroids;
pub use sampler::{ApproximateSample, ApproximateSampler, Details, Keep, Method};
