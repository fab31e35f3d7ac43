//! Jobs: descriptions of work, independent of the device that runs it.
//!
//! A [`Sampler`] or [`Matcher`] is a plain value. [`Sampler::on`] and [`Matcher::on`] name the
//! [`crate::Device`] that does the work; every device gives the same result. Algorithms, their
//! options and names are defined here once: the command line and the Python package read them from
//! [`Algorithm::ALL`], [`Algorithm::OPTIONS`] and `FromStr`.

mod algorithm;
mod amount;
mod matcher;
mod method;
mod options;
mod progress;
mod sampler;
mod searcher;
mod voxel_grid;

pub use algorithm::Algorithm;
pub use amount::Amount;
pub use matcher::Matcher;
pub use method::{Method, Norm};
pub use options::{AlgorithmOption, PeakOptions, RadiusOptions};
pub use progress::{Observer, Progress};
pub use sampler::{NonFinite, Sampler, Start};
pub use searcher::{Ball, Order, Searcher};
pub use voxel_grid::{Origin, Reduce, VoxelGrid};
