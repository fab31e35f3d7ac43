//! Options of voxel downsampling.

use crate::arguments::{list, lookup};
use crate::constants::*;
use crate::options::farpoint_run_options;
use crate::points::RowSelection;
use crate::status::{Failure, invalid};
use farpoint::{NonFinite, Origin, Reduce, VoxelGrid};
use std::mem::MaybeUninit;

/// Options of voxel downsampling. The edge length must be set: 0 is FARPOINT_INVALID_ARGUMENT.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_voxel_options {
    /// `sizeof(farpoint_voxel_options)`: gives the library the caller's version.
    pub size: usize,
    /// Threads and more. NULL: on all threads of the CPU, with the defaults.
    pub run: *const farpoint_run_options,
    /// Edge length of a voxel in the unit of the coordinates; ignored if `edges` is set.
    pub edge: f64,
    /// Edge length on each axis. NULL: `edge` on all.
    pub edges: *const f64,
    /// Number of `edges`.
    pub edge_count: usize,
    /// A corner of a voxel. NULL: 0 on every axis.
    pub origin: *const f64,
    /// Number of coordinates of the origin.
    pub origin_count: usize,
    /// Not 0 for an origin at the smallest coordinate of each axis.
    pub min_origin: i32,
    /// Point that stands for those of a voxel: FARPOINT_REDUCE_MEAN or another.
    pub reduce: MaybeUninit<farpoint_reduce>,
    /// The seed of FARPOINT_REDUCE_RANDOM.
    pub seed: u64,
    /// Not 0 to order voxels by cell, the first axis counting most; else they are in the order of their first rows.
    pub sorted: i32,
    /// Voxels of fewer points are left out.
    pub min_points: u32,
    /// Rows of the cloud to use, as in farpoint_sample_options. NULL: all rows.
    pub rows: *const usize,
    /// Number of `rows`.
    pub row_count: usize,
    /// One byte per point, as in farpoint_sample_options. NULL: all rows.
    pub mask: *const u8,
}

super::options!(farpoint_voxel_options, last: mask);

impl farpoint_voxel_options {
    /// Returns the job.
    ///
    /// # Safety
    /// Edges and origin are as the header says.
    ///
    /// # Errors
    /// If a number is unknown, or two origins are set.
    pub(crate) unsafe fn job(&self, non_finite: NonFinite) -> Result<VoxelGrid, Failure> {
        // SAFETY: by this function's contract.
        let (edges, origin) = unsafe {
            let edges = list(self.edges, self.edge_count, "edges")?;
            (edges, list(self.origin, self.origin_count, "origin")?)
        };
        let grid =
            if edges.is_empty() { VoxelGrid::new(self.edge) } else { VoxelGrid::per_axis(edges) };
        let origin = match (origin.is_empty(), self.min_origin) {
            (true, 0) => Origin::Zero,
            (true, _) => Origin::Min,
            (false, 0) => Origin::At(origin.to_vec()),
            _ => return Err(invalid("origin and min_origin are both set; set one of them")),
        };
        let reductions = [
            (FARPOINT_REDUCE_MEAN, Reduce::Mean),
            (FARPOINT_REDUCE_FIRST, Reduce::First),
            (FARPOINT_REDUCE_CENTER, Reduce::Center),
            (FARPOINT_REDUCE_RANDOM, Reduce::Random(self.seed)),
        ];
        let reduce = lookup(self.reduce, "reduce", &reductions)?;
        let job = grid.origin(origin).reduce(reduce).sorted(self.sorted != 0);
        Ok(job.min_points(self.min_points).non_finite(non_finite))
    }

    /// Returns the selected rows.
    pub(crate) fn row_selection(&self) -> RowSelection {
        RowSelection { rows: self.rows, row_count: self.row_count, mask: self.mask }
    }
}
