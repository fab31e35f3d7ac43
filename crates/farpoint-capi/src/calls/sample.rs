//! Exact sampling.

use crate::options::farpoint_sample_options;
use crate::points::farpoint_points;
use crate::status::{self, Failure};
use std::ffi::c_char;

/// A sample: indices in order of choice, and how far each was from those before it.
///
/// Made by farpoint_sample() and farpoint_sample_batch(), freed by farpoint_sample_result_free(). It
/// never changes, so any number of threads may read it at a time. What its functions point to is
/// valid until it is freed.
pub struct farpoint_sample_result {}

/// Samples a cloud by exact farthest point sampling.
///
/// Device, threads, instruction set and algorithm never change a sample. The first sample is the
/// first usable row unless the options say otherwise; then always the point farthest from all
/// chosen before, the one of lowest index among equals.
///
/// @param points   the cloud
/// @param options  what is asked; not NULL, as it says how many samples
/// @param result   is set to the sample, to be freed by farpoint_sample_result_free(); to NULL on an
///                 error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample(
    points: farpoint_points,
    options: *const farpoint_sample_options,
    result: *mut *mut farpoint_sample_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// Samples many clouds, spread over all threads. A sample does not depend on its batch.
///
/// @param clouds        the clouds, all of one scalar type
/// @param cloud_count   number of clouds; 0 is fine
/// @param options       what is asked: one structure for all clouds, or an array of one per cloud,
///                      all of one `size`. How the call is run (threads, device, progress, ...) is
///                      taken from the first
/// @param option_count  1 or `cloud_count`
/// @param results       `cloud_count` places, which are set to the samples, each to be freed by
///                      farpoint_sample_result_free(); all to NULL on an error
/// @return FARPOINT_OK or another status; the text names the first cloud at fault
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_batch(
    clouds: *const farpoint_points,
    cloud_count: usize,
    options: *const farpoint_sample_options,
    option_count: usize,
    results: *mut *mut farpoint_sample_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// Frees a sample. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_free(result: *mut farpoint_sample_result) {}

/// Number of samples; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_count(
    result: *const farpoint_sample_result,
) -> usize {
    0
}

/// Rows of the cloud in order of choice, all different: farpoint_sample_result_count() of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_indices(
    result: *const farpoint_sample_result,
) -> *const usize {
    std::ptr::null()
}

/// The squared distance of each sample to the nearest one before it; infinite for those that the
/// sampling was started from. NULL if the points were not `float`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_squared_distances_f32(
    result: *const farpoint_sample_result,
) -> *const f32 {
    std::ptr::null()
}

/// The same for points of type `double`; NULL if they were not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_squared_distances_f64(
    result: *const farpoint_sample_result,
) -> *const f64 {
    std::ptr::null()
}

/// The largest distance of any point to its nearest sample, in the unit of the coordinates: infinite
/// if nothing was chosen; NaN for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_covering_radius(
    result: *const farpoint_sample_result,
) -> f64 {
    f64::NAN
}

/// Rows that were left out because they hold NaN or infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_dropped(
    result: *const farpoint_sample_result,
) -> usize {
    0
}

/// The algorithm that ran, with its options, as text; "" for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_algorithm(
    result: *const farpoint_sample_result,
) -> *const c_char {
    c"".as_ptr()
}
