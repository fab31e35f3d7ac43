//! Internals for kernels outside this crate, those of the laboratory. Not part of the public interface; crates that use it
//! pin the exact version.

pub use crate::archive::add_kernels;
pub use crate::context::Relaxed;
pub use crate::fps::algorithm::Choice;
pub use crate::fps::batch::{Batch, Shape};
pub use crate::fps::peak::{Known, fill, team_bytes};
pub use crate::fps::pointers::check;
pub use crate::fps::run::{Input, Output, batch, shape};
pub use crate::guard::{Guard, Kernel};
pub use crate::input::check_rows;
pub use crate::launch::Launch;
pub use crate::memory::{Scratch, set};
pub use crate::module::Function;
pub use crate::search::index::{
    Build, Indexes, building_bytes, bytes as index_bytes, enqueue as enqueue_index, places,
};
pub use crate::team::{Teams, aligned, blocks_at_once};

use crate::{CudaScalar, Error, Stream};

/// Queues the exact sampling of a batch.
///
/// # Errors
/// If the driver refuses a call.
///
/// # Safety
/// The addresses in `batch` and `scratch` must match `shape`, and stay valid until the stream has finished.
pub unsafe fn enqueue<T: CudaScalar>(
    choice: Choice,
    stream: &Stream,
    batch: &Batch<T>,
    shape: Shape,
    scratch: Option<(u64, usize)>,
) -> Result<(), Error> {
    // SAFETY: this function's contract.
    unsafe { choice.enqueue(stream, batch, shape, scratch, 0, None) }
}
