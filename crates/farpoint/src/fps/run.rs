//! From a [`Sampler`] and points to a [`Sample`]: check, choose an algorithm, run it.

use super::selection::Selection;
use super::statistics::lap;
use super::{
    Algorithm, Observer, Sample, Sampler, auto, naive, peak, quick, radius, reference, tree,
};
use crate::arch::{self, Program, Simd};
use crate::cloud::Cloud;
use crate::threads::{self, on_threads};
use crate::{Error, Level, Points, Scalar};
use std::time::Instant;

pub(super) fn sample<T: Scalar, P: Points<T> + ?Sized>(
    sampler: &Sampler,
    points: &P,
    observer: Observer<'_>,
) -> Result<Sample<T>, Error> {
    let level = arch::choose(sampler.level)?;
    if let Some(nvox) = sampler.radius.nvox.filter(|nvox| !(1..=radius::MOST_VOXELS).contains(nvox))
    {
        return Err(Error::BadVoxels(nvox));
    }
    if let Some(height) = sampler.quick.height.filter(|height| *height > quick::MOST_HEIGHT) {
        return Err(Error::BadHeight(height));
    }
    let threads = threads::count_for(points.len() >= SMALL, sampler.threads)?;
    on_threads(if points.len() < SMALL { 1 } else { threads }, || {
        sample_here(sampler, points, level, threads, observer)
    })
}

/// On the threads that are asked for, or on one if there are few points.
fn sample_here<T: Scalar, P: Points<T> + ?Sized>(
    sampler: &Sampler,
    points: &P,
    level: Level,
    threads: usize,
    observer: Observer<'_>,
) -> Result<Sample<T>, Error> {
    let mut clock = Instant::now();
    let cloud = Cloud::new(points, sampler.bad_rows, threads)?;
    let mut selection = Selection::new(
        &cloud,
        points.len(),
        sampler.amount,
        &sampler.start,
        sampler.statistics,
        observer,
    )?;
    lap(&mut clock, &mut selection.statistics.seconds.copy);
    let algorithm = auto::choose(sampler, &cloud, &selection);
    let job = Job { algorithm, sampler, cloud: &cloud, threads, selection: &mut selection };
    if job.selection.remaining() > 0 {
        T::run_job(level, job)?;
    }
    Ok(Sample {
        indices: selection.points.iter().map(|&point| cloud.row(point)).collect(),
        squared_distances: selection.values,
        squared_covering_radius: selection.covering,
        algorithm,
        threads,
        level,
        dropped: points.len() - cloud.len,
        statistics: sampler.statistics.then_some(selection.statistics),
    })
}

/// Clouds of fewer points are sampled by one thread: waking others would take longer.
pub(super) const SMALL: usize = 1 << 14;

/// Runs a job. `Scalar::run_job` calls it for either precision, so that the algorithms are
/// compiled with this crate, and not again with each that uses it.
pub(crate) fn run_job<T: Scalar>(level: arch::Level, job: Job<'_, '_, T>) -> Result<(), Error> {
    let threads = if job.cloud.len < SMALL { 1 } else { job.threads };
    arch::dispatch(level, Job { threads, ..job })
}

/// What an algorithm is started with.
#[allow(unreachable_pub)]
pub struct Job<'a, 'b, T> {
    algorithm: Algorithm,
    sampler: &'a Sampler,
    cloud: &'a Cloud<T>,
    threads: usize,
    selection: &'a mut Selection<'b, T>,
}

impl<T: Scalar> Program<T> for Job<'_, '_, T> {
    type Output = Result<(), Error>;

    fn run<S: Simd<T>>(self, simd: S) -> Self::Output {
        let Self { algorithm, sampler, cloud, threads, selection } = self;
        match algorithm {
            Algorithm::Auto => unreachable!("auto has been resolved"),
            Algorithm::Reference => reference::run(cloud, selection),
            Algorithm::Naive => naive::run(simd, cloud, threads, selection),
            Algorithm::Radius => radius::run(simd, cloud, &sampler.radius, selection),
            Algorithm::Tree => tree::run(simd, cloud, threads, selection),
            Algorithm::Peak => peak::run(simd, cloud, threads, selection),
            Algorithm::Quick => quick::run(simd, cloud, &sampler.quick, selection),
        }
    }
}
