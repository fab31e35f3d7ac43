//! Clouds of any size: one cooperative launch, in which a team of blocks works on one cloud at a time.
//! Scratch: 24 bytes per row of the larger side and 1 KB per block, for the clouds that are processed
//! concurrently.

use super::GradientParameter;
use crate::guard::{Guard, Kernel};
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::module::Function;
use crate::neighbors::matching::Shape;
use crate::team::{self, Teams, aligned};
use crate::{CudaScalar, Error, Gpu, Stream};

/// `struct SortedArgs` of `kernels/neighbors/chamfer_backward.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    guard: Guard,
    asked: GradientParameter,
    headers: u64,
    scratch: u64,
    header_stride: u64,
    stride: u64,
    team: u32,
}

/// Threads per block, and bytes of a team's header.
const THREADS: u32 = 1024;
const HEADER: usize = 256;

/// Distribution of a batch over the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TeamLayout {
    teams: Teams,
    /// Bytes of a team's arrays.
    arrays: usize,
}

impl TeamLayout {
    /// For a card that runs `blocks` blocks concurrently.
    fn new(blocks: usize, shape: Shape) -> Self {
        let rows = shape.rows[0].max(shape.rows[1]);
        let teams = Teams::new(blocks, 2 * shape.pairs, rows, None);
        let arrays = [
            4 * 256 * teams.team, // digit counts
            4 * 6 * (rows + 1),   // targets and senders, twice; begin and end of each row's
        ];
        Self { teams, arrays: arrays.into_iter().map(aligned).sum() }
    }

    fn bytes(&self) -> usize {
        self.teams.count.saturating_mul(self.arrays + HEADER)
    }
}

fn kernel<T: CudaScalar>(gpu: &Gpu, of_value: bool) -> Result<(Function, Launch), Error> {
    let name = if of_value { "backward_sorted_of_value" } else { "backward_sorted" };
    let function = gpu.function::<T>("chamfer_backward", name)?;
    Ok((function, Launch::new(1, THREADS).cooperative()))
}

/// Layout that is the same for both kernels, so that scratch memory does not depend on the kernel.
fn layout<T: CudaScalar>(gpu: &Gpu, shape: Shape) -> Result<TeamLayout, Error> {
    let blocks = |of_value: bool| {
        let (function, launch) = kernel::<T>(gpu, of_value)?;
        team::blocks_at_once(gpu, function, launch)
    };
    Ok(TeamLayout::new(blocks(false)?.min(blocks(true)?), shape))
}

/// Bytes of scratch memory; 0 if the device can't run the kernel.
pub(super) fn scratch_bytes<T: CudaScalar>(gpu: &Gpu, shape: Shape) -> usize {
    layout::<T>(gpu, shape).map_or(0, |layout| layout.bytes())
}

/// Queues the kernel.
///
/// # Safety
/// Same as [`super::enqueue`].
pub(super) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    parameter: GradientParameter,
    shape: Shape,
    scratch: Option<(u64, usize)>,
) -> Result<(), Error> {
    let (function, launch) = kernel::<T>(gpu, parameter.is_of_value())?;
    let layout = layout::<T>(gpu, shape)?;
    let scratch = Scratch::new(stream, scratch, layout.bytes())?;
    let headers = layout.teams.count * HEADER;
    let args = Args {
        guard: Guard::new(stream, Kernel::Backward),
        asked: parameter,
        headers: scratch.pointer(),
        scratch: scratch.pointer() + headers as u64,
        header_stride: HEADER as u64,
        stride: layout.arrays as u64,
        team: layout.teams.team as u32,
    };
    let headers = (scratch.pointer(), headers);
    // SAFETY: headers lie at the start of the scratch memory. `Args` mirrors the kernel's
    // parameter; `arrays` is what it places; the scratch memory is freed in stream order; the
    // arrays of the job are valid by this function's contract.
    unsafe { layout.teams.start(stream, function, launch, &args, headers) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    #[test]
    fn laid_out_as_in_chamfer_backward_cu() {
        let source = include_str!("../../../kernels/neighbors/chamfer_backward.cu");
        let names = fields(source, "SortedArgs");
        assert_eq!(names, "guard asked headers scratch header_stride stride team");
        assert_eq!(std::mem::offset_of!(Args, headers), 24 + size_of::<GradientParameter>());
    }
}
