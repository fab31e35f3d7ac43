//! Results, the same from every device. Nothing here searches or samples.

mod nearest;
mod neighbors;
mod sample;
mod statistics;
mod voxels;
mod within;

pub use nearest::{Chamfer, FScore, Gradients, Nearest};
pub use neighbors::Neighbors;
pub use sample::{RanOn, Sample};
pub use statistics::{Bytes, Measured, Stages, Statistics};
pub use voxels::Voxels;
pub use within::WithinBall;
