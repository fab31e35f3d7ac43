//! The textbook kernel: one block per cloud, every point visited for every sample.
//!
//! The baseline of all others. Scratch: coordinates and distances of clouds of up to three axes, 16
//! bytes per point in `f32` and 32 in `f64`; the distances of others, 4 bytes and 8.

use super::batch::{Batch, Shape};
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::{CudaScalar, Error, Gpu, Stream};

/// Maximum number of threads per block.
const THREADS: usize = 1024;

/// Bytes of a vector, the unit of reads (`kernels/naive/packed.cuh`).
const VECTOR: usize = 16;

/// `struct NaiveArgs` of `kernels/naive/naive.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    batch: Batch<T>,
    scratch: u64,
}

/// `struct PackedArgs` of `kernels/naive/naive.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct PackedArgs<T> {
    batch: Batch<T>,
    scratch: u64,
    stride: u64,
}

/// Layout of clouds of up to three axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packing {
    /// Threads per block, a power of two.
    threads: usize,
    /// Numbers of scratch memory per cloud.
    stride: usize,
}

impl Packing {
    /// Returns `None` for more than three axes.
    fn new<T: CudaScalar>(shape: Shape) -> Option<Self> {
        let width = VECTOR / size_of::<T>();
        let vectors = shape.rows.div_ceil(width);
        let threads = vectors.next_power_of_two().clamp(32, THREADS);
        (shape.dims <= 3).then_some(Self { threads, stride: 4 * width * vectors })
    }
}

/// Numbers of scratch memory per cloud, each counted with the rows of the largest.
fn stride<T: CudaScalar>(shape: Shape) -> usize {
    Packing::new::<T>(shape).map_or(shape.rows, |packing| packing.stride)
}

/// Bytes of scratch memory.
pub(crate) fn scratch_bytes<T: CudaScalar>(shape: Shape) -> usize {
    shape.clouds.saturating_mul(stride::<T>(shape)).saturating_mul(size_of::<T>())
}

/// Queues the sampling of a batch.
///
/// # Safety
/// The addresses in `batch` and `scratch` must match `shape`, and stay valid until the
/// stream has finished.
pub(crate) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    batch: &Batch<T>,
    shape: Shape,
    scratch: Option<(u64, usize)>,
) -> Result<(), Error> {
    let scratch = Scratch::new(stream, scratch, scratch_bytes::<T>(shape))?;
    let (batch, memory, clouds) = (*batch, scratch.pointer(), shape.clouds as u32);
    let Some(Packing { threads, stride }) = Packing::new::<T>(shape) else {
        let kernel = gpu.function::<T>("naive", "naive")?;
        let launch = Launch::new(clouds, THREADS as u32);
        // SAFETY: `Args` mirrors the kernel's parameter; the scratch memory is freed in stream
        // order; the arrays of `batch` are valid by this function's contract.
        return unsafe { launch.start(stream, kernel, &Args { batch, scratch: memory }) };
    };
    let kernel = gpu.function::<T>("naive", "naive_packed")?;
    let args = PackedArgs { batch, scratch: memory, stride: stride as u64 };
    // SAFETY: as above; `stride` is what the kernel's layout needs.
    unsafe { Launch::new(clouds, threads as u32).start(stream, kernel, &args) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    fn shape(rows: usize, dims: usize) -> Shape {
        Shape { clouds: 2, rows, dims, samples: 5 }
    }

    #[test]
    fn a_block_has_a_thread_for_a_vector() {
        let packing = |rows| Packing::new::<f32>(shape(rows, 3)).unwrap();
        assert_eq!(packing(0), Packing { threads: 32, stride: 0 });
        assert_eq!(packing(1), Packing { threads: 32, stride: 16 });
        assert_eq!(packing(1_025), Packing { threads: 512, stride: 16 * 257 });
        assert_eq!(packing(124_668), Packing { threads: 1024, stride: 124_668 * 4 });
        let wide = Packing::new::<f64>(shape(124_669, 2)).unwrap();
        assert_eq!(wide, Packing { threads: 1024, stride: 124_670 * 4 });
        assert_eq!(Packing::new::<f64>(shape(124_669, 4)), None);
    }

    #[test]
    fn scratch_sizes_match_the_documentation() {
        assert_eq!(scratch_bytes::<f32>(shape(1000, 3)), 2 * 1000 * 16);
        assert_eq!(scratch_bytes::<f64>(shape(1000, 1)), 2 * 1000 * 32);
        assert_eq!(scratch_bytes::<f32>(shape(1001, 4)), 2 * 1001 * 4);
    }

    #[test]
    fn laid_out_as_in_naive_cu() {
        assert_eq!(offset_of!(Args<f32>, scratch), 128);
        assert_eq!(offset_of!(PackedArgs<f64>, scratch), 136);
        assert_eq!(offset_of!(PackedArgs<f32>, stride), 136);
        let source = include_str!("../../kernels/naive/naive.cu");
        assert_eq!(fields(source, "PackedArgs"), "batch scratch stride");
    }
}
