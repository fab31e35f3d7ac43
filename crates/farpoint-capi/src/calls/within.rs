//! All neighbors in balls.

use crate::calls::pairs::{Pairs, only, pairs};
use crate::calls::search::run_and_job;
use crate::constants::farpoint_status;
use crate::handle::{free, read, write_result, write_results};
use crate::options::farpoint_search_options;
use crate::points::farpoint_points;
use crate::run::{Either, in_its_precision, in_precision, of_either, on_place};
use crate::status::Failure;
use farpoint::{Device, WithinBall};

/// All neighbors in a ball of each row of a cloud, concatenated.
///
/// Made by farpoint_within() and farpoint_within_batch(), freed by farpoint_within_result_free(). It
/// never changes, so any number of threads may read it at a time.
pub struct farpoint_within_result(pub(super) Found);

/// Neighbors in balls. Addresses are valid until the result is freed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct farpoint_within_view {
    /// Number of rows, those left out among them.
    pub rows: usize,
    /// Start of the neighbors of each row, and the end of the last: `rows + 1` numbers.
    pub offsets: *const usize,
    /// Total number of neighbors.
    pub count: usize,
    /// The neighbors of all rows, as rows of the other cloud: those of row `i` are number `offsets[i]`
    /// to below `offsets[i + 1]`.
    pub indices: *const u32,
    /// The distance of each neighbor as it is computed: squared with norm 2. NULL if the points were
    /// not `float`.
    pub raw_distances_f32: *const f32,
    /// The raw distances for points of type `double`; NULL if they were not.
    pub raw_distances_f64: *const f64,
    /// Rows that were left out because they hold NaN or infinity.
    pub dropped: usize,
}

type Found = Either<WithinBall<f32>, WithinBall<f64>>;

/// Finds all points of `y` in the ball around each point of `x`.
///
/// @param x        the query points
/// @param y        the searched cloud; of the same scalar type and as many dimensions
/// @param options  options of the search; not NULL, and its `kind` a ball
/// @param result   is set to the neighbors, to be freed by farpoint_within_result_free(); to NULL on
///                 an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within(
    x: farpoint_points,
    y: farpoint_points,
    options: *const farpoint_search_options,
    result: *mut *mut farpoint_within_result,
) -> farpoint_status {
    // SAFETY: the header requires places, clouds and options as described.
    unsafe { write_result(result, || only(within(Pairs::single(&x, &y), options))) }
}

/// farpoint_within() for many pairs of clouds, spread over all threads; as farpoint_search_batch().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_batch(
    x: *const farpoint_points,
    y: *const farpoint_points,
    pair_count: usize,
    options: *const farpoint_search_options,
    results: *mut *mut farpoint_within_result,
) -> farpoint_status {
    // SAFETY: the header requires places, clouds and options as described.
    unsafe { write_results(results, pair_count, || within(pairs(x, y, pair_count)?, options)) }
}

/// Frees neighbors in balls. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_free(result: *mut farpoint_within_result) {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Returns the neighbors, valid until the result is freed; all 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_view(
    result: *const farpoint_within_result,
) -> farpoint_within_view {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, farpoint_within_view::default(), farpoint_within_result::view) }
}

impl farpoint_within_result {
    fn view(&self) -> farpoint_within_view {
        let distances = in_its_precision!(&self.0, found => &found.raw_distances[..]);
        let (raw_distances_f32, raw_distances_f64) = distances.addresses();
        of_either!(&self.0, found => farpoint_within_view {
            rows: found.len(),
            offsets: found.offsets.as_ptr(),
            count: found.indices.len(),
            indices: found.indices.as_ptr(),
            raw_distances_f32,
            raw_distances_f64,
            dropped: found.dropped,
        })
    }
}

/// # Safety
/// Same as `farpoint_within` and `farpoint_within_batch`.
unsafe fn within(
    pairs: Pairs<'_>,
    options: *const farpoint_search_options,
) -> Result<Vec<farpoint_within_result>, Failure> {
    // SAFETY: by this function's contract.
    let (run, job) = unsafe { run_and_job(options) }?;
    run.observed(|place, observer| {
        let found = in_precision!(pairs.precision()?, T => {
            // SAFETY: by this function's contract.
            let clouds = unsafe { pairs.read::<T>() }?;
            on_place!(place, device => pairs.run(
                &clouds,
                observer,
                |[x, y], observer| device.within(&job, x, y, observer),
                |[x, y], observer| device.within_batch(&job, x, y, observer),
            ))?
        });
        let single = |found| farpoint_within_result(Found::Single(found));
        let double = |found| farpoint_within_result(Found::Double(found));
        Ok(found.each(single, double))
    })
}
