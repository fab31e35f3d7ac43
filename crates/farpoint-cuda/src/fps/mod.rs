//! Farthest point sampling on a GPU, one file per algorithm.
//!
//! `run` takes jobs on clouds in host memory: it checks them as the CPU library does, copies the clouds
//! to the GPU and the result back. [`Gpu::enqueue_sample`](crate::Gpu::enqueue_sample) takes clouds in
//! device memory. Both end in `algorithm`, which starts one of the algorithms. Each of these offers
//!
//! * `scratch_bytes(gpu, shape)`: the device memory it needs besides input and result;
//! * `enqueue(gpu, stream, batch, shape, scratch)`: queues its kernels and returns.

pub(crate) mod algorithm;
mod auto;
pub(crate) mod batch;
mod check;
mod naive;
pub(crate) mod peak;
mod persistent;
pub(crate) mod pointers;
mod radius;
mod roots;
pub(crate) mod run;
mod span;

pub use auto::is_worthwhile;
pub use check::find_non_finite;
pub use pointers::DeviceBatch;
pub use roots::roots;
