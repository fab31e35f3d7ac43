//! From a [`Sampler`] and points to a [`Sample`] on the CPU: check, choose an algorithm, run it.

use super::selection::Selection;
use super::{auto, naive, peak, quick, radius, reference, tree};
use crate::clock::Clock;
use crate::cloud::Cloud;
use crate::scalar::number::EitherPrecision;
use crate::simd::{self, Program, Simd};
use crate::threads::{self, on_threads};
use crate::{
    Algorithm, Cpu, DeviceKind, Error, Level, Observer, Points, RanOn, Sample, Sampler, Scalar,
};
use std::marker::PhantomData;

pub(crate) fn sample<T: Scalar, P: Points<T> + ?Sized>(
    cpu: &Cpu,
    sampler: &Sampler,
    points: &P,
    observer: Option<Observer<'_>>,
) -> Result<Sample<T>, Error> {
    let level = simd::choose(cpu.level)?;
    sampler.check(DeviceKind::Cpu)?;
    let threads = threads::count_for(points.len() >= SMALL, cpu.threads)?;
    on_threads(if points.len() < SMALL { 1 } else { threads }, || {
        sample_here(sampler, points, level, threads, observer)
    })
}

/// On the threads of the device, or on one if there are few points.
fn sample_here<T: Scalar, P: Points<T> + ?Sized>(
    sampler: &Sampler,
    points: &P,
    level: Level,
    threads: usize,
    observer: Option<Observer<'_>>,
) -> Result<Sample<T>, Error> {
    let mut clock = Clock::now();
    let cloud = Cloud::new(points, sampler.bad_rows, threads)?;
    let mut selection = Selection::new(
        &cloud,
        points.len(),
        sampler.amount,
        &sampler.start,
        sampler.statistics,
        observer,
    )?;
    clock.lap(&mut selection.statistics.seconds.copy);
    let algorithm = auto::choose(sampler, &cloud, &selection);
    if selection.remaining() > 0 {
        let threads = if cloud.len < SMALL { 1 } else { threads };
        let job = Job { algorithm, cloud: &cloud, threads, selection: &mut selection };
        T::run::<Start<'_, '_>>((level, job))?;
    }
    Ok(Sample {
        indices: selection.points.iter().map(|&point| cloud.row(point)).collect(),
        squared_distances: selection.values,
        squared_covering_radius: selection.covering,
        algorithm,
        dropped: points.len() - cloud.len,
        ran_on: RanOn::Cpu { threads, level },
        statistics: sampler.statistics.then_some(selection.statistics),
    })
}

/// Clouds of fewer points are sampled by one thread: waking others would take longer.
pub(super) const SMALL: usize = 1 << 14;

/// Starts algorithms in either precision.
struct Start<'a, 'b>(PhantomData<Job<'a, 'b, f32>>);

impl<'a, 'b> EitherPrecision for Start<'a, 'b> {
    type Of<T: Scalar> = (Level, Job<'a, 'b, T>);
    type Output = Result<(), Error>;

    fn single((level, job): Self::Of<f32>) -> Self::Output {
        simd::dispatch(level, job)
    }

    fn double((level, job): Self::Of<f64>) -> Self::Output {
        simd::dispatch(level, job)
    }
}

/// What an algorithm is started with.
#[allow(unreachable_pub)]
pub struct Job<'a, 'b, T> {
    algorithm: Algorithm,
    cloud: &'a Cloud<T>,
    threads: usize,
    selection: &'a mut Selection<'b, T>,
}

impl<T: Scalar> Program<T> for Job<'_, '_, T> {
    type Output = Result<(), Error>;

    fn run<S: Simd<T>>(self, simd: S) -> Self::Output {
        let Self { algorithm, cloud, threads, selection } = self;
        match algorithm {
            Algorithm::Auto | Algorithm::Persistent => unreachable!("resolved, and checked"),
            Algorithm::Reference => reference::run(cloud, selection),
            Algorithm::Naive => naive::run(simd, cloud, threads, selection),
            Algorithm::Radius(options) => radius::run(simd, cloud, &options, selection),
            Algorithm::Tree => tree::run(simd, cloud, threads, selection),
            Algorithm::Peak(_) => peak::run(simd, cloud, threads, selection),
            Algorithm::Quick(options) => quick::run(simd, cloud, &options, selection),
        }
    }
}
