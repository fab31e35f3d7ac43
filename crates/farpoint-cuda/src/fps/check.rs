//! Search for non-finite rows in device memory.

use super::batch::Batch;
use super::pointers::DeviceBatch;
use crate::launch::Launch;
use crate::{CudaScalar, Error, Stream};

/// Threads per block, and the approximate number of blocks for all clouds together.
const THREADS: u32 = 256;
const BLOCKS: usize = 2048;

/// `struct CheckArgs` of `kernels/common/check.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    batch: Batch<T>,
    counts: u64,
    firsts: u64,
    parts: u32,
}

/// Queues a search for rows that hold NaN or infinity, which [`Gpu::enqueue_sample`] does not accept:
/// `counts[b]` becomes their number in cloud `b`, and `firsts[b]` the first of them, or -1. Both are
/// arrays of one `i64` per cloud in device memory. Only the input of the batch is read. Asynchronous,
/// and can be part of a graph.
///
/// [`Gpu::enqueue_sample`]: crate::Gpu::enqueue_sample
///
/// # Errors
/// If sizes or addresses are wrong as far as the host can tell, and if the driver refuses a call.
///
/// # Safety
/// As for [`DeviceBatch`], and `counts` and `firsts` must have room for one number per cloud.
pub unsafe fn find_non_finite<T: CudaScalar>(
    stream: &Stream,
    batch: &DeviceBatch<T>,
    counts: u64,
    firsts: u64,
) -> Result<(), Error> {
    let gpu = stream.gpu();
    let shape = batch.check_input()?;
    if shape.clouds == 0 {
        return Ok(());
    }
    let bytes = 8 * shape.clouds;
    // A cloud without non-finite rows keeps 0 and -1.
    // SAFETY: both arrays have one number per cloud, by this function's contract.
    unsafe {
        crate::memory::set(stream, counts, 0, bytes)?;
        crate::memory::set(stream, firsts, 0xff, bytes)?;
    }
    let max_parts = shape.rows.div_ceil(THREADS as usize).max(1);
    let parts = (BLOCKS / shape.clouds).clamp(1, max_parts) as u32;
    let args = Args { batch: batch.input(shape), counts, firsts, parts };
    let kernel = gpu.function::<T>("check", "check")?;
    let blocks = shape.clouds as u32 * parts;
    // SAFETY: `Args` mirrors the kernel's parameter; the clouds, `counts` and `firsts` are valid by this
    // function's contract.
    unsafe { Launch::new(blocks, THREADS).start(stream, kernel, &args) }
}
