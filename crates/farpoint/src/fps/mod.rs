//! Farthest point sampling on the CPU: one file per algorithm.
//!
//! `run` checks a [`crate::Sampler`] and starts an algorithm, the algorithm offers its choices in
//! order to `selection`, and the result is a [`crate::Sample`]. Algorithms use
//! `crate::simd` for vectors and `crate::spatial` for structures, never each other, except for
//! `peak`, which takes its first samples through `tree`.

mod auto;
pub(crate) mod batch;
mod checks;
mod naive;
mod peak;
pub(crate) mod prepared;
mod radius;
mod reference;
pub(crate) mod run;
pub(crate) mod selection;
#[cfg(test)]
mod tests;
mod tree;
