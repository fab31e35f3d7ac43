//! Measures of samples.

use crate::arguments::{Versioned, list, places, structure};
use crate::constants::farpoint_status;
use crate::options::{farpoint_run_options, run};
use crate::points::farpoint_points;
use crate::run::{Either, Run, in_precision};
use crate::status::{Failure, entry, invalid};
use farpoint::measure::{Measure, Quality, Spacing};
use farpoint::{Cpu, NonFinite, Scalar};
use std::ptr;

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

/// Measures of a sample. Distances are in the unit of the coordinates.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct farpoint_quality {
    /// `sizeof(farpoint_quality)`, set by the caller: gives the library the caller's version.
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
    /// Chamfer distance of cloud and sample, of squared distances.
    pub chamfer: f64,
}

/// Computes the largest distance of any point of a cloud to its nearest sample. CPU only, as all measures.
///
/// @param points     the cloud; rows with NaN or infinity are an error
/// @param rows       the sample: rows of the cloud, from any sampler
/// @param row_count  number of samples, at least 1
/// @param options    options of the run; may be NULL. There is no progress
/// @param radius     is set to the distance, in the unit of the coordinates
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_covering_radius(
    points: farpoint_points,
    rows: *const usize,
    row_count: usize,
    options: *const farpoint_run_options,
    radius: *mut f64,
) -> farpoint_status {
    // SAFETY: the header requires a place, rows, points and options as described.
    unsafe {
        fill(radius, || {
            let sample = list(rows, row_count, "rows")?;
            let cpu = run_of(options)?.cpu(JOB)?;
            let measure = Measure.on(&cpu);
            Ok(of_points!(points, |points| measure.covering_radius(points, sample)?.to_f64()))
        })
    }
}

/// Computes the distances from each sample of a cloud to its nearest other sample.
///
/// @param points     the cloud; rows with NaN or infinity are an error
/// @param rows       the sample: rows of the cloud, from any sampler
/// @param row_count  number of samples, at least 2
/// @param options    options of the run; may be NULL. There is no progress
/// @param found      is set to the distances
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_spacing_of(
    points: farpoint_points,
    rows: *const usize,
    row_count: usize,
    options: *const farpoint_run_options,
    found: *mut farpoint_spacing,
) -> farpoint_status {
    // SAFETY: the header requires a place, rows, points and options as described.
    unsafe {
        fill(found, || {
            let sample = list(rows, row_count, "rows")?;
            let cpu = run_of(options)?.cpu(JOB)?;
            Ok(of_points!(points, |points| Measure.on(&cpu).spacing(points, sample)?).into())
        })
    }
}

/// Computes all measures of a sample.
///
/// @param points     the cloud; rows with NaN or infinity are an error
/// @param rows       the sample: rows of the cloud, from any sampler
/// @param row_count  number of samples, at least 1
/// @param options    options of the run; may be NULL
/// @param found      its `size` is read, its other members are set
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_quality_of(
    points: farpoint_points,
    rows: *const usize,
    row_count: usize,
    options: *const farpoint_run_options,
    found: *mut farpoint_quality,
) -> farpoint_status {
    // SAFETY: the header requires a place, rows, points and options as described.
    unsafe {
        fill_quality(found, || {
            let sample = list(rows, row_count, "rows")?;
            let run = run_of(options)?;
            let cpu = run.cpu(JOB)?;
            run.observed(|_, observer| {
                let measure = match observer {
                    None => Measure.on(&cpu),
                    Some(observer) => Measure.on(&cpu).observe(observer),
                };
                Ok(of_points!(points, |points| measure.quality(points, sample)?))
            })
        })
    }
}

/// Computes all measures of a sample given by coordinates, which need not be points of the cloud:
/// centroids, or samples of another program.
///
/// @param points   the cloud; rows with NaN or infinity are an error
/// @param samples  the sample; of the same scalar type and as many dimensions
/// @param options  options of the run; may be NULL. There is no progress
/// @param found    its `size` is read, its other members are set
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_quality_of_points(
    points: farpoint_points,
    samples: farpoint_points,
    options: *const farpoint_run_options,
    found: *mut farpoint_quality,
) -> farpoint_status {
    // SAFETY: the header requires a place, rows, points and options as described.
    unsafe { fill_quality(found, || quality(&run_of(options)?.cpu(JOB)?, [&points, &samples])) }
}

const JOB: &str = "measures are taken";

/// Computes the measures of a cloud in its precision. For functions whose contract covers the points' memory.
macro_rules! of_points {
    ($cloud:expr, |$points:ident| $work:expr) => {{
        let cloud: &farpoint_points = &$cloud;
        let measured = in_precision!(cloud.precision()?, T => {
            let $points = &cloud.read::<T>()?;
            $work
        });
        match measured {
            Either::Single(measured) | Either::Double(measured) => measured,
        }
    }};
}
use of_points;

// SAFETY: C's layout, the size first; numbers.
unsafe impl Versioned for farpoint_quality {
    const NAME: &str = "farpoint_quality";
    const FIRST: usize = std::mem::offset_of!(farpoint_quality, chamfer) + size_of::<f64>();
}

impl From<Spacing> for farpoint_spacing {
    fn from(Spacing { mean, min, max, .. }: Spacing) -> Self {
        Self { mean, min, max }
    }
}

/// # Safety
/// NULL, or as large as its first member says.
unsafe fn run_of(options: *const farpoint_run_options) -> Result<Run, Failure> {
    // SAFETY: by this function's contract.
    let run = unsafe { run(options) }?;
    match run.non_finite {
        NonFinite::Error => Ok(run),
        _ => Err(invalid("measures leave no rows out; set non_finite to 0")),
    }
}

/// # Safety
/// `place` is NULL, or one can be written there.
unsafe fn fill<R>(output: *mut R, work: impl FnOnce() -> Result<R, Failure>) -> farpoint_status {
    entry(|| {
        // SAFETY: by this function's contract.
        let places = unsafe { places(output, 1, "the pointer to the result") }?;
        places[0].write(work()?);
        Ok(())
    })
}

/// # Safety
/// NULL, or as large as its first member says.
unsafe fn fill_quality(
    output: *mut farpoint_quality,
    work: impl FnOnce() -> Result<Quality, Failure>,
) -> farpoint_status {
    entry(|| {
        // SAFETY: by this function's contract.
        let size = unsafe { structure(output.cast_const()) }?.size;
        let quality = work()?;
        let nan = farpoint_spacing { mean: f64::NAN, min: f64::NAN, max: f64::NAN };
        let result = farpoint_quality {
            size,
            points: quality.points,
            samples: quality.samples,
            unique: quality.unique,
            coverage_mean: quality.coverage.mean,
            coverage_p99: quality.coverage.p99,
            covering_radius: quality.coverage.max,
            spacing: quality.spacing.map_or(nan, farpoint_spacing::from),
            chamfer: quality.chamfer,
        };
        let known = size.min(size_of::<farpoint_quality>());
        // SAFETY: there are `size` bytes by this function's contract, and `result` has `known`.
        unsafe { ptr::copy_nonoverlapping((&raw const result).cast::<u8>(), output.cast(), known) };
        Ok(())
    })
}

/// # Safety
/// Same as `farpoint_quality_of_points`.
unsafe fn quality(cpu: &Cpu, [points, samples]: [&farpoint_points; 2]) -> Result<Quality, Failure> {
    let precision = points.precision()?;
    precision.expect(samples.precision()?, "the samples")?;
    let measured = in_precision!(precision, T => {
        // SAFETY: by this function's contract.
        let (points, samples) = unsafe { (points.read::<T>()?, samples.read::<T>()?) };
        Measure.on(cpu).quality_of(&points, &samples)?
    });
    match measured {
        Either::Single(measured) | Either::Double(measured) => Ok(measured),
    }
}
