//! Clouds that fit in the shared memory of a cluster of blocks (`kernels/cluster/peak_cluster.cu`).
//!
//! Scratch: 8 bytes in `f32`, 16 in `f64`, for each sample and for each candidate of a round.

use super::super::batch::{Batch, Shape};
use super::DEFAULT_GAMMA;
use crate::launch::Launch;
use crate::memory::Scratch;
use crate::module::Function;
use crate::{CudaScalar, Error, Gpu, Properties, Stream};
use farpoint::PeakOptions;

/// Rows of the largest cloud: the kernel numbers them by 16 bits.
const MAX_ROWS: usize = 1 << 16;

/// Rows of each cloud, divided by one more than the number of clouds, from which on teams of all blocks are faster.
const MIN_ROWS_FOR_TEAMS: usize = 12_000;

/// Fewest rows that justify one block of several.
const MIN_ROWS_PER_BLOCK: usize = 1_024;

/// Points of each thread, at most.
const POINTS_PER_THREAD: usize = 8;

/// Candidates that a block has room for, at least and at most.
const MIN_ROOM: usize = 512;
const MAX_ROOM: usize = 4_096;

/// Sizes of clusters, from the most blocks on.
const SIZES: [usize; 8] = [16, 12, 8, 6, 4, 3, 2, 1];

/// `struct ClusterArgs` of `kernels/cluster/peak_cluster.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Args<T> {
    batch: Batch<T>,
    counters: u64,
    scratch: u64,
    max_samples: u64,
    share: u32,
    room: u32,
    single: u32,
    target: u32,
    gamma: f64,
}

/// A launch: each cloud is held by a cluster of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    blocks: usize,
    threads: usize,
    /// Points and candidates that a block has room for.
    share: usize,
    room: usize,
    /// Candidates that a round should have.
    target: usize,
    /// Bytes of dynamic shared memory per block.
    shared: usize,
}

impl Plan {
    /// Plans clusters of `blocks` blocks for clouds of `rows` rows; `None` if they can't hold them.
    fn new<T>(card: &Properties, rows: usize, blocks: usize) -> Option<Self> {
        let number = size_of::<T>();
        let share = rows.div_ceil(32).div_ceil(blocks) * 32;
        let max_threads = if number == 4 { 1_024 } else { 512 };
        let threads = if share <= 1_024 { 512 } else { max_threads };
        let target = (112 * blocks).min(768);
        let points = share * (4 * number + 2);
        // An entry, its row, whether it is chosen, and its number among the chosen.
        let candidate = 4 * number + 5;
        // The cloud is sorted where points and candidates are later: counts of digits, two arrays of keys and rows.
        let sorting = 1_024 * (threads / 32 + blocks + 1) + 2 * (4 + 2) * share;
        let needed = sorting.div_ceil(4 * number).saturating_sub(share).max(8 * target.max(256));
        let room = available::<T>(card)?.checked_sub(points)? / candidate;
        let room = room.min(needed.next_multiple_of(32)).min(MAX_ROOM) / 32 * 32;
        let target = target.min(room / 2);
        let fits = room >= MIN_ROOM
            && share <= POINTS_PER_THREAD * threads
            && sorting <= 4 * number * (room + share);
        let shared = points + candidate * room;
        fits.then_some(Self { blocks, threads, share, room, target, shared })
    }

    /// Plans for a device, as many blocks for each cloud as let all clouds run at once; `None` where clouds of this
    /// shape are not held by clusters.
    pub(super) fn for_shape<T: CudaScalar>(
        gpu: &Gpu,
        shape: Shape,
        options: &PeakOptions,
    ) -> Result<Option<Self>, Error> {
        let card = gpu.properties();
        let Shape { clouds, rows, dims, .. } = shape;
        if !card.clusters || dims > 3 || options.team.is_some() || !suits(clouds, rows) {
            return Ok(None);
        }
        let share = card.multiprocessors as usize / clouds.max(1);
        let useful = share.min(rows / MIN_ROWS_PER_BLOCK).max(1);
        let plan = |blocks| Self::new::<T>(card, rows, blocks);
        for plan in SIZES.into_iter().filter(|&blocks| blocks <= useful).filter_map(plan) {
            if plan.clusters_at_once::<T>(gpu)? >= clouds {
                return Ok(Some(plan));
            }
        }
        // Clouds take turns, in clusters that are as small as can be.
        for plan in SIZES.into_iter().rev().filter_map(plan) {
            if plan.clusters_at_once::<T>(gpu)? > 0 {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    /// Returns the number of such clusters that the device runs at once; a block alone is no cluster, and always runs. To
    /// ask the driver takes longer than a launch, so it is asked once for sizes that hardly differ.
    fn clusters_at_once<T: CudaScalar>(&self, gpu: &Gpu) -> Result<usize, Error> {
        if self.blocks == 1 {
            return Ok(usize::MAX);
        }
        let most = available::<T>(gpu.properties()).unwrap_or(0);
        let shared = self.shared.next_multiple_of(16 << 10).min(most);
        let size = [size_of::<T>(), self.blocks, self.threads, shared];
        let clusters = gpu.clusters_at_once(size, || {
            let launch = Self { shared, ..*self }.launch(1);
            // Sizes that the device does not support are errors.
            Ok(launch.clusters_at_once(gpu, kernel::<T>(gpu)?).unwrap_or(0))
        })?;
        Ok(clusters as usize)
    }

    fn launch(&self, clouds: usize) -> Launch {
        Launch::new((clouds * self.blocks) as u32, self.threads as u32)
            .shared(self.shared as u32)
            .cluster(self.blocks as u32)
    }

    /// Number of samples that may be found of a cloud: the last round may choose more than wanted.
    fn max_samples(&self, shape: Shape) -> usize {
        shape.samples + self.room
    }

    pub(super) fn scratch_bytes<T: CudaScalar>(&self, shape: Shape) -> usize {
        let sample = 2 * size_of::<T>();
        shape.clouds.saturating_mul(self.max_samples(shape)).saturating_mul(sample)
    }

    /// Queues the sampling of a batch.
    ///
    /// # Safety
    /// Same as [`super::enqueue`].
    pub(super) unsafe fn enqueue<T: CudaScalar>(
        &self,
        stream: &Stream,
        batch: &Batch<T>,
        shape: Shape,
        scratch: Option<(u64, usize)>,
        options: &PeakOptions,
        counters: u64,
    ) -> Result<(), Error> {
        if shape.clouds == 0 {
            return Ok(());
        }
        let scratch = Scratch::new(stream, scratch, self.scratch_bytes::<T>(shape))?;
        let args = Args {
            batch: *batch,
            counters,
            scratch: scratch.pointer(),
            max_samples: self.max_samples(shape) as u64,
            share: self.share as u32,
            room: self.room as u32,
            single: options.single.unwrap_or(if shape.rows > 2_048 { 16 } else { 8 }),
            target: self.target as u32,
            gamma: options.gamma.unwrap_or(DEFAULT_GAMMA),
        };
        // SAFETY: `Args` mirrors the kernel's parameter; the scratch memory has the bytes that the kernel uses and is
        // freed in stream order; the arrays of `batch` and the counters are valid by this function's contract.
        unsafe { self.launch(shape.clouds).start(stream, kernel::<T>(stream.gpu())?, &args) }
    }
}

/// Returns whether clouds of so many rows fit, and are sampled sooner than by teams of all blocks.
fn suits(clouds: usize, rows: usize) -> bool {
    (1..=MAX_ROWS).contains(&rows) && rows < MIN_ROWS_FOR_TEAMS.saturating_mul(clouds + 1)
}

/// Bytes of dynamic shared memory that a block may have: beside `struct Desk` of `kernels/cluster/room.cuh`.
fn available<T>(card: &Properties) -> Option<usize> {
    let desk = if size_of::<T>() == 4 { 31 << 10 } else { 37 << 10 };
    (card.shared_per_block as usize).checked_sub(desk)
}

fn kernel<T: CudaScalar>(gpu: &Gpu) -> Result<Function, Error> {
    gpu.function::<T>("peak_cluster", "peak_cluster")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::tests::card;
    use crate::source::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_peak_cluster_cu() {
        assert_eq!(offset_of!(Args<f32>, counters), 128);
        assert_eq!(offset_of!(Args<f64>, counters), 136);
        assert_eq!(size_of::<Args<f32>>(), 128 + 24 + 16 + 8);
        let source = include_str!("../../../kernels/cluster/peak_cluster.cu");
        let names = "batch counters scratch most share room single target gamma";
        assert_eq!(fields(source, "ClusterArgs"), names);
    }

    /// Returns the sizes of clusters that hold clouds of so many rows.
    fn sizes<T>(rows: usize) -> Vec<usize> {
        let plan = |blocks: &usize| Plan::new::<T>(&card(90), rows, *blocks).is_some();
        SIZES.into_iter().filter(plan).collect()
    }

    #[test]
    fn clusters_hold_what_fits() {
        assert_eq!(sizes::<f32>(1_024), SIZES);
        assert_eq!(sizes::<f32>(8_192), SIZES);
        assert_eq!(sizes::<f32>(24_000), [16, 12, 8, 6, 4, 3]);
        assert_eq!(sizes::<f64>(24_000), [16, 12, 8, 6]);
        assert_eq!(sizes::<f32>(MAX_ROWS), [16, 12, 8]);
        assert_eq!(sizes::<f64>(MAX_ROWS), [16]);
    }

    #[test]
    fn few_large_clouds_are_left_to_teams() {
        assert!(suits(1, 16_384) && suits(2, 30_000) && suits(8, MAX_ROWS));
        assert!(!suits(1, 24_000) && !suits(2, 40_000) && !suits(8, MAX_ROWS + 1) && !suits(1, 0));
    }

    #[test]
    fn every_plan_fits_the_card() {
        let mut random = farpoint::backend::SplitMix64::new(1);
        for _ in 0..20_000 {
            let most = 1 << random.below(17);
            let rows = 1 + random.below(most) as usize;
            let (wide, blocks) = (random.below(2) == 1, SIZES[random.below(8) as usize]);
            let card = card(90);
            let new = if wide { Plan::new::<f64> } else { Plan::new::<f32> };
            let Some(plan) = new(&card, rows, blocks) else { continue };
            assert!(plan.share * blocks >= rows && plan.share % 32 == 0 && plan.room % 32 == 0);
            assert!(plan.shared < card.shared_per_block as usize, "{plan:?}");
            assert!(plan.share <= 8 * plan.threads && plan.share / 32 <= 256, "{plan:?}");
            // Bases of candidates have 16 bits.
            assert!(plan.room <= MAX_ROOM && plan.room > plan.target, "{plan:?}");
        }
    }
}
