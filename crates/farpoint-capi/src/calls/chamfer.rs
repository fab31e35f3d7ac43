//! Nearest points in both directions, and the Chamfer distance.

use crate::calls::nearest::{farpoint_nearest_result, run_and_job};
use crate::calls::pairs::{Pairs, only, pairs};
use crate::constants::farpoint_status;
use crate::handle::{free, read, write_result, write_results};
use crate::options::farpoint_match_options;
use crate::points::farpoint_points;
use crate::run::{Either, in_precision, of_either, on_place};
use crate::status::Failure;
use farpoint::{Chamfer, Device, Scalar};
use std::ptr;
use std::sync::Arc;

/// Nearest points in both directions between two clouds, and what follows from them.
///
/// Made by farpoint_chamfer() and farpoint_chamfer_batch(), freed by farpoint_chamfer_result_free().
/// It never changes, so any number of threads may read it at a time.
pub struct farpoint_chamfer_result {
    found: Both,
    directions: [farpoint_nearest_result; 2],
}

type Both = Either<Arc<Chamfer<f32>>, Arc<Chamfer<f64>>>;

impl From<Both> for farpoint_chamfer_result {
    fn from(found: Both) -> Self {
        let directions = farpoint_nearest_result::both(&found);
        Self { found, directions }
    }
}

impl farpoint_chamfer_result {
    /// Returns the result in its precision.
    pub(super) fn found(&self) -> Either<&Chamfer<f32>, &Chamfer<f64>> {
        match &self.found {
            Either::Single(found) => Either::Single(found),
            Either::Double(found) => Either::Double(found),
        }
    }
}

/// Agreement of two clouds: the first is evaluated, the second is the ground truth.
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

/// Finds nearest points in both directions: for each point of either cloud its nearest of the other.
///
/// @param a        the first cloud
/// @param b        the second cloud; of the same scalar type and as many dimensions
/// @param options  options of the search; NULL: Euclidean distances, on all threads
/// @param result   is set to the result, to be freed by farpoint_chamfer_result_free(); to NULL on an
///                 error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer(
    a: farpoint_points,
    b: farpoint_points,
    options: *const farpoint_match_options,
    result: *mut *mut farpoint_chamfer_result,
) -> farpoint_status {
    // SAFETY: the header requires places, clouds and options as described.
    unsafe { write_result(result, || only(chamfer(Pairs::single(&a, &b), options))) }
}

/// farpoint_chamfer() for many pairs of clouds, spread over all threads; as farpoint_nearest_batch().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_batch(
    a: *const farpoint_points,
    b: *const farpoint_points,
    pair_count: usize,
    options: *const farpoint_match_options,
    results: *mut *mut farpoint_chamfer_result,
) -> farpoint_status {
    // SAFETY: the header requires places, clouds and options as described.
    unsafe { write_results(results, pair_count, || chamfer(pairs(a, b, pair_count)?, options)) }
}

/// Frees a result of farpoint_chamfer(), and what it lent. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_free(result: *mut farpoint_chamfer_result) {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Returns one direction: 0 from `a` to `b`, 1 from `b` to `a`. Valid until the result is freed; NULL for any
/// other number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_direction(
    result: *const farpoint_chamfer_result,
    direction: i32,
) -> *const farpoint_nearest_result {
    let direction = |result: &farpoint_chamfer_result| {
        let which = usize::try_from(direction).ok().and_then(|which| result.directions.get(which));
        which.map_or(ptr::null(), ptr::from_ref)
    };
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, ptr::null(), direction) }
}

/// Returns the Chamfer distance: the weighted sum of the means of both directions. Squared with norm 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_sum(
    result: *const farpoint_chamfer_result,
    weight_a: f64,
    weight_b: f64,
) -> f64 {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe {
        read(
            result,
            f64::NAN,
            |result| of_either!(&result.found, found => found.weighted_sum(weight_a, weight_b)),
        )
    }
}

/// Returns the Chamfer distance of distances that are not squared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_sum_of_distances(
    result: *const farpoint_chamfer_result,
) -> f64 {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe {
        read(
            result,
            f64::NAN,
            |result| of_either!(&result.found, found => found.sum_of_distances()),
        )
    }
}

/// Returns the Hausdorff distance: the largest distance, not squared, of either direction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_hausdorff(
    result: *const farpoint_chamfer_result,
) -> f64 {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe {
        read(
            result,
            f64::NAN,
            |result| of_either!(&result.found, found => found.hausdorff().to_f64()),
        )
    }
}

/// Returns precision, recall and F-score at a threshold in the unit of the coordinates; all NaN for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_result_f_score(
    result: *const farpoint_chamfer_result,
    threshold: f64,
) -> farpoint_f_score {
    let none = farpoint_f_score { precision: f64::NAN, recall: f64::NAN, f_score: f64::NAN };
    let score = |result: &farpoint_chamfer_result| {
        let score = of_either!(&result.found, found => found.f_score(threshold));
        farpoint_f_score {
            precision: score.precision,
            recall: score.recall,
            f_score: score.f_score,
        }
    };
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, none, score) }
}

/// # Safety
/// Same as `farpoint_chamfer` and `farpoint_chamfer_batch`.
unsafe fn chamfer(
    pairs: Pairs<'_>,
    options: *const farpoint_match_options,
) -> Result<Vec<farpoint_chamfer_result>, Failure> {
    // SAFETY: by this function's contract.
    let (run, job) = unsafe { run_and_job(options) }?;
    run.observed(|place, observer| {
        let found = in_precision!(pairs.precision()?, T => {
            // SAFETY: by this function's contract.
            let clouds = unsafe { pairs.read::<T>() }?;
            on_place!(place, device => pairs.run(
                &clouds,
                observer,
                |[a, b], observer| device.chamfer(&job, a, b, observer),
                |[a, b], observer| device.chamfer_batch(&job, a, b, observer),
            ))?
        });
        let single = |found| Both::Single(Arc::new(found)).into();
        let double = |found| Both::Double(Arc::new(found)).into();
        Ok(found.each(single, double))
    })
}
