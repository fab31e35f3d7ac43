//! Voxel downsampling.

use crate::arguments::structure;
use crate::constants::farpoint_status;
use crate::handle::{free, read, write_result};
use crate::options::{farpoint_voxel_options, run};
use crate::points::farpoint_points;
use crate::run::{Either, in_its_precision, in_precision, of_either};
use crate::status::Failure;
use farpoint::Voxels;

/// The occupied voxels of a cloud.
///
/// Made by farpoint_voxels(), freed by farpoint_voxels_result_free(). It never changes, so any number of
/// threads may read it at a time.
pub struct farpoint_voxels_result(Either<Voxels<f32>, Voxels<f64>>);

/// Members of voxels. Addresses are valid until they are freed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct farpoint_voxels_view {
    /// Number of voxels.
    pub count: usize,
    /// Number of coordinates of a point.
    pub dims: usize,
    /// Coordinates of the point that stands for each voxel, without gaps; NULL if the points were not `float`.
    pub coordinates_f32: *const f32,
    /// The coordinates for points of type `double`; NULL if they were not.
    pub coordinates_f64: *const f64,
    /// Row of the point that stands for each voxel; the first one of the voxel if that is a mean.
    pub rows: *const u32,
    /// Number of points of each voxel.
    pub point_counts: *const u32,
    /// Cell of each voxel, `dims` numbers each: the floor of (p - origin) / edge on each axis.
    pub cells: *const i32,
    /// Number of points of the cloud, or of selected rows.
    pub inverse_count: usize,
    /// Voxel of each of them; FARPOINT_NONE for those in none.
    pub inverse: *const u32,
    /// Rows that were left out because they hold NaN or infinity.
    pub dropped: usize,
}

/// Replaces the points of each occupied cell of a grid by one. The same on every run, machine and number of threads.
/// CPU only.
///
/// @param points   the cloud
/// @param options  options of the grid; not NULL
/// @param result   is set to the voxels, to be freed by farpoint_voxels_result_free(); to NULL on an
///                 error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_voxels(
    points: farpoint_points,
    options: *const farpoint_voxel_options,
    result: *mut *mut farpoint_voxels_result,
) -> farpoint_status {
    // SAFETY: the header requires a place, points and options as described.
    unsafe { write_result(result, || voxels(&points, options)) }
}

/// Frees voxels. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_voxels_result_free(result: *mut farpoint_voxels_result) {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Returns the members of voxels, valid until they are freed; all 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_voxels_result_view(
    result: *const farpoint_voxels_result,
) -> farpoint_voxels_view {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, farpoint_voxels_view::default(), farpoint_voxels_result::view) }
}

impl farpoint_voxels_result {
    fn view(&self) -> farpoint_voxels_view {
        let coordinates = in_its_precision!(&self.0, found => &found.coordinates[..]);
        let (coordinates_f32, coordinates_f64) = coordinates.addresses();
        of_either!(&self.0, found => farpoint_voxels_view {
            count: found.len(),
            dims: found.dims,
            coordinates_f32,
            coordinates_f64,
            rows: found.rows.as_ptr(),
            point_counts: found.counts.as_ptr(),
            cells: found.cells.as_ptr(),
            inverse_count: found.inverse.len(),
            inverse: found.inverse.as_ptr(),
            dropped: found.dropped,
        })
    }
}

/// # Safety
/// As `farpoint_voxels`.
unsafe fn voxels(
    points: &farpoint_points,
    options: *const farpoint_voxel_options,
) -> Result<farpoint_voxels_result, Failure> {
    // SAFETY: by this function's contract.
    let (options, run, job) = unsafe {
        let options = structure(options)?;
        let run = run(options.run)?;
        let job = options.job(run.non_finite)?;
        (options, run, job)
    };
    let cpu = run.cpu("voxels are found")?;
    run.observed(|_, observer| {
        let found = in_precision!(points.precision()?, T => {
            // SAFETY: by this function's contract.
            let cloud = unsafe { options.row_selection().apply(points.read::<T>()?) }?;
            let on = match observer {
                None => job.on(&cpu),
                Some(observer) => job.on(&cpu).observe(observer),
            };
            on.downsample(&cloud)?
        });
        Ok(farpoint_voxels_result(found))
    })
}
