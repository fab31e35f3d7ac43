//! Nearest points, and the Chamfer distance.

use crate::options::{farpoint_match_options, farpoint_run_options};
use crate::points::farpoint_points;
use crate::status::{self, Failure};
use std::ffi::c_void;

/// For each point of a cloud its nearest of another.
///
/// Made by farpoint_nearest() and farpoint_nearest_batch() and freed by
/// farpoint_nearest_result_free(), or lent by farpoint_chamfer_result_direction(). It never changes,
/// so any number of threads may read it at a time.
pub struct farpoint_nearest_result {}

/// Nearest points in both directions between two clouds, and what follows from them.
///
/// Made by farpoint_chamfer() and farpoint_chamfer_batch(), freed by farpoint_chamfer_result_free().
/// It never changes, so any number of threads may read it at a time.
pub struct farpoint_chamfer_result {}

/// Gradients of the coordinates of two clouds.
///
/// Made by farpoint_chamfer_backward() and its like, freed by farpoint_gradients_result_free(). It
/// never changes, so any number of threads may read it at a time.
pub struct farpoint_gradients_result {}

/// How much of two clouds agrees: the first is what is judged, the second the truth.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_f_score {
    /// Share of the first cloud within the threshold of the second, 0 to 1.
    pub precision: f64,
    /// Share of the second cloud within the threshold of the first, 0 to 1.
    pub recall: f64,
    /// Their harmonic mean; 0 when both are 0.
    pub f_score: f64,
}

/// For each point of `a` its nearest of `b`.
///
/// @param a        the cloud whose points ask
/// @param b        the cloud that is searched; of the same scalar type and as many dimensions
/// @param options  what is asked; NULL: Euclidean distances, on all threads
/// @param result   is set to the result, to be freed by farpoint_nearest_result_free(); to NULL on an
///                 error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest(
    a: farpoint_points,
    b: farpoint_points,
    options: *const farpoint_match_options,
    result: *mut *mut farpoint_nearest_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// farpoint_nearest() for many pairs of clouds, spread over all threads.
///
/// @param a           the first clouds, all of one scalar type
/// @param b           the second clouds
/// @param pair_count  number of pairs; 0 is fine
/// @param options     what is asked of all pairs; may be NULL
/// @param results     `pair_count` places, which are set to the results; all to NULL on an error
/// @return FARPOINT_OK or another status; the text names the first pair at fault
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_batch(
    a: *const farpoint_points,
    b: *const farpoint_points,
    pair_count: usize,
    options: *const farpoint_match_options,
    results: *mut *mut farpoint_nearest_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// Frees nearest points. NULL is fine. Not for what farpoint_chamfer_result_direction() lends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_free(result: *mut farpoint_nearest_result) {}

/// Number of rows, those left out among them; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_count(
    result: *const farpoint_nearest_result,
) -> usize {
    0
}

/// The nearest point of each row, as a row of the other cloud, the lowest among those equally near;
/// FARPOINT_NONE for rows that were left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_indices(
    result: *const farpoint_nearest_result,
) -> *const usize {
    std::ptr::null()
}

/// The distance of each row to its nearest point as it is computed: squared with norm 2. NaN for rows
/// that were left out. NULL if the points were not `float`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_raw_distances_f32(
    result: *const farpoint_nearest_result,
) -> *const f32 {
    std::ptr::null()
}

/// The same for points of type `double`; NULL if they were not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_raw_distances_f64(
    result: *const farpoint_nearest_result,
) -> *const f64 {
    std::ptr::null()
}

/// Mean of the raw distances: squared with norm 2, as most libraries compute one side of the Chamfer
/// distance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_mean(
    result: *const farpoint_nearest_result,
) -> f64 {
    f64::NAN
}

/// Mean of the distances, not squared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_mean_distance(
    result: *const farpoint_nearest_result,
) -> f64 {
    f64::NAN
}

/// Largest distance, not squared: the one-sided Hausdorff distance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_max_distance(
    result: *const farpoint_nearest_result,
) -> f64 {
    f64::NAN
}

/// Share of the rows whose nearest point is within `threshold`, in the unit of the coordinates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_share_within(
    result: *const farpoint_nearest_result,
    threshold: f64,
) -> f64 {
    f64::NAN
}

/// Rows that were left out because they hold NaN or infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_dropped(
    result: *const farpoint_nearest_result,
) -> usize {
    0
}

/// Nearest points in both directions: for each point of either cloud its nearest of the other.
///
/// @param a        the first cloud
/// @param b        the second cloud; of the same scalar type and as many dimensions
/// @param options  what is asked; NULL: Euclidean distances, on all threads
/// @param result   is set to the result, to be freed by farpoint_chamfer_result_free(); to NULL on an
///                 error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer(
    a: farpoint_points,
    b: farpoint_points,
    options: *const farpoint_match_options,
    result: *mut *mut farpoint_chamfer_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// farpoint_chamfer() for many pairs of clouds, spread over all threads; as farpoint_nearest_batch().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_batch(
    a: *const farpoint_points,
    b: *const farpoint_points,
    pair_count: usize,
    options: *const farpoint_match_options,
    results: *mut *mut farpoint_chamfer_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// Frees a result of farpoint_chamfer(), and what it lent. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_free(result: *mut farpoint_chamfer_result) {}

/// One direction: 0 from `a` to `b`, 1 from `b` to `a`. Lent until the result is freed; NULL for any
/// other number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_direction(
    result: *const farpoint_chamfer_result,
    direction: i32,
) -> *const farpoint_nearest_result {
    std::ptr::null()
}

/// The Chamfer distance: the means of both directions, weighted and added. Squared with norm 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_sum(
    result: *const farpoint_chamfer_result,
    weight_a: f64,
    weight_b: f64,
) -> f64 {
    f64::NAN
}

/// The Chamfer distance of distances that are not squared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_sum_of_distances(
    result: *const farpoint_chamfer_result,
) -> f64 {
    f64::NAN
}

/// The Hausdorff distance: the largest distance, not squared, of either direction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_hausdorff(
    result: *const farpoint_chamfer_result,
) -> f64 {
    f64::NAN
}

/// Precision, recall and F-score at a threshold in the unit of the coordinates; all NaN for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_f_score(
    result: *const farpoint_chamfer_result,
    threshold: f64,
) -> farpoint_f_score {
    farpoint_f_score { precision: f64::NAN, recall: f64::NAN, f_score: f64::NAN }
}

/// The gradients of the coordinates of both clouds, from those of the raw distances.
///
/// The distance of a point p to its nearest q with the gradient g sends 2 g (p - q) to p and the
/// negative of it to q (norm 1: g times the sign of the difference). The same bits on every run, on
/// any number of threads. For the mean of `n` distances give `1 / n` for each.
///
/// @param found    what farpoint_chamfer() returned for these clouds
/// @param a        the first cloud, as it was given there
/// @param b        the second cloud, as it was given there
/// @param grad_a   gradients of the raw distances from `a` to `b`: a number of the clouds' scalar
///                 type per row of `a`. NULL: all 0
/// @param grad_b   the same from `b` to `a`, a number per row of `b`. NULL: all 0
/// @param options  how the call is run; may be NULL
/// @param result   is set to the gradients, to be freed by farpoint_gradients_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_backward(
    found: *const farpoint_chamfer_result,
    a: farpoint_points,
    b: farpoint_points,
    grad_a: *const c_void,
    grad_b: *const c_void,
    options: *const farpoint_run_options,
    result: *mut *mut farpoint_gradients_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// Frees gradients. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_gradients_result_free(result: *mut farpoint_gradients_result) {}

/// Numbers of one cloud's gradients, its points times its dimensions: 0 for the first cloud, 1 for
/// the second. 0 for NULL or another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_gradients_result_count(
    result: *const farpoint_gradients_result,
    cloud: i32,
) -> usize {
    0
}

/// The gradients of the first cloud (0) or the second (1), without gaps; NULL for another number, and
/// if the points were not `float`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_gradients_result_f32(
    result: *const farpoint_gradients_result,
    cloud: i32,
) -> *const f32 {
    std::ptr::null()
}

/// The same for points of type `double`; NULL if they were not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_gradients_result_f64(
    result: *const farpoint_gradients_result,
    cloud: i32,
) -> *const f64 {
    std::ptr::null()
}
