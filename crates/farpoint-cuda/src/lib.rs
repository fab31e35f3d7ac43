//! Exact farthest point sampling and nearest points on NVIDIA GPUs: the results of [`farpoint`], bit
//! by bit.
//!
//! ```
//! use farpoint_cuda::{Gpu, Sampler};
//!
//! let cloud: Vec<[f32; 3]> = (0..1000).map(|i| [i as f32, (i * i % 97) as f32, 0.0]).collect();
//! match Gpu::new(0) {
//!     Ok(gpu) => println!("{:?}", Sampler::ratio(0.25).sample(&gpu, &cloud)?.indices),
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), farpoint_cuda::Error>(())
//! ```
//!
//! # What it takes
//! To build: nothing. The kernels are in the crate as machine code, and as PTX for cards that are
//! not known yet; no CUDA toolkit is looked for.
//! To run: a driver of CUDA 12.4 or later and a card of compute capability 7.5 or later. The
//! driver is looked for when the program runs; without one, everything that needs it is an
//! [`Error::Unavailable`] that says why.
//!
//! # What exact means
//! The rules of [`farpoint`], to the bit: same order of operations, nothing fused, ties to the
//! lowest index. Algorithm, card and batch never change a result.
//!
//! # Nearest points
//! [`Matcher`] finds them between two clouds, with the Chamfer distance, all that follows from it and
//! its gradients; see [`neighbors`]. It has the same ways in.
//!
//! # Three ways in
//! * [`Sampler::sample`] and its like take clouds in host memory and copy them.
//! * [`Sampler::sample_across`] spreads the clouds of a batch over several devices.
//! * [`Sampler::enqueue`] takes addresses of device memory, PyTorch's for example, queues its
//!   work on the caller's [`Stream`] and returns; CUDA graphs can capture it.
//!
//! # Nothing hangs
//! Where blocks of a kernel wait for each other, they give up after [`Gpu::patience`]: an
//! [`Error::GaveUp`], and the next call works. After [`Sampler::enqueue`], [`Stream::check`] tells.

mod archive;
mod driver;
mod error;
mod event;
pub mod fps;
mod gpu;
mod graph;
mod guard;
mod input;
mod launch;
mod memory;
mod module;
pub mod neighbors;
mod once;
mod properties;
mod scalar;
mod statistics;
mod stream;
mod team;

pub use driver::{available, device_count, device_of};
pub use error::{CudaUnavailable, Error};
pub use event::Event;
pub use farpoint::{Amount, BadRows, Norm, Points, Start};
pub use fps::{
    Algorithm, DeviceBatch, PeakOptions, RadiusOptions, Sample, Sampler, check_bad, roots,
};
pub use gpu::Gpu;
pub use graph::Graph;
pub use memory::{Buffer, Element};
pub use module::Loaded;
pub use neighbors::{
    DeviceGradients, DevicePairs, DeviceSide, DeviceValues, Matcher, ValueGradient,
};
pub use properties::Properties;
pub use scalar::CudaScalar;
pub use statistics::Statistics;
pub use stream::Stream;
/// Their former names, until all callers are adapted.
#[doc(hidden)]
pub use {gpu::Gpu as Device, neighbors as chamfer};
