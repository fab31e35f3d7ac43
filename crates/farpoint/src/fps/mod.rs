//! Farthest point sampling: one interface, one file an algorithm.
//!
//! [`Sampler`] says what is wanted, `run` checks it and starts an algorithm, the algorithm
//! offers its choices in order to `selection`, and a [`Sample`] comes back. Algorithms use
//! `crate::arch` for vectors and `crate::spatial` for structures, never each other, but for
//! `peak`, which takes its first samples through `tree`.

mod auto;
mod batch;
mod naive;
mod peak;
mod prepared;
mod quick;
mod radius;
mod reference;
pub(crate) mod run;
mod sampler;
pub(crate) mod selection;
mod statistics;
mod tree;

#[doc(hidden)]
pub use prepared::Prepared;
pub use reference::reference;
pub use sampler::{
    Algorithm, Amount, BadRows, Observer, Progress, QuickOptions, RadiusOptions, Sample, Sampler,
    Start,
};
pub use statistics::{Stages, Statistics};
