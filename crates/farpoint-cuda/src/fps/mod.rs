//! Farthest point sampling on a GPU: one interface, one file an algorithm.
//!
//! [`Sampler`] says what is wanted; `run` checks it as the CPU library does, copies the clouds
//! to the device and the answer back; `pointers` takes clouds that are there already. Both end
//! in `algorithm`, which starts one of the algorithms. Each of these offers
//!
//! * `scratch_bytes(device, shape)`: device memory it needs besides input and answer;
//! * `enqueue(device, stream, batch, shape, scratch)`: queues its kernels and returns.

mod across;
mod algorithm;
mod auto;
mod batch;
mod check;
mod naive;
mod peak;
mod persistent;
mod pointers;
mod radius;
mod roots;
mod run;
mod sampler;

pub use algorithm::Algorithm;
pub use auto::pays;
pub use check::check_bad;
pub use peak::PeakOptions;
pub use pointers::DeviceBatch;
pub use roots::roots;
pub use sampler::{RadiusOptions, Sample, Sampler};
