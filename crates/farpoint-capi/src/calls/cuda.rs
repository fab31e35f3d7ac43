//! Clouds and results in the memory of a GPU, on the caller's stream.

use crate::constants::farpoint_status;
use crate::options::{farpoint_match_options, farpoint_sample_options, farpoint_search_options};
use crate::status::entry;
use std::ffi::c_void;

#[cfg(feature = "cuda")]
use crate::gpu::jobs;
use crate::gpu::{farpoint_cuda_batch, farpoint_cuda_neighbors, farpoint_cuda_pairs};

/// Evaluates to the expression with CUDA; otherwise to an error.
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

/// Counts the NVIDIA GPUs of this machine.
///
/// @param count  is set to their number; to 0 on an error
/// @return FARPOINT_UNAVAILABLE, with the reason as text, if CUDA can't be used or the library was
///         built without it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_device_count(count: *mut usize) -> farpoint_status {
    entry(|| {
        with_cuda!(count => {
            // SAFETY: as the header requires.
            unsafe { jobs::device_count(count) }
        })
    })
}

/// Loads all kernels of a GPU now, so that no later call waits for that. Optional.
///
/// @param device_number  which GPU, from 0
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_warm_up(device_number: i32) -> farpoint_status {
    entry(|| with_cuda!(device_number => Ok(crate::run::gpu(device_number)?.warm_up()?)))
}

/// Queues the sampling of clouds in device memory on a stream, and returns. Nothing is copied to or
/// from the host and nothing waits, so that CUDA graphs can capture it.
///
/// Everything in `batch` must stay valid, and be written by nobody else, until the stream has
/// finished. Of the options, `starts`, `random_start`, `rows` and `mask` must not be set, nor of their
/// `run` anything but `device` and `device_number`.
///
/// @param batch    the clouds, and the addresses of the outputs
/// @param options  options of the job; the `device` of its `run` is FARPOINT_CUDA
/// @param stream   a `cudaStream_t`, which is a `CUstream`, of that GPU's primary context. NULL and
///                 cudaStreamLegacy are the legacy default stream, cudaStreamPerThread the thread's
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_sample(
    batch: *const farpoint_cuda_batch,
    options: *const farpoint_sample_options,
    stream: *mut c_void,
) -> farpoint_status {
    entry(|| {
        with_cuda!(batch, options, stream => {
            // SAFETY: as the header requires.
            unsafe { jobs::sample(batch, options, stream) }
        })
    })
}

/// Computes the bytes of scratch memory that farpoint_cuda_sample() needs for the same arguments, whose
/// addresses are ignored.
///
/// @param batch    the clouds
/// @param options  options of the job
/// @param bytes    is set to the number
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_sample_scratch(
    batch: *const farpoint_cuda_batch,
    options: *const farpoint_sample_options,
    bytes: *mut usize,
) -> farpoint_status {
    entry(|| {
        with_cuda!(batch, options, bytes => {
            // SAFETY: as the header requires.
            unsafe { jobs::sample_scratch(batch, options, bytes) }
        })
    })
}

/// Queues a search for non-finite rows, which farpoint_cuda_sample() does not accept. Nothing
/// waits.
///
/// @param batch          the clouds; addresses of outputs are ignored
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
) -> farpoint_status {
    entry(|| {
        with_cuda!(batch, device_number, stream, counts, firsts => {
            // SAFETY: as the header requires.
            unsafe { jobs::check_rows(batch, device_number, stream, [counts, firsts]) }
        })
    })
}

/// Queues a search for nearest points of clouds in device memory on a stream, and returns: as
/// farpoint_cuda_sample().
///
/// @param pairs    the clouds, and the addresses of the outputs
/// @param options  options of the job; the `device` of its `run` is FARPOINT_CUDA
/// @param stream   as in farpoint_cuda_sample()
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_nearest(
    pairs: *const farpoint_cuda_pairs,
    options: *const farpoint_match_options,
    stream: *mut c_void,
) -> farpoint_status {
    entry(|| {
        with_cuda!(pairs, options, stream => {
            // SAFETY: as the header requires.
            unsafe { jobs::nearest(pairs, options, stream) }
        })
    })
}

/// Computes the bytes of scratch memory that farpoint_cuda_nearest() needs for the same arguments.
///
/// @param pairs    the clouds, and the requested outputs
/// @param options  options of the job
/// @param bytes    is set to the number
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_nearest_scratch(
    pairs: *const farpoint_cuda_pairs,
    options: *const farpoint_match_options,
    bytes: *mut usize,
) -> farpoint_status {
    entry(|| {
        with_cuda!(pairs, options, bytes => {
            // SAFETY: as the header requires.
            unsafe { jobs::nearest_scratch(pairs, options, bytes) }
        })
    })
}

/// Queues a search for several neighbors (kNN, ball query) of clouds in device memory on a stream,
/// and returns: as farpoint_cuda_sample().
///
/// @param neighbors  the clouds, and the addresses of the outputs
/// @param options    options of the search; the `device` of its `run` is FARPOINT_CUDA
/// @param stream     as in farpoint_cuda_sample()
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_search(
    neighbors: *const farpoint_cuda_neighbors,
    options: *const farpoint_search_options,
    stream: *mut c_void,
) -> farpoint_status {
    entry(|| {
        with_cuda!(neighbors, options, stream => {
            // SAFETY: as the header requires.
            unsafe { jobs::search(neighbors, options, stream) }
        })
    })
}

/// Computes the bytes of scratch memory that farpoint_cuda_search() needs for the same arguments.
///
/// @param neighbors  the clouds
/// @param options    options of the search
/// @param bytes      is set to the number
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_search_scratch(
    neighbors: *const farpoint_cuda_neighbors,
    options: *const farpoint_search_options,
    bytes: *mut usize,
) -> farpoint_status {
    entry(|| {
        with_cuda!(neighbors, options, bytes => {
            // SAFETY: as the header requires.
            unsafe { jobs::search_scratch(neighbors, options, bytes) }
        })
    })
}

/// Checks if a kernel that was queued on a stream has given up since the last check: blocks that
/// wait for each other in vain leave after some seconds, and unfinished results are filled with -1
/// and NaN. Does not synchronize: call it when the work is known to be done.
///
/// @param device_number  which GPU, from 0
/// @param stream         as in farpoint_cuda_sample()
/// @return FARPOINT_OK, or FARPOINT_DEVICE_FAILED, after which the GPU still works
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_cuda_check_stream(
    device_number: i32,
    stream: *mut c_void,
) -> farpoint_status {
    entry(|| {
        with_cuda!(device_number, stream => {
            // SAFETY: as the header requires.
            unsafe { jobs::check_stream(device_number, stream) }
        })
    })
}
