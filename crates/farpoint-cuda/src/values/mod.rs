//! Operators on values in device memory: rows of channels that are gathered, reduced and interpolated by indices, and
//! their gradients. Results and the order of sums are defined in [`farpoint::values`]; the bits are the CPU's.
//!
//! `rows` holds and checks the common input of all operators, `inverted` finds the indices that name a row, from
//! which the gradients of values follow in a fixed order without atomic additions (`backward`). The other files are
//! an operator each.
//!
//! # On a GPU
//! * Values are f32, f64, f16 or bf16; the halves are summed in f32 and rounded once. Indices are i32 or
//!   i64.
//! * An index that is neither -1 nor a row counts as -1, and nothing outside the values is read.
//!   [`Gpu::enqueue_check_indices`](crate::Gpu::enqueue_check_indices) finds such indices.
//! * Calls queue work on a stream and return, without copies to or from the host and without synchronizing, so that
//!   CUDA graphs can capture them. The first use of an operator loads its kernels
//!   ([`Gpu::warm_up`](crate::Gpu::warm_up)).

mod backward;
mod check;
mod gather;
mod gather_max;
mod interpolate;
pub(crate) mod inverted;
pub(crate) mod rows;
mod weights;

pub use backward::GradientMemory;
pub use gather_max::DeviceGatherMaxGradients;
pub use interpolate::DeviceInterpolateGradients;
pub use rows::{DeviceRows, IndexKind, ValueKind};
