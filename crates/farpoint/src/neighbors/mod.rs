//! Nearest neighbors between two clouds, the Chamfer distance and measures derived from them.
//!
//! A [`crate::Matcher`] has the options, `prepared` checks it, `start` starts a search, and the result is
//! [`crate::Nearest`] (one direction) or [`crate::Chamfer`] (both): for each point the
//! distance to its nearest neighbor in the other cloud and that neighbor's index. Means, maxima and
//! shares within a threshold follow from those; [`backward()`] computes gradients, [`reduce()`] one
//! value per pair of clouds.
//!
//! * Distances are computed as in sampling: `(dx*dx + dy*dy) + dz*dz`, further axes appended,
//!   each operation rounded separately in the input's precision. They stay squared unless a
//!   method's name or text says otherwise. With [`crate::Norm::One`] they are `(|dx| + |dy|) + |dz|`.
//! * Among equally near points the lowest index counts.
//! * Every method, instruction set and thread count gives the bits of [`reference()`]; sums have a
//!   fixed order (docs/chamfer.md), so that means and gradients are the same bits on every run, too, and
//!   on every device.
//!
//! [`crate::Searcher`] finds several neighbors of each point, in `knn`, by the same means.
//!
//! Searches use `crate::simd` for vectors and `crate::spatial` for structures, never each other.

mod auto;
pub(crate) mod backward;
mod block;
mod brute;
mod descent;
mod gather;
mod gradients;
mod index;
pub(crate) mod knn;
mod metric;
mod nearest;
mod output;
mod pair;
pub(crate) mod prepared;
mod reduce;
mod reference;
pub(crate) mod run;
mod search;
pub(crate) mod start;
mod tree;
mod work;

pub use backward::backward;
pub use index::Index;
pub use knn::backward::{search_backward, within_backward};
pub use reduce::{Reduced, Reduction, reduce};
pub use run::reference;
