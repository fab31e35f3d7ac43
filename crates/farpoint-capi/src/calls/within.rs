//! All neighbors in balls.

use crate::calls::nearest::sizes;
use crate::calls::pairs::{Pairs, only, pairs};
use crate::calls::search::asked;
use crate::constants::farpoint_status;
use crate::handle::{free, give, give_all, read};
use crate::options::farpoint_search_options;
use crate::points::farpoint_points;
use crate::run::{Either, in_precision, of_either, on_place};
use crate::status::Failure;
use farpoint::{Device, WithinBall};
use std::ptr;

/// For each row of a cloud all its neighbors in a ball, one row after another.
///
/// Made by farpoint_within() and farpoint_within_batch(), freed by farpoint_within_result_free(). It
/// never changes, so any number of threads may read it at a time.
pub struct farpoint_within_result {
    pub(super) found: Found,
    indices: Vec<usize>,
}

type Found = Either<WithinBall<f32>, WithinBall<f64>>;

impl From<Found> for farpoint_within_result {
    fn from(found: Found) -> Self {
        let indices = of_either!(&found, found => sizes(&found.indices));
        Self { found, indices }
    }
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
) -> farpoint_status {
    // SAFETY: the header asks for places, clouds and options as described.
    unsafe { give(result, || only(within(Pairs::one(&x, &y), options))) }
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
    // SAFETY: the header asks for places, clouds and options as described.
    unsafe { give_all(results, pair_count, || within(pairs(x, y, pair_count)?, options)) }
}

/// Frees neighbors in balls. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_free(result: *mut farpoint_within_result) {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Number of rows, those left out among them; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_rows(
    result: *const farpoint_within_result,
) -> usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, 0, |result| of_either!(&result.found, found => found.len())) }
}

/// Where the neighbors of each row begin, and the end of the last: `rows + 1` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_offsets(
    result: *const farpoint_within_result,
) -> *const usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe {
        read(
            result,
            ptr::null(),
            |result| of_either!(&result.found, found => found.offsets.as_ptr()),
        )
    }
}

/// The neighbors of all rows, as rows of the other cloud: those of row `i` are number `offsets[i]` to
/// below `offsets[i + 1]`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_indices(
    result: *const farpoint_within_result,
) -> *const usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, ptr::null(), |result| result.indices.as_ptr()) }
}

/// The distance of each neighbor as it is computed: squared with norm 2. NULL if the points were not
/// `float`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_raw_distances_f32(
    result: *const farpoint_within_result,
) -> *const f32 {
    let numbers = |result: &farpoint_within_result| match &result.found {
        Either::Single(found) => found.raw_distances.as_ptr(),
        Either::Double(_) => ptr::null(),
    };
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, ptr::null(), numbers) }
}

/// The same for points of type `double`; NULL if they were not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_raw_distances_f64(
    result: *const farpoint_within_result,
) -> *const f64 {
    let numbers = |result: &farpoint_within_result| match &result.found {
        Either::Double(found) => found.raw_distances.as_ptr(),
        Either::Single(_) => ptr::null(),
    };
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, ptr::null(), numbers) }
}

/// Rows that were left out because they hold NaN or infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_result_dropped(
    result: *const farpoint_within_result,
) -> usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, 0, |result| of_either!(&result.found, found => found.dropped)) }
}

/// # Safety
/// As `farpoint_within` and `farpoint_within_batch`.
unsafe fn within(
    pairs: Pairs<'_>,
    options: *const farpoint_search_options,
) -> Result<Vec<farpoint_within_result>, Failure> {
    // SAFETY: by this function's contract.
    let (run, job) = unsafe { asked(options) }?;
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
        Ok(found.each(|found| Found::Single(found).into(), |found| Found::Double(found).into()))
    })
}
