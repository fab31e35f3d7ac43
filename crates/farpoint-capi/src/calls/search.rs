//! Several neighbors of each point: k nearest, balls.

use crate::calls::nearest::farpoint_gradients_result;
use crate::options::{farpoint_run_options, farpoint_search_options};
use crate::points::farpoint_points;
use crate::status::{self, Failure};
use std::ffi::c_void;

/// For each row of a cloud its neighbors in another: `k` places per row, filled from the first.
///
/// Made by farpoint_search() and farpoint_search_batch(), freed by farpoint_neighbors_result_free().
/// It never changes, so any number of threads may read it at a time.
pub struct farpoint_neighbors_result {}

/// For each row of a cloud all its neighbors in a ball, one row after another.
///
/// Made by farpoint_within() and farpoint_within_batch(), freed by farpoint_within_result_free(). It
/// never changes, so any number of threads may read it at a time.
pub struct farpoint_within_result {}

/// The neighbors in `y` of each point of `x`, at most `k`: the nearest (kNN), or those in a ball
/// (ball query).
///
/// @param x        the cloud whose points ask
/// @param y        the cloud that is searched; of the same scalar type and as many dimensions
/// @param options  what is asked; not NULL, as it says how many neighbors
/// @param result   is set to the neighbors, to be freed by farpoint_neighbors_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_search(
    x: farpoint_points,
    y: farpoint_points,
    options: *const farpoint_search_options,
    result: *mut *mut farpoint_neighbors_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// farpoint_search() for many pairs of clouds, spread over all threads.
///
/// @param x           the clouds whose points ask, all of one scalar type
/// @param y           the clouds that are searched
/// @param pair_count  number of pairs; 0 is fine
/// @param options     what is asked of all pairs; not NULL
/// @param results     `pair_count` places, which are set to the results; all to NULL on an error
/// @return FARPOINT_OK or another status; the text names the first pair at fault
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_search_batch(
    x: *const farpoint_points,
    y: *const farpoint_points,
    pair_count: usize,
    options: *const farpoint_search_options,
    results: *mut *mut farpoint_neighbors_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// Frees neighbors. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_free(result: *mut farpoint_neighbors_result) {}

/// Number of rows, those left out among them; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_rows(
    result: *const farpoint_neighbors_result,
) -> usize {
    0
}

/// Places of a row: the `k` that was asked for. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_k(
    result: *const farpoint_neighbors_result,
) -> usize {
    0
}

/// Neighbors of each row, at most `k`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_counts(
    result: *const farpoint_neighbors_result,
) -> *const usize {
    std::ptr::null()
}

/// The neighbors of all rows, `rows * k` rows of the other cloud: those of row `i` begin at `i * k`.
/// FARPOINT_NONE in places without a neighbor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_indices(
    result: *const farpoint_neighbors_result,
) -> *const usize {
    std::ptr::null()
}

/// The distance of each neighbor as it is computed: squared with norm 2. Infinite in places without a
/// neighbor. NULL if the points were not `float`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_raw_distances_f32(
    result: *const farpoint_neighbors_result,
) -> *const f32 {
    std::ptr::null()
}

/// The same for points of type `double`; NULL if they were not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_raw_distances_f64(
    result: *const farpoint_neighbors_result,
) -> *const f64 {
    std::ptr::null()
}

/// Rows that were left out because they hold NaN or infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_neighbors_result_dropped(
    result: *const farpoint_neighbors_result,
) -> usize {
    0
}

/// All points of `y` in the ball around each point of `x`, however many there are.
///
/// @param x        the cloud whose points ask
/// @param y        the cloud that is searched; of the same scalar type and as many dimensions
/// @param options  what is asked; not NULL, and its `kind` a ball
/// @param result   is set to the neighbors, to be freed by farpoint_within_result_free(); to NULL on
///                 an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within(
    x: farpoint_points,
    y: farpoint_points,
    options: *const farpoint_search_options,
    result: *mut *mut farpoint_within_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// farpoint_within() for many pairs of clouds, spread over all threads; as farpoint_search_batch().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_batch(
    x: *const farpoint_points,
    y: *const farpoint_points,
    pair_count: usize,
    options: *const farpoint_search_options,
    results: *mut *mut farpoint_within_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// Frees neighbors in balls. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_free(result: *mut farpoint_within_result) {}

/// Number of rows, those left out among them; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_rows(
    result: *const farpoint_within_result,
) -> usize {
    0
}

/// Where the neighbors of each row begin, and the end of the last: `rows + 1` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_offsets(
    result: *const farpoint_within_result,
) -> *const usize {
    std::ptr::null()
}

/// The neighbors of all rows, as rows of the other cloud: those of row `i` are number `offsets[i]` to
/// below `offsets[i + 1]`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_indices(
    result: *const farpoint_within_result,
) -> *const usize {
    std::ptr::null()
}

/// The distance of each neighbor as it is computed: squared with norm 2. NULL if the points were not
/// `float`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_raw_distances_f32(
    result: *const farpoint_within_result,
) -> *const f32 {
    std::ptr::null()
}

/// The same for points of type `double`; NULL if they were not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_raw_distances_f64(
    result: *const farpoint_within_result,
) -> *const f64 {
    std::ptr::null()
}

/// Rows that were left out because they hold NaN or infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_dropped(
    result: *const farpoint_within_result,
) -> usize {
    0
}

/// The gradients of the coordinates of both clouds, from those of the raw distances that
/// farpoint_search() found: as farpoint_chamfer_backward(). CPU only.
///
/// @param found    what farpoint_search() returned for these clouds
/// @param x        the cloud whose points asked, as it was given there
/// @param y        the cloud that was searched, as it was given there
/// @param grad     `rows * k` numbers of the clouds' scalar type; what is in places without a
///                 neighbor does not count
/// @param options  how the call is run; may be NULL
/// @param result   is set to the gradients, to be freed by farpoint_gradients_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_search_backward(
    found: *const farpoint_neighbors_result,
    x: farpoint_points,
    y: farpoint_points,
    grad: *const c_void,
    options: *const farpoint_run_options,
    result: *mut *mut farpoint_gradients_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// farpoint_search_backward() for what farpoint_within() found: `grad` has one number per neighbor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_backward(
    found: *const farpoint_within_result,
    x: farpoint_points,
    y: farpoint_points,
    grad: *const c_void,
    options: *const farpoint_run_options,
    result: *mut *mut farpoint_gradients_result,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}
