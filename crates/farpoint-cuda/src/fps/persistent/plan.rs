//! Plan of the blocks and threads that hold a cloud, by numbers of clouds and rows and the card's
//! limits, as `kernels/persistent/persistent.cu` describes.

use super::super::batch::Shape;
use crate::Properties;
use crate::launch::Launch;

/// Unit that holds a cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Block,
    Cluster,
    Grid,
}

/// A kernel: points per thread in registers, and maximum number of threads per block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kernel {
    pub(super) name: &'static str,
    points: usize,
    threads: usize,
    /// Set if further points may be in shared memory.
    spills: bool,
}

const fn kernel(name: &'static str, points: usize, threads: usize, spills: bool) -> Kernel {
    Kernel { name, points, threads, spills }
}

/// Returns the kernels of a holder, smallest first. (`persistent_block_2` serves no shape better.)
fn kernels(holder: Holder, wide: bool, many_axes: bool) -> &'static [Kernel] {
    match (holder, wide, many_axes) {
        (Holder::Block, false, false) => {
            const {
                &[
                    kernel("persistent_block_4", 4, 512, false),
                    kernel("persistent_block_8", 8, 512, false),
                    kernel("persistent_block_16", 16, 512, false),
                ]
            }
        }
        (Holder::Block, true, false) => {
            const {
                &[
                    kernel("persistent_block_4", 4, 384, false),
                    kernel("persistent_block_8", 8, 384, false),
                    kernel("persistent_block_16", 16, 256, false),
                ]
            }
        }
        (Holder::Cluster, false, false) => {
            const {
                &[
                    kernel("persistent_cluster_4", 4, 512, false),
                    kernel("persistent_cluster_8", 8, 512, false),
                    kernel("persistent_cluster_32", 32, 256, false),
                ]
            }
        }
        (Holder::Cluster, true, false) => {
            const {
                &[
                    kernel("persistent_cluster_4", 4, 384, false),
                    kernel("persistent_cluster_8", 8, 384, false),
                    kernel("persistent_cluster_16", 16, 256, false),
                ]
            }
        }
        (Holder::Grid, false, false) => const { &[kernel("persistent_grid_4", 4, 512, false)] },
        (Holder::Grid, true, false) => const { &[kernel("persistent_grid_4", 4, 384, false)] },
        (Holder::Block, _, true) => const { &[kernel("persistent_block_more", 4, 384, true)] },
        (Holder::Cluster, _, true) => const { &[kernel("persistent_cluster_more", 4, 384, true)] },
        (Holder::Grid, _, true) => const { &[kernel("persistent_grid_more", 4, 384, false)] },
    }
}

/// A planned launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) holder: Holder,
    pub(super) kernel: Kernel,
    threads: usize,
    /// Blocks per cloud.
    pub(super) blocks: usize,
    /// Concurrent clouds, for the grid.
    teams: usize,
    /// Bytes of shared memory per block.
    shared: usize,
}

/// Number of rows up to which a block does as well as several; in f32 up to the second number, with the
/// maximum number of threads.
const BLOCK_ROWS: [usize; 2] = [2_048, 3_072];

/// Number of rows above which a team of more than a cluster's blocks does better, if there is one.
const CLUSTER_ROWS: usize = 65_536;

/// Blocks of the largest cluster, and of the largest that every card supports.
pub(super) const LARGEST_CLUSTER: usize = 16;
pub(super) const SAFE_CLUSTER: usize = 8;

/// Threads per block that exchanges, unless the points need more: the fewer, the sooner all offers are
/// in.
const SOME_THREADS: usize = 128;
const MORE_THREADS: usize = 256;
const MAX_THREADS: usize = 384;

/// Input of the planning.
pub(super) struct Planner<'a> {
    pub(super) card: &'a Properties,
    pub(super) shape: Shape,
    /// Bytes per number.
    pub(super) number: usize,
    /// Maximum number of blocks per cluster.
    pub(super) cluster: usize,
}

impl Planner<'_> {
    /// Returns the launch for a batch; `None` if the card can't hold its clouds.
    pub(super) fn plan(&self) -> Option<Plan> {
        let Shape { clouds, rows, .. } = self.shape;
        if rows >= 1 << 31 {
            return None;
        }
        let share = self.share();
        let many = clouds * 2 > self.card.multiprocessors as usize;
        let block = match rows {
            _ if self.suits_a_full_block() => self.block(MAX_THREADS),
            _ if rows <= BLOCK_ROWS[0] || many => self.block(MORE_THREADS),
            _ => None,
        };
        if block.is_some() {
            return block;
        }
        if rows > CLUSTER_ROWS && share > self.cluster {
            self.grid().or_else(|| self.cluster())
        } else {
            self.cluster().or_else(|| self.grid())
        }
    }

    /// Blocks per cloud if all clouds have the same number.
    fn share(&self) -> usize {
        (self.card.multiprocessors as usize / self.shape.clouds.max(1)).max(1)
    }

    fn kernels(&self, holder: Holder) -> &'static [Kernel] {
        kernels(holder, self.number == 8, self.shape.dims > 3)
    }

    /// Returns whether a cloud is just too large for few threads, and has a multiprocessor of its own, but no more
    /// than four: clusters of that many blocks were slower.
    fn suits_a_full_block(&self) -> bool {
        let Shape { clouds, rows, dims, .. } = self.shape;
        let fills_a_multiprocessor =
            clouds <= self.card.multiprocessors as usize && self.share() <= 4;
        fills_a_multiprocessor
            && self.number == 4
            && dims <= 3
            && rows > BLOCK_ROWS[0]
            && rows <= BLOCK_ROWS[1]
    }

    fn block(&self, max_threads: usize) -> Option<Plan> {
        let rows = self.shape.rows.max(1);
        let threads = |kernel: &Kernel| rows.div_ceil(kernel.points).next_multiple_of(32);
        let kernels = self.kernels(Holder::Block);
        // Few threads with more points each, before many threads.
        let compact = kernels.iter().find(|kernel| threads(kernel) <= max_threads);
        let kernel = compact.or_else(|| kernels.last())?;
        self.fitted(Holder::Block, *kernel, 1, threads(kernel).min(kernel.threads))
    }

    fn cluster(&self) -> Option<Plan> {
        if !self.card.clusters {
            return None;
        }
        let rows = self.shape.rows;
        let largest = self.kernels(Holder::Cluster).last()?;
        let needed = rows.div_ceil(largest.points * largest.threads.min(MORE_THREADS));
        // Blocks beyond the useful number only wait for each other.
        let useful = rows.div_ceil(4 * SOME_THREADS);
        let blocks = self.share().min(useful).max(needed).clamp(2, self.cluster);
        self.smallest(Holder::Cluster, blocks)
    }

    fn grid(&self) -> Option<Plan> {
        if !self.card.cooperative {
            return None;
        }
        let multiprocessors = self.card.multiprocessors as usize;
        let useful = self.shape.rows.div_ceil(4 * MORE_THREADS);
        // If a share of the card can't hold a cloud, a larger one may: clouds then run one after another.
        std::iter::successors(Some(self.share().min(useful).max(1)), |&team| {
            (team < multiprocessors).then(|| (2 * team).min(multiprocessors))
        })
        .find_map(|team| self.smallest(Holder::Grid, team))
    }

    /// Returns the plan with the smallest kernel that holds the cloud, with few threads if possible.
    fn smallest(&self, holder: Holder, blocks: usize) -> Option<Plan> {
        let kernels = self.kernels(holder);
        let threads = match holder {
            Holder::Grid => [MORE_THREADS, usize::MAX],
            _ => [SOME_THREADS, MORE_THREADS],
        };
        threads.iter().find_map(|&threads| {
            kernels.iter().find_map(|&kernel| {
                self.fitted(holder, kernel, blocks, threads.min(kernel.threads))
            })
        })
    }

    /// Returns the plan, if it holds the cloud.
    fn fitted(
        &self,
        holder: Holder,
        kernel: Kernel,
        blocks: usize,
        threads: usize,
    ) -> Option<Plan> {
        let rows = self.shape.rows.div_ceil(blocks * threads).max(1);
        let excess = rows.saturating_sub(kernel.points);
        // Offers: two words of 16 bytes, four in f64.
        let packet = 8 * self.number;
        let exchange = match holder {
            Holder::Block => 64 * packet,
            Holder::Cluster => 2 * blocks * threads / 32 * packet,
            Holder::Grid => 64 * packet + 4 * self.number + blocks * packet,
        };
        let shared = exchange + (3 * rows + excess) * threads * self.number;
        let fits = (excess == 0 || kernel.spills) && shared <= self.card.shared_per_block as usize;
        let teams = match holder {
            Holder::Grid => self.card.multiprocessors as usize / blocks,
            _ => self.shape.clouds,
        };
        let teams = teams.min(self.shape.clouds).max(1);
        fits.then_some(Plan { holder, kernel, threads, blocks, teams, shared })
    }
}

impl Plan {
    /// Bytes of the mailboxes in global memory, with an additional word per team.
    pub(super) fn scratch_bytes(&self, number: usize) -> usize {
        match self.holder {
            Holder::Grid => self.teams * (self.blocks * 2 * 8 * number + 16),
            _ => 0,
        }
    }

    pub(super) fn launch(&self) -> Launch {
        let launch = Launch::new((self.teams * self.blocks) as u32, self.threads as u32)
            .shared(self.shared as u32);
        match self.holder {
            Holder::Block => launch,
            Holder::Cluster => launch.cluster(self.blocks as u32),
            Holder::Grid => launch.cooperative(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::tests::card;

    /// Returns kernel, blocks per cloud, threads.
    fn planned(
        card: &Properties,
        clouds: usize,
        rows: usize,
        number: usize,
    ) -> Option<(&'static str, usize, usize)> {
        let shape = Shape { clouds, rows, dims: 3, samples: rows };
        let plan = Planner { card, shape, number, cluster: 16 }.plan()?;
        Some((plan.kernel.name.trim_start_matches("persistent_"), plan.blocks, plan.threads))
    }

    #[test]
    fn plans_use_the_intended_kernels() {
        let h100 = card(90);
        assert_eq!(planned(&h100, 32, 1_024, 4), Some(("block_4", 1, 256)));
        assert_eq!(planned(&h100, 32, 3_000, 4), Some(("block_8", 1, 384)));
        assert_eq!(planned(&h100, 32, 3_100, 4), Some(("cluster_8", 4, 128)));
        assert_eq!(planned(&h100, 200, 3_000, 4), Some(("block_16", 1, 192)));
        assert_eq!(planned(&h100, 8, 16_384, 4), Some(("cluster_8", 16, 128)));
        assert_eq!(planned(&h100, 32, 24_000, 4), Some(("cluster_32", 4, 256)));
        assert_eq!(planned(&h100, 1, 40_000, 4), Some(("cluster_32", 16, 128)));
        assert_eq!(planned(&h100, 1, 124_668, 4), Some(("grid_4", 122, 256)));
        assert_eq!(planned(&h100, 1, 200_000, 4), Some(("grid_4", 132, 512)));
        assert_eq!(planned(&h100, 1, 200_000, 8), Some(("grid_4", 132, 384)));
        assert_eq!(planned(&h100, 1, 1_000_000, 4), None);
    }

    #[test]
    fn small_and_odd_shapes() {
        let h100 = card(90);
        assert_eq!(planned(&h100, 1, 0, 4), Some(("block_4", 1, 32)));
        assert_eq!(planned(&h100, 1, 1, 8), Some(("block_4", 1, 32)));
        assert_eq!(planned(&h100, 1000, 8_000, 4), Some(("block_16", 1, 512)));
        // More clouds than blocks, and too large for one.
        assert_eq!(planned(&h100, 500, 24_000, 4), Some(("cluster_32", 3, 256)));
        let a100 = card(80);
        assert_eq!(planned(&a100, 32, 24_000, 4), Some(("grid_4", 16, 512)));
        let old = Properties { cooperative: false, ..card(75) };
        assert_eq!(planned(&old, 1, 24_000, 4), None);
        assert_eq!(planned(&old, 1, 2_000, 4), Some(("block_8", 1, 256)));
    }

    #[test]
    fn every_plan_holds_its_cloud() {
        let mut random = farpoint::backend::SplitMix64::new(1);
        for _ in 0..20_000 {
            let card = card([75, 80, 90][random.below(3) as usize]);
            let [some, many] = [11, 22].map(|bits| 1 << random.below(bits));
            let clouds = 1 + random.below(some) as usize;
            let rows = random.below(many) as usize;
            let shape = Shape { clouds, rows, dims: 1 + random.below(6) as usize, samples: 1 };
            let (number, cluster) = (4 + 4 * random.below(2) as usize, 8 + 8 * (rows & 1));
            let Some(plan) = (Planner { card: &card, shape, number, cluster }).plan() else {
                assert!(rows > 100_000 || shape.dims > 3, "{shape:?}");
                continue;
            };
            let a_thread = rows.div_ceil(plan.blocks * plan.threads);
            assert!(a_thread <= plan.kernel.points || plan.kernel.spills, "{shape:?} {plan:?}");
            assert!(plan.threads % 32 == 0 && plan.threads <= plan.kernel.threads, "{plan:?}");
            assert!(plan.shared <= card.shared_per_block as usize, "{plan:?}");
            assert_eq!(plan.kernel.name.ends_with("more"), shape.dims > 3);
            match plan.holder {
                Holder::Block => assert_eq!((plan.blocks, plan.teams), (1, clouds)),
                Holder::Cluster => assert!(card.clusters && (2..=cluster).contains(&plan.blocks)),
                Holder::Grid => assert!(plan.teams * plan.blocks <= 132 && plan.teams >= 1),
            }
        }
    }

    #[test]
    fn every_planned_kernel_exists() {
        let source = include_str!("../../../kernels/persistent/persistent.cu");
        for (holder, kind) in
            [(Holder::Block, "BLOCK"), (Holder::Cluster, "CLUSTER"), (Holder::Grid, "GRID")]
        {
            for (wide, many_axes) in [(false, false), (true, false), (false, true)] {
                for kernel in kernels(holder, wide, many_axes) {
                    let name = kernel.name.rsplit('_').next().unwrap();
                    assert!(source.contains(&format!("{kind}({name}, ")), "{}", kernel.name);
                }
            }
        }
    }
}
