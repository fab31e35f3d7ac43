//! The formats, a folder or file each: reading, writing, and what a chunked reader needs to know of one.

pub(crate) mod copc;
pub(crate) mod e57;
pub(crate) mod las;
pub(crate) mod mesh;
pub(crate) mod npy;
pub(crate) mod pcd;
pub(crate) mod ply;
pub(crate) mod ptx;
pub(crate) mod raw;
pub(crate) mod text;
