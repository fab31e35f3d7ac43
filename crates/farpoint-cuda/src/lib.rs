//! Exact farthest point sampling, neighbors and point operators on NVIDIA GPUs: the results of [`farpoint`], bit
//! for bit.
//!
//! A [`Gpu`] is a device of [`farpoint`]: it supports the jobs of the CPU and returns the same types.
//!
//! ```
//! use farpoint::Sampler;
//! use farpoint_cuda::Gpu;
//!
//! let cloud: Vec<[f32; 3]> = (0..1000).map(|i| [i as f32, (i * i % 97) as f32, 0.0]).collect();
//! let job = Sampler::ratio(0.25);
//! match Gpu::new(0) {
//!     Ok(gpu) => assert_eq!(job.on(&gpu).sample(&cloud)?.indices, job.sample(&cloud)?.indices),
//!     Err(error) => println!("no GPU: {error}"),
//! }
//! # Ok::<(), farpoint_cuda::Error>(())
//! ```
//!
//! # Requirements
//! To build: none. The kernels are in the crate as machine code, and as PTX for later cards; no CUDA
//! toolkit is needed.
//! To run: a driver of CUDA 12.4 or later and a card of compute capability 7.5 or later. The driver is
//! loaded when the program runs; without one, everything that needs it returns an
//! [`Error::Unavailable`] with the reason.
//!
//! # What exact means
//! The rules of [`farpoint`], to the bit: same order of operations, nothing fused, ties to the
//! lowest index. Algorithm, card and batch never change a result.
//!
//! # Three interfaces
//! * [`farpoint::Sampler::on`] and [`farpoint::Matcher::on`] take clouds in host memory and copy them.
//! * [`Gpus`] instead spreads the clouds of a batch over several GPUs, and shares a single large one among them.
//! * [`Gpu::enqueue_sample`] and [`Gpu::enqueue_nearest`] take addresses of device memory, PyTorch's for example,
//!   queue their work on the caller's [`Stream`] and return; CUDA graphs can capture them. [`Gpu::enqueue_values`]
//!   and [`Gpu::enqueue_gradients`] continue from nearest points. [`Gpu::enqueue_search`] finds several neighbors,
//!   [`Gpu::enqueue_gather`] and others are the operators on values, [`Gpu::enqueue_voxels`] downsamples by voxels.
//!
//! # Progress
//! An observer ([`farpoint::On::observe`]) is called before each launch and when its kernels are
//! done; in between only by [`farpoint::Algorithm::Radius`], every few hundred samples. It can cancel
//! the run at each of these calls.
//!
//! # Timeouts
//! If blocks of a kernel wait for each other in vain, they give up after [`Gpu::patience`]: an
//! [`Error::GaveUp`], and the next call works. After [`Gpu::enqueue_sample`] and the like,
//! [`Stream::check`] returns it.

mod archive;
#[doc(hidden)]
pub mod backend;
mod context;
mod device;
mod driver;
mod error;
mod event;
pub mod fps;
mod gpu;
mod gpus;
mod graph;
mod guard;
mod host;
mod input;
mod launch;
mod memory;
mod module;
pub mod neighbors;
mod once;
mod pages;
mod placement;
mod progress;
mod properties;
mod scalar;
pub mod search;
#[cfg(test)]
mod source;
mod stream;
mod team;
pub mod values;
pub mod voxels;
mod watch;

#[doc(hidden)]
pub use driver::sys;
pub use driver::{available, device_count, device_of};
pub use error::{CudaUnavailable, Error};
pub use event::Event;
pub use fps::{DeviceBatch, find_non_finite, roots};
pub use gpu::Gpu;
pub use gpus::Gpus;
pub use graph::Graph;
pub use memory::Buffer;
pub use module::Loaded;
pub use neighbors::{DeviceGradients, DevicePairs, DeviceSide, DeviceValues, ValueGradient};
pub use placement::Placement;
pub use properties::Properties;
pub use scalar::{CudaScalar, Element};
pub use search::{DeviceClouds, DeviceIndex, DeviceSearch, DeviceSearchGradients, DeviceWithin};
pub use stream::Stream;
pub use values::{
    DeviceGatherMaxGradients, DeviceInterpolateGradients, DeviceRows, GradientMemory, IndexKind,
    ValueKind,
};
pub use voxels::{DeviceVoxelPoints, DeviceVoxels, VoxelSummary};

/// Examples of the README, tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
