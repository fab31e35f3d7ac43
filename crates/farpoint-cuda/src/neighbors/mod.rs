//! Nearest points between two clouds and the Chamfer distance on a GPU: one interface, one file a
//! method.
//!
//! [`Matcher`] says what is wanted; `run` checks it as the CPU library does, copies the clouds to
//! the device and the answer back; `pointers` takes clouds that are there already. Both end in
//! `method`, which starts one of the methods. Each of these offers
//!
//! * `scratch_bytes(device, shape)`: device memory it needs besides input and answer;
//! * `enqueue(device, stream, matching, shape, scratch)`: queues its kernel and returns.
//!
//! Gradients go the same ways, through `backward`; `reduced` makes one value a pair of the distances.
//! What comes back from host memory are the
//! results of the CPU library, [`farpoint::Nearest`] and [`farpoint::Chamfer`], with all that
//! follows from them: means, Hausdorff distance, F-score.

mod auto;
mod backward;
mod gradients;
mod matcher;
mod matching;
mod method;
mod pairs;
mod pointers;
mod reduced;
mod run;
mod tree;

pub use auto::pays;
pub use gradients::DeviceGradients;
pub use matcher::Matcher;
pub use method::Method;
pub use pointers::{DevicePairs, DeviceSide};
pub use reduced::{DeviceValues, EXTREMES, ValueGradient};
pub use tree::TreeOptions;
