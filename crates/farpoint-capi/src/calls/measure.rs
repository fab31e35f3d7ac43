//! What samples are judged by.

use crate::options::farpoint_run_options;
use crate::points::farpoint_points;
use crate::status::{self, Failure};

/// Distances from each sample to its nearest other sample, in the unit of the coordinates.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_spacing {
    /// Their mean.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// What a sample is judged by. Distances are in the unit of the coordinates.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_quality {
    /// `sizeof(farpoint_quality)`, set by the caller: tells the library which members there are.
    pub size: usize,
    /// Points of the cloud.
    pub points: usize,
    /// Samples.
    pub samples: usize,
    /// Share of the samples that are different rows (of coordinates: at different places), 0 to 1.
    pub unique: f64,
    /// Mean distance of the points to their nearest sample.
    pub coverage_mean: f64,
    /// The smallest distance that at least 99 % of the points are within.
    pub coverage_p99: f64,
    /// The largest distance of a point to its nearest sample: the covering radius.
    pub covering_radius: f64,
    /// Distances among the samples; NaN for a single one.
    pub spacing: farpoint_spacing,
    /// The Chamfer distance of sample and cloud, of distances that are not squared.
    pub chamfer: f64,
}

/// The largest distance of any point of a cloud to its nearest sample. CPU only, as all measures.
///
/// @param points     the cloud; rows with NaN or infinity are an error
/// @param rows       the sample: rows of the cloud, from any sampler
/// @param row_count  number of samples, at least 1
/// @param options    how the call is run; may be NULL. There is no progress
/// @param radius     is set to the distance, in the unit of the coordinates
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_covering_radius(
    points: farpoint_points,
    rows: *const usize,
    row_count: usize,
    options: *const farpoint_run_options,
    radius: *mut f64,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// How far the samples of a cloud are from each other.
///
/// @param points     the cloud; rows with NaN or infinity are an error
/// @param rows       the sample: rows of the cloud, from any sampler
/// @param row_count  number of samples, at least 2
/// @param options    how the call is run; may be NULL. There is no progress
/// @param found      is set to the distances
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_spacing_of(
    points: farpoint_points,
    rows: *const usize,
    row_count: usize,
    options: *const farpoint_run_options,
    found: *mut farpoint_spacing,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// All measures of a sample.
///
/// @param points     the cloud; rows with NaN or infinity are an error
/// @param rows       the sample: rows of the cloud, from any sampler
/// @param row_count  number of samples, at least 1
/// @param options    how the call is run; may be NULL
/// @param found      its `size` is read, its other members are set
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_quality_of(
    points: farpoint_points,
    rows: *const usize,
    row_count: usize,
    options: *const farpoint_run_options,
    found: *mut farpoint_quality,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}

/// All measures of a sample that is given by coordinates, which need not be points of the cloud:
/// centroids, or what another program chose.
///
/// @param points   the cloud; rows with NaN or infinity are an error
/// @param samples  the sample; of the same scalar type and as many dimensions
/// @param options  how the call is run; may be NULL
/// @param found    its `size` is read, its other members are set
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_quality_of_points(
    points: farpoint_points,
    samples: farpoint_points,
    options: *const farpoint_run_options,
    found: *mut farpoint_quality,
) -> i32 {
    status::entry(|| Err(Failure::internal("not built yet")))
}
