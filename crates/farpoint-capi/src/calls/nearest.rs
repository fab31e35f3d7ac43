//! Nearest points.

use crate::arguments::optional;
use crate::calls::pairs::{Pairs, only, pairs};
use crate::constants::farpoint_status;
use crate::handle::{free, read, write_result, write_results};
use crate::options::{farpoint_match_options, run};
use crate::points::farpoint_points;
use crate::run::{Either, Run, in_its_precision, in_precision, of_either, on_place};
use crate::status::Failure;
use farpoint::{Chamfer, Device, Matcher, Nearest, Scalar};
use std::ops::Deref;
use std::sync::Arc;

/// The nearest point of another cloud for each point of a cloud.
///
/// Made by farpoint_nearest() and farpoint_nearest_batch() and freed by
/// farpoint_nearest_result_free(), or lent by farpoint_chamfer_result_direction(). It never changes,
/// so any number of threads may read it at a time.
pub struct farpoint_nearest_result(Either<Held<f32>, Held<f64>>);

/// Nearest points. Addresses are valid until the result is freed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct farpoint_nearest_view {
    /// Number of rows, those left out among them.
    pub rows: usize,
    /// The nearest point of each row, as a row of the other cloud, the lowest among those equally
    /// near; FARPOINT_NONE for rows that were left out.
    pub indices: *const u32,
    /// The distance of each row to its nearest point as it is computed: squared with norm 2. NaN for
    /// rows that were left out. NULL if the points were not `float`.
    pub raw_distances_f32: *const f32,
    /// The raw distances for points of type `double`; NULL if they were not.
    pub raw_distances_f64: *const f64,
    /// Rows that were left out because they hold NaN or infinity.
    pub dropped: usize,
}

/// A single direction, or one of two.
enum Held<T> {
    Alone(Nearest<T>),
    There(Arc<Chamfer<T>>),
    Back(Arc<Chamfer<T>>),
}

impl<T> Deref for Held<T> {
    type Target = Nearest<T>;

    fn deref(&self) -> &Nearest<T> {
        match self {
            Self::Alone(found) => found,
            Self::There(both) => &both.a_to_b,
            Self::Back(both) => &both.b_to_a,
        }
    }
}

impl farpoint_nearest_result {
    fn view(&self) -> farpoint_nearest_view {
        let distances = in_its_precision!(&self.0, found => &found.raw_distances[..]);
        let (raw_distances_f32, raw_distances_f64) = distances.addresses();
        of_either!(&self.0, found => farpoint_nearest_view {
            rows: found.len(),
            indices: found.indices.as_ptr(),
            raw_distances_f32,
            raw_distances_f64,
            dropped: found.dropped,
        })
    }

    /// Returns the results of both directions of a pair.
    pub(super) fn both(both: &Either<Arc<Chamfer<f32>>, Arc<Chamfer<f64>>>) -> [Self; 2] {
        match both {
            Either::Single(both) => {
                [Held::There(both.clone()), Held::Back(both.clone())].map(Either::Single)
            }
            Either::Double(both) => {
                [Held::There(both.clone()), Held::Back(both.clone())].map(Either::Double)
            }
        }
        .map(Self)
    }
}

/// Finds for each point of `a` its nearest of `b`.
///
/// @param a        the query points
/// @param b        the searched cloud; of the same scalar type and as many dimensions
/// @param options  options of the search; NULL: Euclidean distances, on all threads
/// @param result   is set to the result, to be freed by farpoint_nearest_result_free(); to NULL on an
///                 error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest(
    a: farpoint_points,
    b: farpoint_points,
    options: *const farpoint_match_options,
    result: *mut *mut farpoint_nearest_result,
) -> farpoint_status {
    // SAFETY: the header requires places, clouds and options as described.
    unsafe { write_result(result, || only(nearest(Pairs::single(&a, &b), options))) }
}

/// farpoint_nearest() for many pairs of clouds, spread over all threads.
///
/// @param a           the first clouds, all of one scalar type
/// @param b           the second clouds
/// @param pair_count  number of pairs; 0 is fine
/// @param options     options of the search, shared by all pairs; may be NULL
/// @param results     `pair_count` places, which are set to the results; all to NULL on an error
/// @return FARPOINT_OK or another status; the text names the first pair at fault
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_batch(
    a: *const farpoint_points,
    b: *const farpoint_points,
    pair_count: usize,
    options: *const farpoint_match_options,
    results: *mut *mut farpoint_nearest_result,
) -> farpoint_status {
    // SAFETY: the header requires places, clouds and options as described.
    unsafe { write_results(results, pair_count, || nearest(pairs(a, b, pair_count)?, options)) }
}

/// Frees nearest points. NULL is fine. Not for results of farpoint_chamfer_result_direction().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_free(result: *mut farpoint_nearest_result) {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Returns the nearest points, valid until the result is freed; all 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_view(
    result: *const farpoint_nearest_result,
) -> farpoint_nearest_view {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, farpoint_nearest_view::default(), farpoint_nearest_result::view) }
}

/// Returns the mean of the raw distances: squared with norm 2, as most libraries compute one side of the
/// Chamfer distance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_mean(
    result: *const farpoint_nearest_result,
) -> f64 {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, f64::NAN, |result| of_either!(&result.0, found => found.mean())) }
}

/// Returns the mean of the distances, not squared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_mean_distance(
    result: *const farpoint_nearest_result,
) -> f64 {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe {
        read(result, f64::NAN, |result| of_either!(&result.0, found => found.mean_distance()))
    }
}

/// Returns the largest distance, not squared: the one-sided Hausdorff distance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_max_distance(
    result: *const farpoint_nearest_result,
) -> f64 {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe {
        read(
            result,
            f64::NAN,
            |result| of_either!(&result.0, found => found.max_distance().to_f64()),
        )
    }
}

/// Returns the share of the rows whose nearest point is within `threshold`, in the unit of the coordinates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_nearest_result_share_within(
    result: *const farpoint_nearest_result,
    threshold: f64,
) -> f64 {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe {
        read(
            result,
            f64::NAN,
            |result| of_either!(&result.0, found => found.share_within(threshold)),
        )
    }
}

/// Reads the device and the search from options.
///
/// # Safety
/// NULL, or options as the header describes them.
pub(super) unsafe fn run_and_job(
    options: *const farpoint_match_options,
) -> Result<(Run, Matcher), Failure> {
    // SAFETY: by this function's contract.
    match unsafe { optional(options) }? {
        None => Ok((Run::default(), Matcher::new())),
        Some(options) => {
            // SAFETY: by this function's contract.
            let run = unsafe { run(options.run) }?;
            let job = options.job(run.non_finite)?;
            Ok((run, job))
        }
    }
}

/// # Safety
/// Same as `farpoint_nearest` and `farpoint_nearest_batch`.
unsafe fn nearest(
    pairs: Pairs<'_>,
    options: *const farpoint_match_options,
) -> Result<Vec<farpoint_nearest_result>, Failure> {
    // SAFETY: by this function's contract.
    let (run, job) = unsafe { run_and_job(options) }?;
    run.observed(|place, observer| {
        let found = in_precision!(pairs.precision()?, T => {
            // SAFETY: by this function's contract.
            let clouds = unsafe { pairs.read::<T>() }?;
            on_place!(place, device => pairs.run(
                &clouds,
                observer,
                |[a, b], observer| device.nearest(&job, a, b, observer),
                |[a, b], observer| device.nearest_batch(&job, a, b, observer),
            ))?
        });
        let single = |found| farpoint_nearest_result(Either::Single(Held::Alone(found)));
        let double = |found| farpoint_nearest_result(Either::Double(Held::Alone(found)));
        Ok(found.each(single, double))
    })
}
