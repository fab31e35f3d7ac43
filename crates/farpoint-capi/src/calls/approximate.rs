//! Approximate samplers.

use crate::options::farpoint_approximate_options;
use crate::points::farpoint_points;
use crate::status::{self, Failure};

/// An approximate sample, which is not the farthest point sample.
///
/// Made by farpoint_approximate(), freed by farpoint_approximate_result_free(). It never changes, so
/// any number of threads may read it at a time.
pub struct farpoint_approximate_result {}

/// The centroids of the occupied cells of a grid.
///
/// Made by farpoint_centroids(), freed by farpoint_centroids_result_free(). It never changes, so any
/// number of threads may read it at a time.
pub struct farpoint_centroids_result {}

/// Samples a cloud by a method that does not give the farthest point sample. The same on every run,
/// machine and number of threads.
///
/// @param points   the cloud
/// @param options  what is asked; not NULL
/// @param result   is set to the sample, to be freed by farpoint_approximate_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate(
    points: farpoint_points,
    options: *const farpoint_approximate_options,
    result: *mut *mut farpoint_approximate_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// The mean of the points of each occupied cell of a grid, for an amount FARPOINT_CELL; or, for
/// another amount, of the grid that has the most cells but no more than that. CPU only; what the
/// options say of methods, starts and seeds does not count.
///
/// @param points   the cloud
/// @param options  what is asked; not NULL
/// @param result   is set to the centroids, to be freed by farpoint_centroids_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids(
    points: farpoint_points,
    options: *const farpoint_approximate_options,
    result: *mut *mut farpoint_centroids_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// Frees an approximate sample. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_free(
    result: *mut farpoint_approximate_result,
) {
}

/// Number of samples; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_count(
    result: *const farpoint_approximate_result,
) -> usize {
    0
}

/// Rows of the cloud, all different: in order of choice, along the curve (FARPOINT_METHOD_MORTON), or
/// rising (FARPOINT_METHOD_GRID).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_indices(
    result: *const farpoint_approximate_result,
) -> *const usize {
    std::ptr::null()
}

/// Rows that were left out because they hold NaN or infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_dropped(
    result: *const farpoint_approximate_result,
) -> usize {
    0
}

/// The size of a cell of FARPOINT_METHOD_GRID: 0 if every distinct position had to be kept; NaN for
/// other methods.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_cell(
    result: *const farpoint_approximate_result,
) -> f64 {
    f64::NAN
}

/// The largest distance of any point to its nearest sample, where the method knows it
/// (FARPOINT_METHOD_FASTPOINT); NaN for other methods. farpoint_covering_radius() finds it for all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_covering_radius(
    result: *const farpoint_approximate_result,
) -> f64 {
    f64::NAN
}

/// Frees centroids. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_free(result: *mut farpoint_centroids_result) {}

/// Number of centroids; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_count(
    result: *const farpoint_centroids_result,
) -> usize {
    0
}

/// The coordinates of the centroids, without gaps; NULL if the points were not `float`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_coordinates_f32(
    result: *const farpoint_centroids_result,
) -> *const f32 {
    std::ptr::null()
}

/// The same for points of type `double`; NULL if they were not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_coordinates_f64(
    result: *const farpoint_centroids_result,
) -> *const f64 {
    std::ptr::null()
}

/// How many points each centroid is the mean of.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_point_counts(
    result: *const farpoint_centroids_result,
) -> *const usize {
    std::ptr::null()
}

/// The size of a cell.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_cell(
    result: *const farpoint_centroids_result,
) -> f64 {
    f64::NAN
}

/// Rows that were left out because they hold NaN or infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_dropped(
    result: *const farpoint_centroids_result,
) -> usize {
    0
}
