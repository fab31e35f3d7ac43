//! Nearest points through box trees of both clouds.
//!
//! One cooperative launch for a batch; each pair has a team of blocks, of which some build the tree of
//! one cloud while the others build that of the other. Scratch, for the pairs that are matched
//! concurrently: 29.2 bytes per point of either cloud in `f32`, 42.3 in `f64`, and about 2 KB per
//! block.

use super::matching::{Matching, Shape};
use crate::guard::{Guard, Kernel};
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::module::Function;
use crate::team::{self, Teams};
use crate::{CudaScalar, Error, Gpu, Stream};
use farpoint::Norm;

/// `struct TreeArgs` of `kernels/neighbors/nearest_tree.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args {
    guard: Guard,
    matching: Matching,
    headers: u64,
    scratch: u64,
    header_stride: u64,
    stride: u64,
    team: u32,
    first: u32,
    rows: [u32; 2],
}

/// Bytes of a team's header.
const HEADER: usize = 256;

/// Distribution of a batch over the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TeamLayout {
    teams: Teams,
    /// Blocks of a team that build the first side's tree.
    first: usize,
    /// Bytes of a team's arrays.
    arrays: usize,
}

impl TeamLayout {
    /// For a card that runs `blocks` blocks concurrently.
    fn new<T: CudaScalar>(blocks: usize, shape: Shape, team: Option<u32>) -> Self {
        let both = shape.rows[0].saturating_add(shape.rows[1]);
        let teams = Teams::new(blocks, shape.pairs, both, team);
        // By their share of the rows; each side has one, unless a single block does all.
        let share = teams.team as u128 * shape.rows[0] as u128 / both.max(1) as u128;
        let first = (share as usize).clamp(1, (teams.team - 1).max(1));
        let arrays = shape.rows.map(|rows| team::tree_bytes::<T>(rows, teams.team));
        Self { teams, first, arrays: arrays[0].saturating_add(arrays[1]) }
    }

    fn bytes(&self) -> usize {
        self.teams.count.saturating_mul(self.arrays.saturating_add(HEADER))
    }
}

/// Returns the module with the kernel for clouds of `dims` axes.
fn module(dims: usize, norm: Norm) -> &'static str {
    match (norm == Norm::One, dims) {
        (false, ..=3) => "nearest_tree",
        (false, _) => "nearest_tree_high",
        (true, ..=3) => "nearest_tree_absolute",
        (true, _) => "nearest_tree_high_absolute",
    }
}

fn kernel<T: CudaScalar>(gpu: &Gpu, dims: usize, norm: Norm) -> Result<(Function, Launch), Error> {
    // As many threads as the registers of a block allow.
    let threads = if size_of::<T>() == 4 { 1024 } else { 512 };
    let function = gpu.function::<T>(module(dims, norm), "tree")?;
    Ok((function, Launch::new(1, threads).cooperative()))
}

fn layout<T: CudaScalar>(gpu: &Gpu, shape: Shape, norm: Norm) -> Result<TeamLayout, Error> {
    let (function, launch) = kernel::<T>(gpu, shape.dims, norm)?;
    let blocks = team::blocks_at_once(gpu, function, launch)?;
    Ok(TeamLayout::new::<T>(blocks, shape, gpu.tree_team()))
}

/// Bytes of scratch memory; 0 where the device cannot run the method.
pub(crate) fn scratch_bytes<T: CudaScalar>(gpu: &Gpu, shape: Shape, norm: Norm) -> usize {
    layout::<T>(gpu, shape, norm).map_or(0, |layout| layout.bytes())
}

/// Queues the search for a batch of pairs that is not empty.
///
/// # Safety
/// The addresses in `matching` and `scratch` must match `shape`, and stay valid until the
/// stream has finished.
pub(crate) unsafe fn enqueue<T: CudaScalar>(
    gpu: &Gpu,
    stream: &Stream,
    matching: &Matching,
    shape: Shape,
    scratch: Option<(u64, usize)>,
    norm: Norm,
) -> Result<(), Error> {
    let (function, launch) = kernel::<T>(gpu, shape.dims, norm)?;
    let layout = layout::<T>(gpu, shape, norm)?;
    let scratch = Scratch::new(stream, scratch, layout.bytes())?;
    let headers = layout.teams.count * HEADER;
    let args = Args {
        guard: Guard::new(stream, Kernel::Tree),
        matching: *matching,
        headers: scratch.pointer(),
        scratch: scratch.pointer() + headers as u64,
        header_stride: HEADER as u64,
        stride: layout.arrays as u64,
        team: layout.teams.team as u32,
        first: layout.first as u32,
        rows: shape.rows.map(|rows| rows as u32),
    };
    let headers = (scratch.pointer(), headers);
    // SAFETY: headers lie at the start of the scratch memory. `Args` mirrors the kernel's
    // parameter; `arrays` is what it places; the scratch memory is freed in stream order; the
    // arrays of `matching` are valid by this function's contract.
    unsafe { layout.teams.start(stream, function, launch, &args, headers) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive;
    use crate::source::fields;
    use std::mem::offset_of;

    fn layout(pairs: usize, rows: [usize; 2], team: Option<u32>) -> TeamLayout {
        let shape = Shape { pairs, rows, dims: 3, requested: [true; 2] };
        TeamLayout::new::<f32>(132, shape, team)
    }

    #[test]
    fn every_norm_has_kernels() {
        for norm in [Norm::One, Norm::Two] {
            for dims in [3, 4] {
                assert!(archive::tests::has_kernel(module(dims, norm), "tree"));
            }
        }
    }

    #[test]
    fn laid_out_as_in_nearest_tree_cu() {
        let source = include_str!("../../kernels/neighbors/nearest_tree.cu");
        let names = fields(source, "TreeArgs");
        assert_eq!(names, "guard matching headers scratch header_stride stride team first rows");
        assert_eq!((offset_of!(Args, headers), size_of::<Args>()), (160, 160 + 32 + 16));
    }

    #[test]
    fn scratch_sizes_match_the_documentation() {
        let million = [1_000_000; 2];
        let shape = Shape { pairs: 1, rows: million, dims: 3, requested: [true; 2] };
        let narrow = TeamLayout::new::<f32>(132, shape, None);
        let wide = TeamLayout::new::<f64>(132, shape, None);
        let bytes_a_point = |layout: TeamLayout| layout.bytes() as f64 / 2e6;
        assert!((29.0..29.3).contains(&bytes_a_point(narrow)), "{}", bytes_a_point(narrow));
        assert!((42.0..42.5).contains(&bytes_a_point(wide)), "{}", bytes_a_point(wide));
    }

    #[test]
    fn either_side_has_blocks_to_build_its_tree() {
        let split = |pairs, rows, team| {
            let layout = layout(pairs, rows, team);
            (layout.teams.team, layout.teams.count, layout.first)
        };
        assert_eq!(split(1, [1_000_000, 1_000_000], None), (132, 1, 66));
        assert_eq!(split(1, [1_000_000, 1], None), (132, 1, 131));
        assert_eq!(split(1, [0, 1_000_000], None), (132, 1, 1));
        assert_eq!(split(1, [100, 100], None), (1, 1, 1));
        assert_eq!(split(32, [24_000, 72_000], None), (5, 26, 1));
        assert_eq!(split(4, [100, 100], Some(2)), (2, 4, 1));
        assert_eq!(split(1_000, [4_000, 4_000], None), (1, 132, 1));
    }
}
