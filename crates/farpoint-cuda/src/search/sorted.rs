//! Gradients of the clouds that were searched: one cooperative launch, in which a team of blocks sorts the places of
//! a cloud by the row that they name. Scratch: 16 bytes per place, 8 per row of `y` and 1 KB per block, for the
//! clouds that are processed concurrently.

use super::gradients::{DeviceSearchGradients, GradientParameter};
use crate::guard::{Guard, Kernel};
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::module::Function;
use crate::team::{self, Teams, aligned};
use crate::{CudaScalar, Error, Gpu, Stream};

/// `struct BackwardArgs` of `kernels/search/search_backward.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Args {
    guard: Guard,
    parameter: GradientParameter,
    headers: u64,
    scratch: u64,
    header_stride: u64,
    stride: u64,
    team: u32,
    k: u32,
    narrow: u32,
    whole: u32,
    norm: u32,
    dims: u32,
    clouds: u32,
    rows: [u32; 2],
    most: u32,
}

/// Threads per block, and bytes of a team's header.
const THREADS: u32 = 1024;
const HEADER: usize = 256;

impl Args {
    /// Creates the arguments without teams.
    pub(super) fn new<T: CudaScalar>(
        stream: &Stream,
        request: &DeviceSearchGradients<T>,
        norm: u32,
    ) -> Self {
        Self {
            guard: Guard::new(stream, Kernel::SearchBackward),
            parameter: request.parameter(),
            headers: 0,
            scratch: 0,
            header_stride: HEADER as u64,
            stride: 0,
            team: 1,
            k: request.k as u32,
            narrow: u32::from(request.narrow),
            whole: u32::from(request.whole),
            norm,
            dims: request.dims as u32,
            clouds: request.clouds as u32,
            rows: [request.x.rows as u32, request.y.rows as u32],
            most: request.max_places() as u32,
        }
    }
}

/// Distribution of a batch over the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TeamLayout {
    teams: Teams,
    /// Bytes of a team's arrays.
    arrays: usize,
}

impl TeamLayout {
    /// For a card that runs `blocks` blocks concurrently.
    fn new(blocks: usize, clouds: usize, places: usize, rows: usize) -> Self {
        let teams = Teams::new(blocks, clouds, places.max(rows), None);
        // Digit counts; keys and places, twice; begin and end of each row's.
        let arrays = [4 * 256 * teams.team, 4 * 4 * places, 2 * 4 * rows];
        Self { teams, arrays: arrays.into_iter().map(aligned).sum() }
    }

    fn bytes(&self) -> usize {
        self.teams.count.saturating_mul(self.arrays.saturating_add(HEADER))
    }
}

fn kernel<T: CudaScalar>(gpu: &Gpu) -> Result<(Function, Launch), Error> {
    let function = gpu.function::<T>("search_backward", "search_backward_sent")?;
    Ok((function, Launch::new(1, THREADS).cooperative()))
}

fn layout<T: CudaScalar>(
    gpu: &Gpu,
    request: &DeviceSearchGradients<T>,
) -> Result<TeamLayout, Error> {
    let (function, launch) = kernel::<T>(gpu)?;
    let blocks = team::blocks_at_once(gpu, function, launch)?;
    Ok(TeamLayout::new(blocks, request.clouds, request.max_places(), request.y.rows))
}

/// Bytes of scratch memory; 0 if the device can't or need not run the kernel.
pub(super) fn scratch_bytes<T: CudaScalar>(gpu: &Gpu, request: &DeviceSearchGradients<T>) -> usize {
    match request.gradients[1] {
        Some(_) if request.clouds > 0 && request.y.rows > 0 => {
            layout(gpu, request).map_or(0, |layout| layout.bytes())
        }
        _ => 0,
    }
}

/// Queues the kernel.
///
/// # Safety
/// What is in device memory must be as [`DeviceSearchGradients`] requires.
pub(super) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    request: &DeviceSearchGradients<T>,
    norm: u32,
) -> Result<(), Error> {
    let (function, launch) = kernel::<T>(gpu)?;
    let layout = layout(gpu, request)?;
    let scratch = Scratch::new(stream, request.scratch, layout.bytes())?;
    let headers = layout.teams.count * HEADER;
    let args = Args {
        headers: scratch.pointer(),
        scratch: scratch.pointer() + headers as u64,
        stride: layout.arrays as u64,
        team: layout.teams.team as u32,
        ..Args::new(stream, request, norm)
    };
    let headers = (scratch.pointer(), headers);
    // SAFETY: headers lie at the start of the scratch memory. `Args` mirrors the kernel's parameter; `arrays`
    // is what it places; scratch memory is freed in stream order; the rest is as this function's contract
    // says.
    unsafe { layout.teams.start(stream, function, launch, &args, headers) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_search_backward_cu() {
        let source = include_str!("../../kernels/search/search_backward.cu");
        let names = "guard sides grads indices offsets gradients headers scratch header_stride stride \
                      team k narrow whole norm dims clouds rows most";
        assert_eq!(fields(source, "BackwardArgs"), names);
        assert_eq!((offset_of!(Args, parameter), size_of::<GradientParameter>()), (24, 136));
        assert_eq!((offset_of!(Args, team), offset_of!(Args, rows)), (192, 220));
        assert_eq!((offset_of!(Args, most), size_of::<Args>()), (228, 232));
    }

    #[test]
    fn scratch_sizes_match_the_documentation() {
        let layout = TeamLayout::new(132, 1, 2_000_000, 100_000);
        let bytes = 16 * 2_000_000 + 8 * 100_000 + 1024 * layout.teams.team;
        assert!(layout.bytes() >= bytes && layout.bytes() < bytes + 1024);
    }
}
