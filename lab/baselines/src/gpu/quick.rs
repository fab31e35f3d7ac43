//! QuickFPS: one sample at a time over the buckets of a KD-tree (README.md).
//!
//! One block per cloud, so that no block waits for another. Scratch: 24 bytes per point in `f32`, 40 in
//! `f64`, and 544 (1,088) per bucket. A bucket takes shared memory too, which limits their number: on
//! an H100 a cloud has at most 4,096 in `f32` and 2,048 in `f64`.

use farpoint_cuda::backend::{Batch, Launch, Scratch, Shape, aligned};
use farpoint_cuda::{CudaScalar, Error, Gpu, Properties, Stream};

/// Capacity of a bucket's list of samples: `PENDING` of `kernels/quick/buckets.cuh`.
const PENDING: usize = 32;

/// Target number of points per bucket.
const POINTS: u32 = 64;

/// Threads per block: one for each bucket, within these limits.
const MIN_THREADS: u32 = 128;
const MAX_THREADS: u32 = 512;

/// `struct QuickArgs` of `kernels/quick/quick.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    batch: Batch<T>,
    scratch: u64,
    stride: u64,
    rows: u32,
    most_height: u32,
    points: u32,
}

/// Shared memory of the kernel's own variables: two times 32 `Sample`.
fn fixed_shared<T: CudaScalar>() -> u32 {
    (2 * 32 * 8 * size_of::<T>() + 512) as u32
}

/// Bytes of shared memory per bucket: `BUCKET_BYTES` of `kernels/quick/buckets.cuh`.
fn bucket_bytes<T: CudaScalar>() -> u32 {
    (10 * size_of::<T>() + 4 * size_of::<u32>()) as u32
}

/// The trees of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    /// Height of the largest cloud's tree, and target number of points per bucket.
    height: u32,
    points: u32,
}

impl Plan {
    fn new<T: CudaScalar>(card: &Properties, shape: Shape, height: Option<u32>) -> Self {
        // A requested height is used as it is, unless buckets would be empty.
        let points = if height.is_some() { 1 } else { POINTS };
        let max_buckets = (card.shared_per_block - fixed_shared::<T>()) / bucket_bytes::<T>();
        let useful = (shape.rows / points as usize).clamp(1, max_buckets as usize).ilog2();
        Self { height: height.unwrap_or(u32::MAX).min(useful), points }
    }

    fn buckets(self) -> usize {
        1 << self.height
    }

    /// Bytes of scratch memory per cloud, as used by `Buckets` of `kernels/quick/buckets.cuh`.
    fn stride<T: CudaScalar>(self, rows: usize) -> usize {
        let number = size_of::<T>();
        let padded = rows.min(usize::MAX / 64).next_multiple_of(64);
        // Pending samples and boxes; coordinates and distances; rows and buckets.
        aligned(self.buckets() * (4 * PENDING + 8) * number + padded * (4 * number + 2 * 4))
    }

    fn launch<T: CudaScalar>(self, clouds: usize) -> Launch {
        let threads = (self.buckets() as u32).clamp(MIN_THREADS, MAX_THREADS);
        // The offsets of buckets include the end.
        let shared = self.buckets() as u32 * bucket_bytes::<T>() + size_of::<u32>() as u32;
        Launch::new(clouds as u32, threads).shared(shared)
    }
}

/// Bytes of scratch memory.
pub(super) fn scratch_bytes<T: CudaScalar>(gpu: &Gpu, shape: Shape, height: Option<u32>) -> usize {
    let plan = Plan::new::<T>(gpu.properties(), shape, height);
    shape.clouds.saturating_mul(plan.stride::<T>(shape.rows))
}

/// Queues the sampling of a batch.
///
/// # Safety
/// The addresses in `batch` and `scratch` must match `shape`, and stay valid until the
/// stream has finished.
pub(super) unsafe fn enqueue<T: CudaScalar>(
    stream: &Stream,
    batch: &Batch<T>,
    shape: Shape,
    scratch: Option<(u64, usize)>,
    height: Option<u32>,
) -> Result<(), Error> {
    let gpu = stream.gpu();
    let plan = Plan::new::<T>(gpu.properties(), shape, height);
    let scratch = Scratch::new(stream, scratch, scratch_bytes::<T>(gpu, shape, height))?;
    let args = Args {
        batch: *batch,
        scratch: scratch.pointer(),
        stride: plan.stride::<T>(shape.rows) as u64,
        rows: shape.rows as u32,
        most_height: plan.height,
        points: plan.points,
    };
    let kernel = gpu.function::<T>("quick", "quick")?;
    // SAFETY: `Args` mirrors the kernel's parameter; `stride` is what it takes for a cloud; the scratch
    // memory is freed in stream order; the arrays of `batch` are valid by this function's contract.
    unsafe { plan.launch::<T>(shape.clouds).start(stream, kernel, &args) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_quick_cu() {
        assert_eq!(offset_of!(Args<f32>, scratch), 128);
        assert_eq!((offset_of!(Args<f64>, rows), size_of::<Args<f64>>()), (152, 168));
        let source = include_str!("../../kernels/quick/buckets.cuh");
        assert!(source.contains(&format!("PENDING = {PENDING};")));
        assert!(
            source.contains("LARGEST = 9, NUMBERS = 10 };") && source.contains("FIRST, WORDS };")
        );
    }

    #[test]
    fn scratch_sizes_match_the_documentation() {
        let bytes = |rows, a_row: usize, a_bucket: usize, plan: Plan| {
            let actual =
                if a_row == 24 { plan.stride::<f32>(rows) } else { plan.stride::<f64>(rows) };
            let expected = a_row * rows + a_bucket * plan.buckets();
            assert!((expected..expected + 3 * 1024).contains(&actual), "{actual} {expected}");
        };
        bytes(100_001, 24, 544, Plan { height: 7, points: 64 });
        bytes(100_001, 40, 1088, Plan { height: 7, points: 64 });
        let plan = Plan { height: 0, points: 1 };
        assert!(plan.stride::<f64>(usize::MAX) > 1 << 59);
    }
}
