//! Nearest points between two clouds and the Chamfer distance on a GPU, one file per method.
//!
//! `run` takes jobs on clouds in host memory: it checks them as the CPU library does, copies the clouds
//! to the GPU and the result back. [`Gpu::enqueue_nearest`](crate::Gpu::enqueue_nearest) takes clouds
//! in device memory. Both end in `method`, which starts one of the methods. Each of these offers
//!
//! * `scratch_bytes(gpu, shape)`: the device memory it needs besides input and result;
//! * `enqueue(gpu, stream, matching, shape, scratch)`: queues its kernel and returns.
//!
//! Gradients have the same interfaces, through `backward`; `values` reduces the distances to one value per pair.

mod auto;
mod backward;
mod gradients;
mod matching;
mod method;
mod pairs;
mod pointers;
pub(crate) mod run;
mod tree;
mod values;

pub(crate) use pointers::in_side;
pub(crate) use run::Size;

pub use auto::is_worthwhile;
pub use gradients::DeviceGradients;
pub use pointers::{DevicePairs, DeviceSide};
pub use values::{DeviceValues, EXTREMES, ValueGradient};
