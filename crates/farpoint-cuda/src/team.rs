//! Teams of blocks: partition of the card among the clouds of a batch in a cooperative launch, and the
//! memory that a team needs to build the box tree of a cloud.

use crate::launch::Launch;
use crate::memory;
use crate::module::Function;
use crate::{CudaScalar, Error, Gpu, Stream};

/// Fewest and most rows that justify one block of a team: in too large a team blocks wait more than
/// they work, and too small ones need scratch for more clouds at a time than necessary.
const MIN_ROWS_PER_BLOCK: usize = 256;
const MAX_ROWS_PER_BLOCK: usize = 16_384;

/// Blocks that work together, with a barrier for each team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Teams {
    /// Blocks per team.
    pub team: usize,
    /// Number of teams.
    pub count: usize,
}

impl Teams {
    /// Teams for `jobs` jobs of at most `rows` rows on a card that runs `blocks` blocks concurrently;
    /// `requested` blocks per team, if set.
    pub fn new(blocks: usize, jobs: usize, rows: usize, requested: Option<u32>) -> Self {
        let share = (blocks / jobs.max(1)).max(rows / MAX_ROWS_PER_BLOCK);
        let useful = share.min(rows.div_ceil(MIN_ROWS_PER_BLOCK));
        let team = requested.map_or(useful, |team| team as usize).clamp(1, blocks);
        Self { team, count: (blocks / team).min(jobs).max(1) }
    }

    /// Blocks of the launch.
    pub fn blocks(self) -> u32 {
        (self.team * self.count) as u32
    }

    /// Starts a kernel of these teams. `launch` is cooperative; `headers` is the address of the teams'
    /// headers, and their size in bytes: they are zeroed first if blocks synchronize by them.
    ///
    /// # Safety
    /// Same as [`Launch::start`]; the headers must be memory of that size that nothing else uses.
    pub(crate) unsafe fn start<A: Copy>(
        self,
        stream: &Stream,
        function: Function,
        launch: Launch,
        args: &A,
        headers: (u64, usize),
    ) -> Result<(), Error> {
        // Blocks that work alone need not run concurrently, so they start sooner.
        let single = self.team == 1;
        let grid = [self.blocks(), 1, 1];
        // SAFETY: the headers are memory of that size that nothing else uses, and `args` is what the
        // kernel takes, both by this function's contract.
        unsafe {
            if !single {
                memory::set(stream, headers.0, 0, headers.1)?;
            }
            Launch { grid, cooperative: !single, ..launch }.start(stream, function, args)
        }
    }
}

/// Blocks of a launch that the device runs concurrently.
pub fn blocks_at_once(gpu: &Gpu, function: Function, launch: Launch) -> Result<usize, Error> {
    let blocks = launch.blocks_per_multiprocessor(gpu, function)? as usize;
    match blocks * gpu.properties().multiprocessors as usize {
        0 => {
            let name = function.name;
            Err(Error::Unsupported(format!("the {name} kernel does not fit this GPU")))
        }
        total => Ok(total),
    }
}

/// Rounds up to the alignment of the kernels' arrays.
pub fn aligned(bytes: usize) -> usize {
    bytes.div_ceil(256) * 256
}

/// Rounds rows up to whole groups of 32.
pub(crate) fn padded(rows: usize) -> usize {
    rows.div_ceil(32) * 32
}

/// Bytes of the arrays by which a team of `team` blocks orders a cloud and builds its box tree
/// (`kernels/common/order.cuh`, `kernels/common/boxtree.cuh`).
pub(crate) fn tree_bytes<T: CudaScalar>(rows: usize, team: usize) -> usize {
    let (number, padded) = (size_of::<T>(), padded(rows));
    let arrays = [
        6 * number * team,   // bounds of each block's part
        4 * 256 * team,      // digit counts
        3 * number * padded, // coordinates
        4 * 4 * padded,      // keys and rows, twice
        8 * 32 * number * blocks_of_children(padded / 32),
    ];
    arrays.into_iter().map(aligned).sum()
}

/// Blocks of 32 children in a tree over this many groups.
pub(crate) fn blocks_of_children(mut nodes: usize) -> usize {
    let mut blocks = 0;
    loop {
        nodes = nodes.div_ceil(32);
        blocks += nodes;
        if nodes <= 1 {
            return blocks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_a_block_for_32_children_on_every_level() {
        assert_eq!(blocks_of_children(1), 1);
        assert_eq!(blocks_of_children(32), 1);
        assert_eq!(blocks_of_children(33), 3);
        assert_eq!(blocks_of_children(32 * 32 + 1), 33 + 2 + 1);
        assert_eq!(tree_bytes::<f32>(1, 1), 256 + 1024 + 512 + 512 + 1024);
    }

    #[test]
    fn a_requested_team_is_limited_to_the_card() {
        assert_eq!(Teams::new(132, 10, 100_000, Some(500)), Teams { team: 132, count: 1 });
        assert_eq!(Teams::new(132, 10, 100_000, Some(3)), Teams { team: 3, count: 10 });
        assert_eq!(Teams::new(132, 0, 0, None), Teams { team: 1, count: 1 });
    }
}
