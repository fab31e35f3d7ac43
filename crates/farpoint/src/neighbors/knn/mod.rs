//! Several neighbors of each point: the k nearest, or those within a ball.
//!
//! A search collects for each query the keys of candidates. A key holds distance and index, so that one
//! comparison decides between two, and among equals the lower index counts. However the
//! candidates are found, the best keys are the same; `reference` is the straightforward loop.

pub(crate) mod backward;
mod best;
mod found;
mod group;
mod limits;
mod output;
mod pending;
mod reference;
pub(crate) mod run;
mod seed;

pub use found::Found;
pub use limits::Limits;
