//! Exact sampling.

use crate::arguments::{Versioned, check_list, list, places, structure};
use crate::constants::farpoint_status;
use crate::handle::{free, read, write_result, write_results};
use crate::options::{farpoint_sample_options, run};
use crate::points::{Cloud, farpoint_points, precision_of, read_all};
use crate::run::{Either, Number, Place, in_its_precision, in_precision, of_either, on_place};
use crate::status::{Failure, entry, invalid};
use farpoint::{Device, Observer, Points, Sample, Sampler, Scalar};
use std::ffi::{CString, c_char};

/// A sample: indices in order of choice, and the selection distance of each.
///
/// Made by farpoint_sample() and farpoint_sample_batch(), freed by farpoint_sample_result_free(). It
/// never changes, so any number of threads may read it at a time.
pub struct farpoint_sample_result {
    sample: Samples,
    algorithm: CString,
}

/// Members of a sample. Addresses are valid until it is freed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct farpoint_sample_view {
    /// Number of samples.
    pub count: usize,
    /// Rows of the cloud in order of choice, all different: `count` of them.
    pub indices: *const usize,
    /// The squared distance of each sample to the nearest one before it; infinite for starts.
    /// NULL if the points were not `float`.
    pub squared_distances_f32: *const f32,
    /// The squared distances for points of type `double`; NULL if they were not.
    pub squared_distances_f64: *const f64,
    /// The largest distance of any point to its nearest sample, in the unit of the coordinates;
    /// infinite if nothing was chosen.
    pub covering_radius: f64,
    /// Rows that were left out because they hold NaN or infinity.
    pub dropped: usize,
    /// The algorithm that ran, with its options, as text.
    pub algorithm: *const c_char,
    /// 0 if a deadline or the progress callback ended the call before the sample was complete.
    pub complete: i32,
}

type Samples = Either<Sample<f32>, Sample<f64>>;

impl From<Samples> for farpoint_sample_result {
    fn from(sample: Samples) -> Self {
        let algorithm = of_either!(&sample, one => one.algorithm.to_string());
        // Names of algorithms have no zeros.
        Self { sample, algorithm: CString::new(algorithm).unwrap_or_default() }
    }
}

/// Samples a cloud by exact farthest point sampling.
///
/// Device, threads, instruction set and algorithm never change a sample. The first sample is the
/// first usable row unless the options say otherwise; then always the point farthest from all
/// chosen before, the one of lowest index among equals.
///
/// @param points   the cloud
/// @param options  options of the sampler; not NULL, as they set the number of samples
/// @param result   is set to the sample, to be freed by farpoint_sample_result_free(); to NULL on an
///                 error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample(
    points: farpoint_points,
    options: *const farpoint_sample_options,
    result: *mut *mut farpoint_sample_result,
) -> farpoint_status {
    // SAFETY: the header requires a place for a result, or NULL.
    unsafe { write_result(result, || sample(&points, options)) }
}

/// Samples many clouds, spread over all threads. A sample does not depend on its batch.
///
/// @param clouds        the clouds, all of one scalar type
/// @param cloud_count   number of clouds; 0 is fine
/// @param options       options of the sampler: one structure for all clouds, or an array of one per cloud,
///                      all of one `size`. How the call is run (threads, device, progress, ...) is
///                      taken from the first; `non_finite` from each
/// @param option_count  1 or `cloud_count`
/// @param results       `cloud_count` places, which are set to the samples, each to be freed by
///                      farpoint_sample_result_free(); all to NULL on an error
/// @return FARPOINT_OK or another status; the text names the first cloud at fault
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_batch(
    clouds: *const farpoint_points,
    cloud_count: usize,
    options: *const farpoint_sample_options,
    option_count: usize,
    results: *mut *mut farpoint_sample_result,
) -> farpoint_status {
    // SAFETY: the header requires as many places as clouds.
    unsafe {
        write_results(results, cloud_count, || {
            // SAFETY: the header requires as many clouds and options as counted.
            let clouds = list(clouds, cloud_count, "clouds")?;
            batch(clouds, &all_options(options, option_count, cloud_count)?)
        })
    }
}

/// Frees a sample. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_free(result: *mut farpoint_sample_result) {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Returns a view of a sample, valid until it is freed. For NULL, all numbers are 0 and the text is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_view(
    result: *const farpoint_sample_result,
) -> farpoint_sample_view {
    let none = farpoint_sample_view { algorithm: c"".as_ptr(), ..Default::default() };
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, none, farpoint_sample_result::view) }
}

/// Views the levels of a network that samples its levels one from another: of the first `counts[0]`
/// samples, the first `counts[1]`, and so on. One call of farpoint_sample() serves all levels, since a
/// sample of the chosen points, from the first of them, is their beginning.
///
/// As rows of the level before, a level is 0, 1, 2, ...
///
/// @param result       a sample from one start
/// @param counts       number of points of each level: at least 1, at most that of the level before
/// @param level_count  number of levels; 0 is fine
/// @param levels       `level_count` places, which are set to the members of the levels, with the
///                     covering radius of each; valid until the sample is freed
/// @return FARPOINT_OK or another status, and nothing is written then; farpoint_last_error() has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_sample_result_levels(
    result: *const farpoint_sample_result,
    counts: *const usize,
    level_count: usize,
    levels: *mut farpoint_sample_view,
) -> farpoint_status {
    entry(|| {
        // SAFETY: the header requires NULL or a result that is not freed, which never changes.
        let result = unsafe { result.as_ref() }.ok_or_else(|| invalid("the result is NULL"))?;
        // SAFETY: the header requires as many counts and places as levels.
        let (counts, places) = unsafe {
            (list(counts, level_count, "counts")?, places(levels, level_count, "levels")?)
        };
        of_either!(&result.sample, one => one.levels(counts).map(drop))?;
        for (place, &count) in places.iter_mut().zip(counts) {
            place.write(result.level(count));
        }
        Ok(())
    })
}

impl farpoint_sample_result {
    /// Returns the members of the first `count` samples.
    fn level(&self, count: usize) -> farpoint_sample_view {
        let radius = of_either!(&self.sample, one => Scalar::to_f64(one.covering_radius_of(count)));
        farpoint_sample_view { count, covering_radius: radius, ..self.view() }
    }

    fn view(&self) -> farpoint_sample_view {
        let distances = in_its_precision!(&self.sample, one => &one.squared_distances[..]);
        let (squared_distances_f32, squared_distances_f64) = distances.addresses();
        of_either!(&self.sample, one => farpoint_sample_view {
            count: one.len(),
            indices: one.indices.as_ptr(),
            squared_distances_f32,
            squared_distances_f64,
            covering_radius: Scalar::to_f64(one.covering_radius()),
            dropped: one.dropped,
            algorithm: self.algorithm.as_ptr(),
            complete: i32::from(one.complete),
        })
    }
}

/// # Safety
/// Same as `farpoint_sample`.
unsafe fn sample(
    points: &farpoint_points,
    options: *const farpoint_sample_options,
) -> Result<farpoint_sample_result, Failure> {
    // SAFETY: by this function's contract.
    let (options, run, job) = unsafe {
        let options = structure(options)?;
        let run = run(options.run)?;
        let job = options.job(run.non_finite)?;
        (options, run, job)
    };
    let sample = run.observed(|place, observer| {
        let sample = in_precision!(points.precision()?, T => {
            // SAFETY: by this function's contract.
            let cloud = unsafe { options.row_selection().apply(points.read::<T>()?) }?;
            match cloud {
                Cloud::All(points) => sample_one(place, &job, &points, observer),
                Cloud::Some(points) => sample_one(place, &job, &points, observer),
            }?
        });
        Ok::<_, Failure>(sample)
    })?;
    Ok(sample.into())
}

fn sample_one<T: Number, P: Points<T>>(
    place: &Place,
    job: &Sampler,
    points: &P,
    observer: Option<Observer<'_>>,
) -> Result<Sample<T>, Failure> {
    on_place!(place, device => device.sample(job, points, observer))
}

/// Reads the options of a batch: one for all clouds, or one each.
///
/// # Safety
/// `options` are NULL, or as many structures, each as large as its first member says.
unsafe fn all_options(
    options: *const farpoint_sample_options,
    count: usize,
    clouds: usize,
) -> Result<Vec<farpoint_sample_options>, Failure> {
    if count != 1 && count != clouds {
        return Err(invalid(format!(
            "{count} options for {clouds} clouds; pass one for all, or one for each"
        )));
    }
    let mut parsed: Vec<farpoint_sample_options> = Vec::new();
    for cloud in 0..count {
        let bytes = parsed.first().map_or(0, |first| first.size);
        let address = options.wrapping_byte_add(cloud * bytes);
        // SAFETY: by this function's contract; the first one's size is that of all.
        let next = unsafe { structure(address) }?;
        if cloud == 0 {
            // In an array, sizes are whole numbers of the alignment, and all must fit.
            let bytes = count.checked_mul(next.size).ok_or_else(|| invalid("too many options"))?;
            check_list(options.cast::<u8>(), bytes, "bytes of the options")?;
        } else if next.size != bytes {
            let name = farpoint_sample_options::NAME;
            return Err(invalid(format!(
                "{name} {cloud} has the size {}, the first one {bytes}; use the same for all",
                next.size
            )));
        }
        parsed.push(next);
    }
    Ok(parsed)
}

/// # Safety
/// Same as `farpoint_sample_batch`.
unsafe fn batch(
    clouds: &[farpoint_points],
    options: &[farpoint_sample_options],
) -> Result<Vec<farpoint_sample_result>, Failure> {
    let Some(first) = options.first() else { return Ok(Vec::new()) };
    let job = |(cloud, options): (usize, &farpoint_sample_options)| {
        // SAFETY: by this function's contract.
        let job = unsafe { run(options.run).and_then(|run| options.job(run.non_finite)) };
        job.map_err(|failure| failure.of_cloud(cloud))
    };
    // SAFETY: by this function's contract.
    let run = unsafe { run(first.run) }?;
    let jobs = options.iter().enumerate().map(job).collect::<Result<Vec<_>, _>>()?;
    run.observed(|place, observer| {
        let samples = in_precision!(precision_of(clouds)?, T => {
            // SAFETY: by this function's contract.
            let clouds = unsafe { select_rows::<T>(clouds, options) }?;
            on_place!(place, device => device.sample_batch(&jobs, &clouds, observer))?
        });
        Ok(samples
            .each(|sample| Samples::Single(sample).into(), |sample| Samples::Double(sample).into()))
    })
}

/// Returns the selected rows of each cloud.
///
/// # Safety
/// Same as `farpoint_sample_batch`.
unsafe fn select_rows<'a, T: Number>(
    clouds: &'a [farpoint_points],
    options: &[farpoint_sample_options],
) -> Result<Vec<Cloud<'a, T>>, Failure> {
    // SAFETY: by this function's contract.
    let clouds = unsafe { read_all::<T>(clouds) }?;
    let selected = |(cloud, points)| {
        let options = if options.len() == 1 { &options[0] } else { &options[cloud] };
        // SAFETY: by this function's contract.
        let selected = unsafe { options.row_selection().apply(points) };
        selected.map_err(|failure| failure.of_cloud(cloud))
    };
    clouds.into_iter().enumerate().map(selected).collect()
}
