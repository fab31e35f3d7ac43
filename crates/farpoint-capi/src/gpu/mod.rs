//! Jobs on clouds in the memory of a GPU, with results there.

mod clouds;

#[cfg(feature = "cuda")]
pub(crate) mod jobs;

pub use clouds::{
    farpoint_cuda_batch, farpoint_cuda_neighbors, farpoint_cuda_pairs, farpoint_cuda_side,
};
