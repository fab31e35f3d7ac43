//! Gradients: from those of the distances to those of the coordinates, by one cooperative launch.
//!
//! A team of blocks works on one cloud at a time: sorted by the point they are sent to, all parts
//! are added up in a fixed order, so that the bits are the same on every run, and the CPU's.
//! Scratch: 20 bytes a row of the larger side and 1 KB a block, for the clouds that are worked on
//! at the same time.

use super::matching::{Matching, Shape};
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::module::Function;
use crate::team::{self, Teams, aligned};
use crate::{CudaScalar, Device, Error, Stream};
use farpoint::Norm;

/// `struct BackwardArgs` of `kernels/chamfer_backward.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    matching: Matching,
    grads: [u64; 2],
    gradients: [u64; 2],
    headers: u64,
    scratch: u64,
    header_stride: u64,
    stride: u64,
    team: u32,
    norm: u32,
    rows: [u32; 2],
}

/// Threads of a block, and bytes of a team's header.
const THREADS: u32 = 1024;
const HEADER: usize = 256;

/// Where the gradients of the distances are and those of the coordinates go; 0 for null.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) grads: [u64; 2],
    pub(crate) gradients: [u64; 2],
}

/// How a batch is laid over the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    teams: Teams,
    /// Bytes of a team's arrays.
    arrays: usize,
}

impl Layout {
    /// For a card that runs `blocks` blocks at the same time.
    fn new(blocks: usize, shape: Shape) -> Self {
        let rows = shape.rows[0].max(shape.rows[1]);
        let teams = Teams::new(blocks, 2 * shape.pairs, rows, None);
        let arrays = [
            4 * 256 * teams.team, // digit counts
            4 * 4 * (rows + 1),   // targets and senders, twice
            4 * (rows + 1),       // first part of each target
        ];
        Self { teams, arrays: arrays.into_iter().map(aligned).sum() }
    }

    fn bytes(&self) -> usize {
        self.teams.count.saturating_mul(self.arrays + HEADER)
    }
}

fn kernel<T: CudaScalar>(device: &Device) -> Result<(Function, Launch), Error> {
    let function = device.function::<T>("chamfer_backward", "backward")?;
    Ok((function, Launch::new(1, THREADS).cooperative()))
}

fn layout<T: CudaScalar>(device: &Device, shape: Shape) -> Result<Layout, Error> {
    let (function, launch) = kernel::<T>(device)?;
    Ok(Layout::new(team::blocks_at_once(device, function, launch)?, shape))
}

/// Bytes of scratch memory; 0 where the device cannot run the kernel.
pub(crate) fn scratch_bytes<T: CudaScalar>(device: &Device, shape: Shape) -> usize {
    layout::<T>(device, shape).map_or(0, |layout| layout.bytes())
}

/// Queues the gradients of a batch of pairs; the indices in `matching` are the input, null for a
/// direction that sends none.
///
/// # Safety
/// The addresses in `matching`, `ends` and `scratch` must be as `shape` says, and stay so until
/// the stream has come past.
pub(crate) unsafe fn enqueue<T: CudaScalar>(
    device: &Device,
    stream: &Stream,
    matching: &Matching,
    shape: Shape,
    ends: Ends,
    scratch: Option<(u64, usize)>,
    norm: Norm,
) -> Result<(), Error> {
    let (function, launch) = kernel::<T>(device)?;
    let layout = layout::<T>(device, shape)?;
    let scratch = Scratch::new(stream, scratch, layout.bytes())?;
    let headers = layout.teams.count * HEADER;
    let args = Args {
        matching: *matching,
        grads: ends.grads,
        gradients: ends.gradients,
        headers: scratch.pointer(),
        scratch: scratch.pointer() + headers as u64,
        header_stride: HEADER as u64,
        stride: layout.arrays as u64,
        team: layout.teams.team as u32,
        norm: if norm == Norm::One { 1 } else { 2 },
        rows: shape.rows.map(|rows| rows as u32),
    };
    let headers = (scratch.pointer(), headers);
    // SAFETY: headers lie at the start of the scratch memory. `Args` mirrors the kernel's
    // parameter; `arrays` is what it places; the scratch memory is freed in stream order; the
    // rest is the caller's word.
    unsafe { layout.teams.start(stream, function, launch, &args, headers) }
}
