//! Exact farthest point sampling of point clouds, thousands of choices at a time.
//!
//! Farthest point sampling (FPS) starts at one point and then repeatedly takes the point
//! farthest from all those taken: an even subset of which every prefix is an even subset.
//!
//! ```
//! use farpoint::Sampler;
//!
//! let cloud: Vec<[f32; 3]> = (0..1000).map(|i| [i as f32, (i * i % 97) as f32, 0.0]).collect();
//! let sample = Sampler::count(100).sample(&cloud)?;
//! assert_eq!(sample.indices.len(), 100);
//! println!("every point is within {} of a sample", sample.covering_radius());
//! # Ok::<(), farpoint::Error>(())
//! ```
//!
//! [`chamfer()`] measures how far apart two clouds are: see [`neighbors`]. Samplers that are not
//! exact have an interface of their own: see [`approximate`]. [`measure`] compares samples. [`VoxelGrid`]
//! downsamples by the cells of a grid: see [`voxels`].
//!
//! # What exact means
//!
//! * The squared distance is computed as `(dx*dx + dy*dy) + dz*dz`, further dimensions
//!   appended left to right, each operation rounded separately in the input's precision.
//! * The next sample is the point with the largest distance to those chosen; among equals
//!   the lowest index. A chosen point is never chosen again: `m` indices are `m` different
//!   ones, duplicates of chosen points following last in index order.
//! * The first distance is infinite. Squares that overflow to infinity (coordinates beyond
//!   about 1e19 in `f32`) are ties like any others.
//! * No point is skipped, near the origin or elsewhere. NaN and infinity in a row are an
//!   error, or the row is left out with [`NonFinite::Skip`].
//!
//! Every algorithm, instruction set and thread count gives the indices of [`reference()`],
//! one by one.
//!
//! # Jobs and devices
//!
//! A job ([`Sampler`], [`Matcher`], [`Searcher`]) describes the work, a [`Device`] runs it:
//! [`Cpu`] with its threads and instruction set, or a GPU of the crate `farpoint-cuda`. All return the same
//! [`Sample`], [`Nearest`], [`Chamfer`], [`Neighbors`] or [`WithinBall`], bit for bit.
//!
//! # Features
//!
//! `rayon` (default): several threads. Without it all work is done by the calling thread, on any target
//! with a standard library, `wasm32-unknown-unknown` among them.
//!
//! # Threads, memory, forks
//!
//! Unless [`Cpu::threads`] is set, work runs on the current rayon pool (`ThreadOptions` sets names, processors and
//! scheduling of the global one); clouds of fewer than 16,384
//! points are sampled by the calling thread and start no pool. A process that was forked after a call has the
//! parent's pool but none of its threads; there, work runs on a pool that is made after the fork.
//!
//! The process keeps up to 64 MiB of working memory for later runs, on any thread, since fresh pages cost a tenth of
//! the time of a LiDAR turn. [`set_kept_memory`] sets another limit, [`trim_memory`] frees all of it; threads keep
//! nothing. [`On::sample_into`] uses the memory of an earlier result, too.
//!
//! If there is no memory for an array as long as the input or the output, the result is
//! [`Error::OutOfMemory`] and all that was allocated is freed; programs compiled with `panic = "abort"` end. If the
//! system refuses threads, fewer do the work.

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod approximate;
#[doc(hidden)]
pub mod backend;
mod clock;
mod cloud;
mod cpu;
mod device;
mod distance;
mod error;
mod fps;
mod job;
mod machine;
pub mod measure;
mod memory;
pub mod neighbors;
mod parse;
mod points;
mod random;
mod result;
mod scalar;
mod simd;
mod spatial;
mod sum;
mod threads;
mod unwind;
pub mod values;
pub mod voxels;
mod watch;

pub use approximate::{ApproximateSample, ApproximateSampler};
pub use cpu::Cpu;
pub use device::{Device, On, chamfer, nearest, reference};
pub use error::Error;
pub use job::{
    Algorithm, AlgorithmOption, Amount, Ball, Matcher, Method, NonFinite, Norm, Observer, Order,
    Origin, PeakOptions, Progress, RadiusOptions, Reduce, Sampler, Searcher, Start, VoxelGrid,
};
pub use machine::{DeviceKind, Level};
pub use memory::{set_kept_memory, trim_memory};
pub use neighbors::Index;
pub use parse::ParseError;
pub use points::{Axes, Points, RawLayout, RawPoints, Selected, Strided, Subset, padded, ragged};
pub use result::{
    Bytes, Chamfer, FScore, Gradients, Measured, Nearest, Neighbors, RanOn, Sample, Stages,
    Statistics, Voxels, WithinBall,
};
pub use scalar::Scalar;
#[doc(hidden)]
pub use scalar::number::EitherPrecision;
#[cfg(feature = "rayon")]
pub use threads::{Scheduling, ThreadOptions};
pub use voxels::VoxelDevice;

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
