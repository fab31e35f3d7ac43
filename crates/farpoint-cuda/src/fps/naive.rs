//! The textbook kernel: one block per cloud, every point looked at for every sample.
//!
//! It is the yardstick of all others. Scratch: the points' distances, 4 bytes per point in
//! `f32` and 8 in `f64`.

use super::batch::{Batch, Shape};
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::{CudaScalar, Error, Gpu, Stream};

/// Threads of a block.
const THREADS: u32 = 1024;

/// `struct NaiveArgs` of `kernels/naive/naive.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    batch: Batch<T>,
    scratch: u64,
}

/// Bytes of scratch memory: one distance per row, all clouds as long as the largest.
pub(crate) fn scratch_bytes<T: CudaScalar>(shape: Shape) -> usize {
    shape.clouds.saturating_mul(shape.rows).saturating_mul(size_of::<T>())
}

/// Queues the sampling of a batch.
///
/// # Safety
/// The addresses in `batch` and `scratch` must be as `shape` says, and stay so until the
/// stream has finished.
pub(crate) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    batch: &Batch<T>,
    shape: Shape,
    scratch: Option<(u64, usize)>,
) -> Result<(), Error> {
    let scratch = Scratch::new(stream, scratch, scratch_bytes::<T>(shape))?;
    let args = Args { batch: *batch, scratch: scratch.pointer() };
    let kernel = gpu.function::<T>("naive", "naive")?;
    // SAFETY: `Args` mirrors the kernel's parameter; the scratch memory is freed in stream
    // order; the arrays of `batch` are valid by this function's contract.
    unsafe { Launch::new(shape.clouds as u32, THREADS).start(stream, kernel, &args) }
}
