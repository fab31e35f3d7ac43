//! Approximate samplers.

use crate::calls::nearest::sizes;
use crate::given::structure;
use crate::handle::{free, give, read};
use crate::options::farpoint_approximate_options;
use crate::points::farpoint_points;
use crate::run::{Either, in_precision, of_either, on_place};
use crate::status::Failure;
use farpoint::approximate::{ApproximateDevice, ApproximateSample, Centroids, Details};
use std::ptr;

/// An approximate sample, which is not the farthest point sample.
///
/// Made by farpoint_approximate(), freed by farpoint_approximate_result_free(). It never changes, so
/// any number of threads may read it at a time.
pub struct farpoint_approximate_result(ApproximateSample);

/// The centroids of the occupied cells of a grid.
///
/// Made by farpoint_centroids(), freed by farpoint_centroids_result_free(). It never changes, so any
/// number of threads may read it at a time.
pub struct farpoint_centroids_result {
    found: Either<Centroids<f32>, Centroids<f64>>,
    counts: Vec<usize>,
}

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
    // SAFETY: the header asks for a place, points and options as described.
    unsafe { give(result, || approximate(&points, options)) }
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
    // SAFETY: the header asks for a place, points and options as described.
    unsafe { give(result, || centroids(&points, options)) }
}

/// Frees an approximate sample. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_free(
    result: *mut farpoint_approximate_result,
) {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Number of samples; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_count(
    result: *const farpoint_approximate_result,
) -> usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, 0, |result| result.0.len()) }
}

/// Rows of the cloud, all different: in order of choice, along the curve (FARPOINT_METHOD_MORTON), or
/// rising (FARPOINT_METHOD_GRID).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_indices(
    result: *const farpoint_approximate_result,
) -> *const usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, ptr::null(), |result| result.0.indices.as_ptr()) }
}

/// Rows that were left out because they hold NaN or infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_dropped(
    result: *const farpoint_approximate_result,
) -> usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, 0, |result| result.0.dropped) }
}

/// The size of a cell of FARPOINT_METHOD_GRID: 0 if every distinct position had to be kept; NaN for
/// other methods.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_cell(
    result: *const farpoint_approximate_result,
) -> f64 {
    let cell = |result: &farpoint_approximate_result| match &result.0.details {
        Details::Grid { cell, .. } => *cell,
        _ => f64::NAN,
    };
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, f64::NAN, cell) }
}

/// The largest distance of any point to its nearest sample, where the method knows it
/// (FARPOINT_METHOD_FASTPOINT); NaN for other methods. farpoint_covering_radius() finds it for all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_covering_radius(
    result: *const farpoint_approximate_result,
) -> f64 {
    let radius = |result: &farpoint_approximate_result| match &result.0.details {
        Details::FastPoint(details) => details.covering_radius,
        _ => f64::NAN,
    };
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, f64::NAN, radius) }
}

/// Frees centroids. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_free(result: *mut farpoint_centroids_result) {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Number of centroids; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_count(
    result: *const farpoint_centroids_result,
) -> usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, 0, |result| result.counts.len()) }
}

/// The coordinates of the centroids, without gaps; NULL if the points were not `float`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_coordinates_f32(
    result: *const farpoint_centroids_result,
) -> *const f32 {
    let numbers = |result: &farpoint_centroids_result| match &result.found {
        Either::Single(found) => found.coordinates.as_ptr(),
        Either::Double(_) => ptr::null(),
    };
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, ptr::null(), numbers) }
}

/// The same for points of type `double`; NULL if they were not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_coordinates_f64(
    result: *const farpoint_centroids_result,
) -> *const f64 {
    let numbers = |result: &farpoint_centroids_result| match &result.found {
        Either::Double(found) => found.coordinates.as_ptr(),
        Either::Single(_) => ptr::null(),
    };
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, ptr::null(), numbers) }
}

/// How many points each centroid is the mean of.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_point_counts(
    result: *const farpoint_centroids_result,
) -> *const usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, ptr::null(), |result| result.counts.as_ptr()) }
}

/// The size of a cell.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_cell(
    result: *const farpoint_centroids_result,
) -> f64 {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, f64::NAN, |result| of_either!(&result.found, found => found.cell)) }
}

/// Rows that were left out because they hold NaN or infinity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_dropped(
    result: *const farpoint_centroids_result,
) -> usize {
    // SAFETY: the header asks for NULL or a result that is not freed.
    unsafe { read(result, 0, |result| of_either!(&result.found, found => found.dropped)) }
}

/// # Safety
/// As `farpoint_approximate`.
unsafe fn approximate(
    points: &farpoint_points,
    options: *const farpoint_approximate_options,
) -> Result<farpoint_approximate_result, Failure> {
    // SAFETY: by this function's contract.
    let options = unsafe { structure(options) }?;
    let run = options.run()?;
    // SAFETY: by this function's contract.
    let job = unsafe { options.job(run.bad_rows) }?;
    run.observed(|place, observer| {
        let sample = in_precision!(points.precision()?, T => {
            // SAFETY: by this function's contract.
            let cloud = unsafe { options.wanted().of(points.read::<T>()?) }?;
            on_place!(place, device => device.sample_approximate(&job, &cloud, observer))?
        });
        match sample {
            Either::Single(sample) | Either::Double(sample) => {
                Ok(farpoint_approximate_result(sample))
            }
        }
    })
}

/// # Safety
/// As `farpoint_centroids`.
unsafe fn centroids(
    points: &farpoint_points,
    options: *const farpoint_approximate_options,
) -> Result<farpoint_centroids_result, Failure> {
    // SAFETY: by this function's contract.
    let options = unsafe { structure(options) }?;
    let run = options.run()?;
    let job = options.centroids(run.bad_rows)?;
    let cpu = run.cpu("centroids are computed")?;
    run.observed(|_, observer| {
        let found = in_precision!(points.precision()?, T => {
            // SAFETY: by this function's contract.
            let cloud = unsafe { options.wanted().of(points.read::<T>()?) }?;
            let on = match observer {
                None => job.on(&cpu),
                Some(observer) => job.on(&cpu).observe(observer),
            };
            on.centroids(&cloud)?
        });
        let counts = of_either!(&found, found => sizes(&found.counts));
        Ok(farpoint_centroids_result { found, counts })
    })
}
