//! Nearest neighbors between two clouds, the Chamfer distance and what else follows from them.
//!
//! [`Matcher`] says what is wanted, `prepared` checks it, `run` starts a search, and [`Nearest`] (one
//! direction) or [`Chamfer`] (both) comes back: for each point the distance to its nearest
//! neighbor in the other cloud and that neighbor's index. Means, maxima and shares within a
//! threshold are read off those; [`backward()`] sends gradients the other way.
//!
//! * Distances are computed as in sampling: `(dx*dx + dy*dy) + dz*dz`, further axes appended,
//!   each operation rounded on its own in the input's precision. They stay squared unless a
//!   method's name or text says otherwise. With [`Norm::One`] they are `(|dx| + |dy|) + |dz|`.
//! * Among equally near points the lowest index counts.
//! * Every method, instruction set and thread count gives the bits of [`reference()`]; sums have a
//!   fixed order ([`total`]), so that means and gradients are the same bits on every run, too, and
//!   on every device.
//!
//! Searches use `crate::arch` for vectors and `crate::spatial` for structures, never each other.

mod auto;
mod backward;
mod batch;
mod block;
mod brute;
mod matcher;
mod metric;
mod prepared;
mod reduce;
mod reference;
mod result;
pub(crate) mod run;
mod tree;
pub(crate) mod watch;

#[doc(hidden)]
pub use backward::check as check_backward;
pub use backward::{Gradients, backward};
pub use batch::padded_rows;
pub use matcher::{Matcher, Method, Norm, chamfer, nearest};
#[doc(hidden)]
pub use prepared::Prepared;
pub use reduce::{Reduced, Reduction, reduce, total};
pub use reference::reference;
pub use result::{Chamfer, FScore, Nearest};
