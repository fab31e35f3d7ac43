//! Voxel downsampling ([`crate::VoxelGrid`]).
//!
//! # Rules
//! * The cell of a point is `floor((p - origin) / size)` on each axis: one subtraction and one division, each rounded
//!   in the precision of the points, to which size and origin are rounded first. A cell that does not fit in 32
//!   bits is an error that names the axis.
//! * Voxels are the occupied cells, numbered in the order of their first rows, or sorted by cell. Those of too few
//!   points are left out before they are numbered.
//! * A mean is the sum of the coordinates in ascending order of rows, beginning at 0, divided by their number, both in
//!   double precision, rounded once.
//! * The distance to the center is measured in voxels: the sum over the axes, from the first on, of the squares of
//!   `(q - floor(q)) - 0.5`, where `q` is the quotient above, each operation rounded in the precision of the points.
//! * The random point of a voxel of `n` points is the one with [`random_place`] points of lower rows in the voxel.
//!
//! `prepared` checks cloud and options, [`mod@reference`] defines the result, `run` computes it on the CPU:
//! `keys` of cells, their `numbering`, and what stands for the `groups`.

mod device;
pub(crate) mod groups;
pub(crate) mod keys;
pub(crate) mod numbering;
pub(crate) mod prepared;
pub mod reference;
mod run;

pub use device::VoxelDevice;
pub use prepared::random_place;
