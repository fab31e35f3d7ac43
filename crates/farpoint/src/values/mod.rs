//! Operators on the values of points: rows of channels that are gathered, reduced and interpolated by
//! the indices of a search ([`crate::Searcher`]).
//!
//! | operator | of row `m`, channel `c` | gradients |
//! |---|---|---|
//! | [`gather()`] | `values[i[m, j], c]` for each `j` | [`gather_backward`] |
//! | [`gather_max()`] | the largest of `values[i[m, j], c] + add[m, j, c]` over `j` | [`gather_max_backward`] |
//! | [`interpolate()`] | the sum of `weights[m, j] * values[i[m, j], c]` over `j` | [`interpolate_backward`], [`interpolate_weights_backward`] |
//! | [`inverse_distance_weights`] | the weights of `interpolate` from distances | [`inverse_distance_weights_backward`] |
//!
//! # Shapes
//! All arrays are dense, channels last; [`ValueShape`] has their sizes. Indices count from the first row
//! of their own cloud. A ragged batch is one cloud, whose indices count rows of the whole.
//!
//! # Rules
//! * Index -1 ([`RowIndex`]) names no row: `gather` gives zeros, the others leave it out. Any other index
//!   outside the cloud is an error.
//! * Every operation is rounded separately, in the type of the values, and every sum starts at 0 and has
//!   a fixed order: over `j` ascending; gradients of values by ascending flat place `m * k + j`; over
//!   channels 32 partial sums (of `c` mod 32, ascending), whose halves are added until one is left.
//! * So every number of threads, and every device, gives the bits of [`mod@reference`].
//!
//! Each operator is a file; `shape` checks their arguments, `parts` spreads rows over threads.

mod gather;
mod gather_max;
mod interpolate;
mod parts;
pub mod reference;
mod shape;
mod weights;

pub use gather::{gather, gather_backward};
pub use gather_max::{GatherMax, GatherMaxGradients, gather_max, gather_max_backward};
pub use interpolate::{interpolate, interpolate_backward, interpolate_weights_backward};
pub use shape::{RowIndex, ValueShape};
pub use weights::{InverseDistance, inverse_distance_weights, inverse_distance_weights_backward};
