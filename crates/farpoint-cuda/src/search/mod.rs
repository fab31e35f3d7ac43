//! Several neighbors of each point on a GPU: the k nearest, or those in a ball; one file per method.
//!
//! `run` takes jobs on clouds in host memory, [`Gpu::enqueue_search`](crate::Gpu::enqueue_search) clouds in device
//! memory. Both end in `method`, which starts one of
//!
//! * `plain`: a thread per query, one scan of all points per neighbor: the baseline;
//! * `brute`: all pairs, a warp per query;
//! * `tree`: a warp per query through a box tree over `y`, which `index` builds; it can be kept and reused.
//!
//! `within` finds all neighbors in a ball, in two passes; `backward` has the gradients of the distances. The callers'
//! input is in `clouds`, `request` and `gradients`.

mod auto;
mod backward;
mod clouds;
mod gradients;
pub(crate) mod index;
mod method;
mod parameter;
mod pointers;
mod request;
pub(crate) mod run;
mod sorted;
mod tree;
mod within;

pub use clouds::DeviceClouds;
pub use gradients::DeviceSearchGradients;
pub use index::DeviceIndex;
pub use request::DeviceSearch;
pub use within::DeviceWithin;
