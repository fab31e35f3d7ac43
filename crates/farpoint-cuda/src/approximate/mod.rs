//! Approximate samplers on a GPU: [`farpoint::approximate::Method::FastPoint`].
//!
//! `run` takes jobs on clouds in host memory, [`Gpu::enqueue_approximate`](crate::Gpu::enqueue_approximate) clouds in
//! device memory. Both end in `fastpoint`; `plan` is the layout of scratch memory.

mod fastpoint;
mod plan;
mod pointers;
mod run;

pub use pointers::DeviceApproximate;
