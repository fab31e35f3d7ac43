//! Clouds in the memory of a GPU, answers that stay there, the caller's stream.

use crate::given::Versioned;
use crate::options::{farpoint_match_options, farpoint_sample_options, farpoint_search_options};
use crate::status::entry;

#[cfg(feature = "cuda")]
use crate::device;

/// Does it where there is CUDA; elsewhere an error.
macro_rules! with_cuda {
    ($($argument:ident),* => $work:expr) => {{
        #[cfg(feature = "cuda")]
        {
            $work
        }
        #[cfg(not(feature = "cuda"))]
        {
            $(let _ = $argument;)*
            Err(crate::run::without_cuda())
        }
    }};
}
use std::ffi::c_void;

/// Clouds in the memory of a GPU, and where their samples go. All addresses but that of the structure
/// are of device memory; numbers there are `int64_t`, except coordinates and distances, which are
/// of the scalar type.
///
/// Coordinate `axis` of row `i` of the batch is at
/// `points + i * point_stride + axis * axis_stride`, in bytes. Cloud `b` is the rows from `b * rows` on
/// (a padded batch; the first `lengths[b]` of them if there are `lengths`), or the rows
/// `offsets[b]` to below `offsets[b + 1]` (a ragged one).
///
/// The samples of cloud `b` are written from slot `b * amount` on, or from `slots[b]` on; slots left
/// over get the index -1 and the distance 0. `amount` is what the options ask of a cloud of `rows`
/// rows. Indices count from the cloud's own first row.
///
/// No coordinate may be NaN or infinite: farpoint_cuda_check_rows() finds those. Starts must be
/// different rows of their cloud. What is in device memory is not looked at.
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
    pub scalar: i32,
    /// 0.
    pub flags: u32,
    /// `clouds + 1` numbers: a ragged batch. NULL: a padded one.
    pub offsets: *const i64,
    /// Rows of each cloud that count. NULL: all.
    pub lengths: *const i64,
    /// Samples of each cloud, none above the amount. NULL: the amount.
    pub samples: *const i64,
    /// The first slot of each cloud's answer. NULL: `b * amount`.
    pub slots: *const i64,
    /// Rows to start from, `start_count` per cloud. NULL: row 0.
    pub starts: *const i64,
    /// Starts per cloud.
    pub start_count: usize,
    /// Where the indices go.
    pub indices: *mut i64,
    /// Where the squared selection distances go, one per slot; infinite for starts. NULL: not wanted.
    pub squared_distances: *mut c_void,
    /// Where the squared covering radii go, one per cloud. NULL: not wanted.
    pub squared_covering_radii: *mut c_void,
    /// Where the numbers of samples go, one per cloud. NULL: not wanted.
    pub counts: *mut i64,
    /// Scratch memory, aligned to 256 bytes. NULL: from a pool, in the order of the stream.
    pub scratch: *mut c_void,
    /// Bytes of `scratch`, at least what farpoint_cuda_sample_scratch() says.
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
    /// Rows of each cloud that count. NULL: all.
    pub lengths: *const i64,
}

/// Pairs of clouds in the memory of a GPU, and where their nearest points go. Clouds lie as in
/// farpoint_cuda_batch; the two sides may differ.
///
/// For each row of a side that has an answer the nearest row of the pair's other cloud is found. Its
/// distance (squared with norm 2) and its index, which counts from that cloud's first row, go to
/// the same row of the answers. Rows that pad a cloud get 0 and -1.
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
    pub scalar: i32,
    /// 0.
    pub flags: u32,
    /// Where the distances of the rows of `a` go. NULL: not wanted.
    pub raw_distances_a: *mut c_void,
    /// Where the nearest rows of the rows of `a` go. NULL: not wanted.
    pub indices_a: *mut i64,
    /// Where the distances of the rows of `b` go. NULL: not wanted.
    pub raw_distances_b: *mut c_void,
    /// Where the nearest rows of the rows of `b` go. NULL: not wanted.
    pub indices_b: *mut i64,
    /// Scratch memory, aligned to 256 bytes. NULL: from a pool, in the order of the stream.
    pub scratch: *mut c_void,
    /// Bytes of `scratch`, at least what farpoint_cuda_nearest_scratch() says.
    pub scratch_size: usize,
}

/// A search for several neighbors of clouds in the memory of a GPU, and where they go. Clouds lie as
/// in farpoint_cuda_batch.
///
/// Place `j` of row `i` of `x` is number `i * k + j` of the answers. Indices count from the first
/// row of the cloud of `y`. Places without a neighbor get -1 and infinity, rows that pad a cloud -1
/// and 0. A row with NaN or infinity has no neighbors and is none.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_cuda_neighbors {
    /// `sizeof(farpoint_cuda_neighbors)`.
    pub size: usize,
    /// The clouds whose rows ask.
    pub x: farpoint_cuda_side,
    /// The clouds that are searched.
    pub y: farpoint_cuda_side,
    /// Coordinates of a row.
    pub dimensions: usize,
    /// Number of clouds on either side.
    pub clouds: usize,
    /// FARPOINT_FLOAT32 or FARPOINT_FLOAT64.
    pub scalar: i32,
    /// 0.
    pub flags: u32,
    /// Where the distances go, `k` per row of `x`: squared with norm 2. NULL: not wanted.
    pub raw_distances: *mut c_void,
    /// Where the neighbors go, `k` per row of `x`. NULL: not wanted.
    pub indices: *mut i64,
    /// Where the numbers of neighbors go, one per row of `x`. NULL: not wanted.
    pub counts: *mut i64,
    /// Scratch memory, aligned to 256 bytes. NULL: from a pool, in the order of the stream.
    pub scratch: *mut c_void,
    /// Bytes of `scratch`, at least what farpoint_cuda_search_scratch() says.
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

/// How many GPUs of NVIDIA this machine has.
///
/// @param count  is set to their number; to 0 on an error
/// @return FARPOINT_UNAVAILABLE, with a text that says why, if CUDA can't be used or the library was
///         built without it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_device_count(count: *mut usize) -> i32 {
    entry(|| {
        with_cuda!(count => {
            // SAFETY: as the header asks.
            unsafe { device::device_count(count) }
        })
    })
}

/// Loads all kernels of a GPU now, so that no later call waits for that. Optional.
///
/// @param device_number  which GPU, from 0
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_warm_up(device_number: i32) -> i32 {
    entry(|| with_cuda!(device_number => Ok(crate::run::gpu(device_number)?.warm_up()?)))
}

/// Queues the sampling of clouds in device memory on a stream, and returns. Nothing is copied to or
/// from the host and nothing waits, so that CUDA graphs can capture it.
///
/// Everything in `batch` must stay valid, and be written by nobody else, until the stream has
/// finished. Of the options, `threads`, `instruction_set`, `progress`, `starts`, `random_start`, `rows`
/// and `mask` must not be set, and `bad_rows` be FARPOINT_BAD_ROWS_ERROR.
///
/// @param batch    the clouds, and where the answers go
/// @param options  what is asked; its `device` is FARPOINT_CUDA
/// @param stream   a `cudaStream_t`, which is a `CUstream`, of that GPU's primary context. NULL and
///                 cudaStreamLegacy are the legacy default stream, cudaStreamPerThread the thread's
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_sample(
    batch: *const farpoint_cuda_batch,
    options: *const farpoint_sample_options,
    stream: *mut c_void,
) -> i32 {
    entry(|| {
        with_cuda!(batch, options, stream => {
            // SAFETY: as the header asks.
            unsafe { device::sample(batch, options, stream) }
        })
    })
}

/// Bytes of scratch memory that farpoint_cuda_sample() needs for the same arguments, of which
/// addresses do not count.
///
/// @param batch    the clouds
/// @param options  what is asked
/// @param bytes    is set to the number
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_sample_scratch(
    batch: *const farpoint_cuda_batch,
    options: *const farpoint_sample_options,
    bytes: *mut usize,
) -> i32 {
    entry(|| {
        with_cuda!(batch, options, bytes => {
            // SAFETY: as the header asks.
            unsafe { device::sample_scratch(batch, options, bytes) }
        })
    })
}

/// Queues a search for rows that hold NaN or infinity, which farpoint_cuda_sample() must not be
/// given. Nothing waits.
///
/// @param batch          the clouds; where answers go does not count
/// @param device_number  which GPU, from 0
/// @param stream         as in farpoint_cuda_sample()
/// @param counts         device memory: the number of such rows of each cloud
/// @param firsts         device memory: the first such row of each cloud, or -1
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_check_rows(
    batch: *const farpoint_cuda_batch,
    device_number: i32,
    stream: *mut c_void,
    counts: *mut i64,
    firsts: *mut i64,
) -> i32 {
    entry(|| {
        with_cuda!(batch, device_number, stream, counts, firsts => {
            // SAFETY: as the header asks.
            unsafe { device::check_rows(batch, device_number, stream, [counts, firsts]) }
        })
    })
}

/// Queues a search for nearest points of clouds in device memory on a stream, and returns: as
/// farpoint_cuda_sample().
///
/// @param pairs    the clouds, and where the answers go
/// @param options  what is asked; its `device` is FARPOINT_CUDA
/// @param stream   as in farpoint_cuda_sample()
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_nearest(
    pairs: *const farpoint_cuda_pairs,
    options: *const farpoint_match_options,
    stream: *mut c_void,
) -> i32 {
    entry(|| {
        with_cuda!(pairs, options, stream => {
            // SAFETY: as the header asks.
            unsafe { device::nearest(pairs, options, stream) }
        })
    })
}

/// Bytes of scratch memory that farpoint_cuda_nearest() needs for the same arguments.
///
/// @param pairs    the clouds, and which answers are wanted
/// @param options  what is asked
/// @param bytes    is set to the number
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_nearest_scratch(
    pairs: *const farpoint_cuda_pairs,
    options: *const farpoint_match_options,
    bytes: *mut usize,
) -> i32 {
    entry(|| {
        with_cuda!(pairs, options, bytes => {
            // SAFETY: as the header asks.
            unsafe { device::nearest_scratch(pairs, options, bytes) }
        })
    })
}

/// Queues a search for several neighbors (kNN, ball query) of clouds in device memory on a stream,
/// and returns: as farpoint_cuda_sample().
///
/// @param neighbors  the clouds, and where the answers go
/// @param options    what is asked; its `device` is FARPOINT_CUDA
/// @param stream     as in farpoint_cuda_sample()
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_search(
    neighbors: *const farpoint_cuda_neighbors,
    options: *const farpoint_search_options,
    stream: *mut c_void,
) -> i32 {
    entry(|| {
        with_cuda!(neighbors, options, stream => {
            // SAFETY: as the header asks.
            unsafe { device::search(neighbors, options, stream) }
        })
    })
}

/// Bytes of scratch memory that farpoint_cuda_search() needs for the same arguments.
///
/// @param neighbors  the clouds
/// @param options    what is asked
/// @param bytes      is set to the number
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_search_scratch(
    neighbors: *const farpoint_cuda_neighbors,
    options: *const farpoint_search_options,
    bytes: *mut usize,
) -> i32 {
    entry(|| {
        with_cuda!(neighbors, options, bytes => {
            // SAFETY: as the header asks.
            unsafe { device::search_scratch(neighbors, options, bytes) }
        })
    })
}

/// Whether a kernel that was queued on a stream has given up since this was last asked: blocks that
/// wait for each other in vain leave after some seconds, and what they did not finish is filled with -1
/// and NaN. Waits for nothing: call it when the work is known to be done.
///
/// @param device_number  which GPU, from 0
/// @param stream         as in farpoint_cuda_sample()
/// @return FARPOINT_OK, or FARPOINT_DEVICE_FAILED, after which the GPU still works
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_check_stream(
    device_number: i32,
    stream: *mut c_void,
) -> i32 {
    entry(|| {
        with_cuda!(device_number, stream => {
            // SAFETY: as the header asks.
            unsafe { device::check_stream(device_number, stream) }
        })
    })
}
