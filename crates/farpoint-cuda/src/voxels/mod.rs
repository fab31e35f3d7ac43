//! Voxel downsampling on GPUs: [`farpoint::VoxelGrid`], with the bits of the CPU.
//!
//! On device pointers it takes two steps. [`Gpu::enqueue_voxels`](crate::Gpu::enqueue_voxels) finds the voxels and
//! counts them; [`Gpu::enqueue_voxel_points`](crate::Gpu::enqueue_voxel_points) writes what is asked of them. Between
//! the two a caller reads the number of voxels, in a [`VoxelSummary`], to allocate memory for as many, which
//! synchronizes; or it makes room for as many voxels as there are rows and reads the number whenever it likes.
//!
//! `parameter` mirrors the kernels' structures, `grid` is the first step, `points` the second, in which `sorted` orders
//! the voxels by cell; `host` takes clouds in host memory through both.

mod grid;
pub(crate) mod host;
mod parameter;
mod points;
mod sorted;
mod summary;

pub use grid::DeviceVoxels;
pub use points::DeviceVoxelPoints;
pub use summary::VoxelSummary;

/// Memory that is cut into arrays, each aligned for every type.
#[derive(Debug, Clone, Copy)]
struct Cut {
    next: u64,
}

impl Cut {
    /// Returns the address of the next `bytes` bytes.
    fn take(&mut self, bytes: usize) -> u64 {
        let at = self.next;
        self.next += crate::team::aligned(bytes) as u64;
        at
    }
}

/// Blocks of a launch with a thread for each of these.
fn blocks(threads: usize) -> u32 {
    threads.div_ceil(crate::values::rows::THREADS as usize).max(1) as u32
}
