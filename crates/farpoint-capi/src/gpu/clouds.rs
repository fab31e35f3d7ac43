//! Clouds in the memory of a GPU, as C structures.

use crate::arguments::Versioned;
use crate::constants::farpoint_scalar;
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// Clouds in the memory of a GPU, and the addresses of their samples. All addresses but that of the structure
/// are of device memory; numbers there are `int64_t`, except coordinates and distances, which are
/// of the scalar type.
///
/// Coordinate `axis` of row `i` of the batch is at
/// `points + i * point_stride + axis * axis_stride`, in bytes. Cloud `b` is the rows from `b * rows` on
/// (a padded batch; the first `lengths[b]` of them if there are `lengths`), or the rows
/// `offsets[b]` to below `offsets[b + 1]` (a ragged one).
///
/// The samples of cloud `b` are written from slot `b * amount` on, or from `slots[b]` on; unused slots
/// get the index -1 and the distance 0. `amount` is the amount of the options for a cloud of `rows`
/// rows. Indices count from the cloud's own first row.
///
/// No coordinate may be NaN or infinite: farpoint_cuda_check_rows() finds those. Starts must be
/// different rows of their cloud. Device memory is not checked.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_cuda_batch {
    /// `sizeof(farpoint_cuda_batch)`.
    pub size: usize,
    /// Coordinates.
    pub points: *const c_void,
    /// Bytes from a row to the next: a multiple of the scalar type's.
    pub point_stride: isize,
    /// Bytes from a coordinate to the next: a multiple of the scalar type's.
    pub axis_stride: isize,
    /// Coordinates of a row.
    pub dimensions: usize,
    /// Number of clouds.
    pub clouds: usize,
    /// Rows of each cloud of a padded batch; of a ragged one, at least those of its largest cloud.
    pub rows: usize,
    /// FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
    pub scalar: MaybeUninit<farpoint_scalar>,
    /// 0.
    pub flags: u32,
    /// `clouds + 1` numbers: a ragged batch. NULL: a padded one.
    pub offsets: *const i64,
    /// Number of rows used of each cloud. NULL: all.
    pub lengths: *const i64,
    /// Samples of each cloud, none above the amount. NULL: the amount.
    pub samples: *const i64,
    /// The first slot of each cloud's answer. NULL: `b * amount`.
    pub slots: *const i64,
    /// Rows to start from, `start_count` per cloud. NULL: row 0.
    pub starts: *const i64,
    /// Starts per cloud.
    pub start_count: usize,
    /// Indices of the samples.
    pub indices: *mut i64,
    /// Squared selection distances, one per slot; infinite for starts. NULL: not written.
    pub squared_distances: *mut c_void,
    /// Squared covering radii, one per cloud. NULL: not written.
    pub squared_covering_radii: *mut c_void,
    /// Numbers of samples, one per cloud. NULL: not written.
    pub counts: *mut i64,
    /// Scratch memory, aligned to 256 bytes. NULL: from a pool, in the order of the stream.
    pub scratch: *mut c_void,
    /// Bytes of `scratch`, at least those of farpoint_cuda_sample_scratch().
    pub scratch_size: usize,
}

/// One side of pairs of clouds in the memory of a GPU: see farpoint_cuda_pairs.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_cuda_side {
    /// Coordinates, as in farpoint_cuda_batch.
    pub points: *const c_void,
    /// Bytes from a row to the next: a multiple of the scalar type's.
    pub point_stride: isize,
    /// Bytes from a coordinate to the next: a multiple of the scalar type's.
    pub axis_stride: isize,
    /// Rows of each cloud of a padded batch; of a ragged one, at least those of its largest cloud.
    pub rows: usize,
    /// One number more than there are clouds: a ragged batch. NULL: a padded one.
    pub offsets: *const i64,
    /// Number of rows used of each cloud. NULL: all.
    pub lengths: *const i64,
}

/// Pairs of clouds in the memory of a GPU, and the addresses of their nearest points. Clouds are laid out as in
/// farpoint_cuda_batch; the two sides may differ.
///
/// For each row of a side with an output the nearest row of the pair's other cloud is found. Its
/// distance (squared with norm 2) and its index, which counts from that cloud's first row, are written to
/// the same row of the outputs. Rows that pad a cloud get 0 and -1.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_cuda_pairs {
    /// `sizeof(farpoint_cuda_pairs)`.
    pub size: usize,
    /// The first clouds.
    pub a: farpoint_cuda_side,
    /// The second clouds.
    pub b: farpoint_cuda_side,
    /// Coordinates of a row.
    pub dimensions: usize,
    /// Number of pairs.
    pub pairs: usize,
    /// FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
    pub scalar: MaybeUninit<farpoint_scalar>,
    /// 0.
    pub flags: u32,
    /// Distances of the rows of `a`. NULL: not written.
    pub raw_distances_a: *mut c_void,
    /// Nearest rows of the rows of `a`. NULL: not written.
    pub indices_a: *mut i64,
    /// Distances of the rows of `b`. NULL: not written.
    pub raw_distances_b: *mut c_void,
    /// Nearest rows of the rows of `b`. NULL: not written.
    pub indices_b: *mut i64,
    /// Scratch memory, aligned to 256 bytes. NULL: from a pool, in the order of the stream.
    pub scratch: *mut c_void,
    /// Bytes of `scratch`, at least those of farpoint_cuda_nearest_scratch().
    pub scratch_size: usize,
}

/// Clouds in the memory of a GPU, and the addresses of their neighbors. Clouds are laid out as
/// in farpoint_cuda_batch.
///
/// Place `j` of row `i` of `x` is number `i * k + j` of the outputs. Indices count from the first
/// row of the cloud of `y`. Places without a neighbor get -1 and infinity, rows that pad a cloud -1
/// and 0. A row with NaN or infinity has no neighbors and is none.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_cuda_neighbors {
    /// `sizeof(farpoint_cuda_neighbors)`.
    pub size: usize,
    /// The query points.
    pub x: farpoint_cuda_side,
    /// The searched clouds.
    pub y: farpoint_cuda_side,
    /// Coordinates of a row.
    pub dimensions: usize,
    /// Number of clouds on either side.
    pub clouds: usize,
    /// FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
    pub scalar: MaybeUninit<farpoint_scalar>,
    /// 0.
    pub flags: u32,
    /// Distances, `k` per row of `x`: squared with norm 2. NULL: not written.
    pub raw_distances: *mut c_void,
    /// Neighbors, `k` per row of `x`. NULL: not written.
    pub indices: *mut i64,
    /// Numbers of neighbors, one per row of `x`. NULL: not written.
    pub counts: *mut i64,
    /// Scratch memory, aligned to 256 bytes. NULL: from a pool, in the order of the stream.
    pub scratch: *mut c_void,
    /// Bytes of `scratch`, at least those of farpoint_cuda_search_scratch().
    pub scratch_size: usize,
}

// SAFETY: C's layout, the size first; numbers, and addresses that may be NULL.
unsafe impl Versioned for farpoint_cuda_batch {
    const NAME: &str = "farpoint_cuda_batch";
    const FIRST: usize =
        std::mem::offset_of!(farpoint_cuda_batch, scratch_size) + size_of::<usize>();
}

// SAFETY: C's layout, the size first; numbers, and addresses that may be NULL.
unsafe impl Versioned for farpoint_cuda_pairs {
    const NAME: &str = "farpoint_cuda_pairs";
    const FIRST: usize =
        std::mem::offset_of!(farpoint_cuda_pairs, scratch_size) + size_of::<usize>();
}

// SAFETY: C's layout, the size first; numbers, and addresses that may be NULL.
unsafe impl Versioned for farpoint_cuda_neighbors {
    const NAME: &str = "farpoint_cuda_neighbors";
    const FIRST: usize =
        std::mem::offset_of!(farpoint_cuda_neighbors, scratch_size) + size_of::<usize>();
}
