//! Approximate samplers.

use crate::arguments::structure;
use crate::constants::farpoint_status;
use crate::handle::{free, read, write_result};
use crate::options::{farpoint_approximate_options, run};
use crate::points::farpoint_points;
use crate::run::{Either, in_its_precision, in_precision, of_either};
use crate::status::Failure;
use farpoint::approximate::{ApproximateSample, Centroids, Details};

/// An approximate sample, which is not the farthest point sample.
///
/// Made by farpoint_approximate(), freed by farpoint_approximate_result_free(). It never changes, so
/// any number of threads may read it at a time.
pub struct farpoint_approximate_result(ApproximateSample);

/// The centroids of the occupied cells of a grid.
///
/// Made by farpoint_centroids(), freed by farpoint_centroids_result_free(). It never changes, so any
/// number of threads may read it at a time.
pub struct farpoint_centroids_result(Either<Centroids<f32>, Centroids<f64>>);

/// Members of an approximate sample. Addresses are valid until it is freed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct farpoint_approximate_view {
    /// Number of samples.
    pub count: usize,
    /// Rows of the cloud, all different, `count` of them: in order of choice, or rising (FARPOINT_METHOD_GRID).
    pub indices: *const usize,
    /// Rows that were left out because they hold NaN or infinity.
    pub dropped: usize,
    /// The size of a cell of FARPOINT_METHOD_GRID: 0 if every distinct position had to be kept; NaN
    /// for other methods.
    pub cell: f64,
}

/// Members of centroids. Addresses are valid until they are freed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct farpoint_centroids_view {
    /// Number of centroids.
    pub count: usize,
    /// The coordinates of the centroids, without gaps; NULL if the points were not `float`.
    pub coordinates_f32: *const f32,
    /// The coordinates for points of type `double`; NULL if they were not.
    pub coordinates_f64: *const f64,
    /// Number of points that each centroid is the mean of.
    pub point_counts: *const u32,
    /// The size of a cell.
    pub cell: f64,
    /// Rows that were left out because they hold NaN or infinity.
    pub dropped: usize,
}

/// Samples a cloud by a method that does not give the farthest point sample. The same on every run,
/// machine and number of threads. CPU only.
///
/// @param points   the cloud
/// @param options  options of the sampler; not NULL
/// @param result   is set to the sample, to be freed by farpoint_approximate_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate(
    points: farpoint_points,
    options: *const farpoint_approximate_options,
    result: *mut *mut farpoint_approximate_result,
) -> farpoint_status {
    // SAFETY: the header requires a place, points and options as described.
    unsafe { write_result(result, || approximate(&points, options)) }
}

/// Computes the mean of the points of each occupied cell of a grid, for an amount FARPOINT_CELL; or, for
/// another amount, of the grid that has the most cells but no more than that. CPU only; `method` of the options is
/// ignored, and its members are FARPOINT_INVALID_ARGUMENT.
///
/// @param points   the cloud
/// @param options  options of the sampler; not NULL
/// @param result   is set to the centroids, to be freed by farpoint_centroids_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids(
    points: farpoint_points,
    options: *const farpoint_approximate_options,
    result: *mut *mut farpoint_centroids_result,
) -> farpoint_status {
    // SAFETY: the header requires a place, points and options as described.
    unsafe { write_result(result, || centroids(&points, options)) }
}

/// Frees an approximate sample. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_free(
    result: *mut farpoint_approximate_result,
) {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Returns the members of an approximate sample, valid until it is freed; all 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_approximate_result_view(
    result: *const farpoint_approximate_result,
) -> farpoint_approximate_view {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, farpoint_approximate_view::default(), farpoint_approximate_result::view) }
}

/// Frees centroids. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_free(result: *mut farpoint_centroids_result) {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Returns the members of centroids, valid until they are freed; all 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_centroids_result_view(
    result: *const farpoint_centroids_result,
) -> farpoint_centroids_view {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, farpoint_centroids_view::default(), farpoint_centroids_result::view) }
}

impl farpoint_approximate_result {
    fn view(&self) -> farpoint_approximate_view {
        let cell = match self.0.details {
            Details::Grid { cell, .. } => cell,
            _ => f64::NAN,
        };
        farpoint_approximate_view {
            count: self.0.len(),
            indices: self.0.indices.as_ptr(),
            dropped: self.0.dropped,
            cell,
        }
    }
}

impl farpoint_centroids_result {
    fn view(&self) -> farpoint_centroids_view {
        let coordinates = in_its_precision!(&self.0, found => &found.coordinates[..]);
        let (coordinates_f32, coordinates_f64) = coordinates.addresses();
        of_either!(&self.0, found => farpoint_centroids_view {
            count: found.counts.len(),
            coordinates_f32,
            coordinates_f64,
            point_counts: found.counts.as_ptr(),
            cell: found.cell,
            dropped: found.dropped,
        })
    }
}

/// Runs a method of a job, one of [`farpoint::On`], for the selected rows of a cloud, in its precision.
macro_rules! run_job {
    ($run:expr, $what:literal, $job:expr, $options:expr, $points:expr, $method:ident) => {{
        let (job, cpu) = ($job, $run.cpu($what)?);
        $run.observed(|_, observer| {
            let result = in_precision!($points.precision()?, T => {
                // SAFETY: by the calling function's contract.
                let cloud = unsafe { $options.row_selection().apply($points.read::<T>()?) }?;
                let on = match observer {
                    None => job.on(&cpu),
                    Some(observer) => job.on(&cpu).observe(observer),
                };
                on.$method(&cloud)?
            });
            Ok::<_, Failure>(result)
        })?
    }};
}

/// # Safety
/// Same as `farpoint_approximate`.
unsafe fn approximate(
    points: &farpoint_points,
    options: *const farpoint_approximate_options,
) -> Result<farpoint_approximate_result, Failure> {
    // SAFETY: by this function's contract.
    let (options, run) = unsafe {
        let options = structure(options)?;
        (options, run(options.run)?)
    };
    let job = options.job(run.non_finite)?;
    let sample = run_job!(run, "approximate samplers run", job, options, points, sample);
    of_either!(sample, sample => Ok(farpoint_approximate_result(sample)))
}

/// # Safety
/// Same as `farpoint_centroids`.
unsafe fn centroids(
    points: &farpoint_points,
    options: *const farpoint_approximate_options,
) -> Result<farpoint_centroids_result, Failure> {
    // SAFETY: by this function's contract.
    let (options, run) = unsafe {
        let options = structure(options)?;
        (options, run(options.run)?)
    };
    let job = options.centroids(run.non_finite)?;
    let found = run_job!(run, "centroids are computed", job, options, points, centroids);
    Ok(farpoint_centroids_result(found))
}
