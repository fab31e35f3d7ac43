//! Small clouds: an ordinary launch, one block per cloud, and no scratch memory.

use super::GradientParameter;
use crate::launch::Launch;
use crate::neighbors::matching::Shape;
use crate::{CudaScalar, Error, Gpu, Stream};

/// Rows of the largest cloud: their lists fill the shared memory that a block has without an opt-in.
const MAX_ROWS: usize = 4_096;

/// Minimum and maximum number of threads per block; one per row in between.
const THREADS: [usize; 2] = [128, 1_024];

/// Maximum number of blocks per launch; each loops over clouds.
const MAX_BLOCKS: usize = 1 << 20;

/// Returns whether all clouds are small.
pub(super) fn fits(shape: Shape) -> bool {
    max_rows(shape) <= MAX_ROWS
}

fn max_rows(shape: Shape) -> usize {
    shape.rows[0].max(shape.rows[1])
}

fn launch(shape: Shape) -> Launch {
    let [min, max] = THREADS;
    let threads = max_rows(shape).next_multiple_of(32).clamp(min, max);
    // For each row the end of its list, the list, and the row's target (16 bits).
    let shared = max_rows(shape) * (4 + 4 + 2);
    let blocks = (2 * shape.pairs).min(MAX_BLOCKS);
    Launch::new(blocks as u32, threads as u32).shared(shared as u32)
}

/// Queues the kernel.
///
/// # Safety
/// Same as [`super::enqueue`].
pub(super) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    parameter: &GradientParameter,
    shape: Shape,
) -> Result<(), Error> {
    let name = if parameter.is_of_value() { "backward_small_of_value" } else { "backward_small" };
    let function = gpu.function::<T>("chamfer_backward_small", name)?;
    // SAFETY: `GradientParameter` mirrors the kernel's parameter, and the shared memory of the launch holds the
    // lists of clouds of `shape`'s rows; the arrays are valid by this function's contract.
    unsafe { launch(shape).start(stream, function, parameter) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_clouds_fit_the_default_shared_memory() {
        let shape = |n, m| Shape { pairs: 3, rows: [n, m], dims: 3, requested: [true; 2] };
        assert!(fits(shape(4_096, 1)) && !fits(shape(1, 4_097)));
        let (largest, smallest) = (launch(shape(4_096, 1)), launch(shape(1, 1)));
        assert!(largest.shared + 128 <= 48 << 10);
        assert_eq!([largest.block, smallest.block, launch(shape(5, 130)).block], [1_024, 128, 160]);
        assert_eq!(largest.grid, [6, 1, 1]);
        // Numbers of rows are counted in 16 bits.
        assert!(u16::try_from(MAX_ROWS).is_ok());
    }
}
