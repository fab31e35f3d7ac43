//! Brute force with every point in a register: one launch, one exchange for several samples
//! (`kernels/persistent/persistent.cu`).
//!
//! A cloud is held by a block, by a cluster of blocks, or by a team of blocks of the grid. Which one,
//! and the number of threads, is planned here, and affects only the time. Scratch: 64 bytes per block
//! of a team (128 in `f64`) and 16 per team, none per point.

mod plan;

use super::batch::{Batch, Shape};
use crate::guard::{Guard, Kernel};
use crate::memory::{self, Scratch};
use crate::{CudaScalar, Error, Gpu, Properties, Stream};
use plan::{Holder, LARGEST_CLUSTER, Plan, Planner, SAFE_CLUSTER};

/// `struct PersistentArgs` of `kernels/persistent/persistent.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    guard: Guard,
    batch: Batch<T>,
    mailboxes: u64,
    team: u32,
}

/// Returns whether the card can hold clouds of this shape.
pub(crate) fn fits(card: &Properties, shape: Shape, number: usize) -> bool {
    Planner { card, shape, number, cluster: SAFE_CLUSTER }.plan().is_some()
}

/// Plans for a device, whose largest cluster only its driver knows.
fn plan<T: CudaScalar>(gpu: &Gpu, shape: Shape) -> Result<Plan, Error> {
    let (card, number) = (gpu.properties(), size_of::<T>());
    let plan_for = |cluster| Planner { card, shape, number, cluster }.plan();
    let mut plan = plan_for(LARGEST_CLUSTER);
    if let Some(wide) = plan.filter(|p| p.holder == Holder::Cluster && p.blocks > SAFE_CLUSTER) {
        let kernel = gpu.function::<T>("persistent", wide.kernel.name)?;
        if wide.launch().clusters_at_once(gpu, kernel).unwrap_or(0) == 0 {
            plan = plan_for(SAFE_CLUSTER);
        }
    }
    plan.ok_or_else(|| {
        Error::Unsupported(format!(
            "{} can't hold clouds of {} points in registers; choose radius, peak or auto",
            card.name, shape.rows
        ))
    })
}

/// Bytes of scratch memory; 0 where the device can't run the algorithm.
pub(crate) fn scratch_bytes<T: CudaScalar>(gpu: &Gpu, shape: Shape) -> usize {
    plan::<T>(gpu, shape).map_or(0, |plan| plan.scratch_bytes(size_of::<T>()))
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
    let plan = plan::<T>(gpu, shape)?;
    let bytes = plan.scratch_bytes(size_of::<T>());
    let scratch = match bytes {
        0 => Scratch::Borrowed(0),
        _ => Scratch::new(stream, scratch, bytes)?,
    };
    // SAFETY: the scratch memory has so many bytes. Mail of an earlier launch must not be read.
    unsafe { memory::set(stream, scratch.pointer(), 0, bytes)? };
    let args = Args {
        guard: Guard::new(stream, Kernel::Persistent),
        batch: *batch,
        mailboxes: scratch.pointer(),
        team: plan.blocks as u32,
    };
    let kernel = gpu.function::<T>("persistent", plan.kernel.name)?;
    // SAFETY: `Args` mirrors the kernel's parameter; the scratch memory is freed in stream
    // order; the arrays of `batch` are valid by this function's contract.
    unsafe { plan.launch().start(stream, kernel, &args) }
}

#[cfg(test)]
mod tests {
    use super::Args;

    #[test]
    fn laid_out_as_in_persistent_cu() {
        assert_eq!(std::mem::offset_of!(Args<f32>, mailboxes), 24 + 128);
        assert_eq!(std::mem::offset_of!(Args<f64>, team), 24 + 144);
    }
}
