//! Conversion of squared distances to distances in the unit of the coordinates.

use crate::launch::Launch;
use crate::{CudaScalar, Error, Stream, input};

/// Threads per block, and maximum number of blocks.
const THREADS: u32 = 256;
const BLOCKS: usize = 2048;

/// `struct RootsArgs` of `kernels/common/roots.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    values: u64,
    covering: u64,
    radii: u64,
    slots: u64,
    clouds: u64,
}

/// Queues the square roots of the results of [`Gpu::enqueue_sample`]: of `slots` numbers `values` in
/// place, and of `clouds` numbers `covering`, which are written to `radii` as `f64`. They have the bits
/// of the CPU's. Asynchronous, and can be part of a graph.
///
/// [`Gpu::enqueue_sample`]: crate::Gpu::enqueue_sample
///
/// # Errors
/// If an address is not aligned, and if the driver refuses a call.
///
/// # Safety
/// The addresses must be of arrays of this many `T` (`radii`: of `f64`) in the memory of the stream's
/// GPU, which stay allocated until the stream has finished.
pub unsafe fn roots<T: CudaScalar>(
    stream: &Stream,
    (values, slots): (u64, usize),
    (covering, clouds): (u64, usize),
    radii: u64,
) -> Result<(), Error> {
    input::check_aligned::<T>(values, "distances")?;
    input::check_aligned::<T>(covering, "squared radii")?;
    input::check_aligned::<f64>(radii, "radii")?;
    let blocks = slots.max(clouds).div_ceil(THREADS as usize).min(BLOCKS);
    if blocks == 0 {
        return Ok(());
    }
    let kernel = stream.gpu().function::<T>("roots", "roots")?;
    let args = Args { values, covering, radii, slots: slots as u64, clouds: clouds as u64 };
    // SAFETY: `Args` mirrors the kernel's parameter, which writes within arrays of `slots` and `clouds`
    // numbers; these are valid by this function's contract.
    unsafe { Launch::new(blocks as u32, THREADS).start(stream, kernel, &args) }
}
