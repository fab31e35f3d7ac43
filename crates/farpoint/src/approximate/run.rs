//! From an [`ApproximateSampler`] and points to a sample: check, copy, run the method.

use super::grid::Grid;
use super::watch::Watch;
use super::{ApproximateSample, ApproximateSampler, Centroids, Details, Method, random};
use crate::cloud::WorkingCopy;
use crate::memory;
use crate::scalar::compiled_once;
use crate::threads::{self, on_threads};
use crate::unwind::caught;
use crate::{Amount, Cpu, Error, Level, Observer, Points, Scalar, Voxels, simd};

/// Clouds of fewer points are sampled by one thread: waking others would take longer.
const SMALL: usize = 1 << 14;

compiled_once! {
    /// Samples a cloud.
    pub(super) fn sample<'a, 'b, T: Scalar>(
        cpu: &'a Cpu,
        sampler: &'a ApproximateSampler,
        points: &'a dyn Points<T>,
        observer: Option<Observer<'b>>,
    ) -> Result<ApproximateSample, Error> {
        let threads = check(cpu, sampler, points.len())?;
        let level = simd::choose(cpu.level)?;
        let place = (level, threads);
        caught(|| on_threads(threads, || sample_here(sampler, points, place, observer)))
    }
}

fn sample_here<T: Scalar>(
    sampler: &ApproximateSampler,
    points: &dyn Points<T>,
    (level, threads): (Level, usize),
    observer: Option<Observer<'_>>,
) -> Result<ApproximateSample, Error> {
    let (cloud, count) = checked(sampler, points, threads)?;
    let (dropped, method) = (points.len() - cloud.len, sampler.method);
    let mut watch = Watch::new(observer, count);
    match method {
        _ if count == 0 => {
            let (indices, details) = (Vec::new(), Details::None);
            Ok(ApproximateSample { indices, method, details, dropped })
        }
        Method::Random { seed } => {
            let chosen = random::sample(&mut watch, cloud.len, count, seed)?;
            let indices = memory::collected(chosen.into_iter().map(|point| cloud.row(point)));
            Ok(ApproximateSample { indices, method, details: Details::None, dropped })
        }
        Method::Grid { keep } => {
            let grid = Grid::new((cloud, points), cell(sampler), (level, threads), watch)?;
            Ok(ApproximateSample { dropped, ..grid.sample(count, keep)? })
        }
    }
}

compiled_once! {
    /// Returns the centroids of the cells of a grid.
    pub(super) fn centroids<'a, 'b, T: Scalar>(
        cpu: &'a Cpu,
        sampler: &'a ApproximateSampler,
        points: &'a dyn Points<T>,
        observer: Option<Observer<'b>>,
    ) -> Result<Centroids<T>, Error> {
        caught(|| centroids_here(cpu, sampler, points, observer))
    }
}

fn centroids_here<T: Scalar>(
    cpu: &Cpu,
    sampler: &ApproximateSampler,
    points: &dyn Points<T>,
    observer: Option<Observer<'_>>,
) -> Result<Centroids<T>, Error> {
    if !matches!(sampler.method, Method::Grid { .. }) {
        let (what, method) = ("centroids are", sampler.method.name());
        return Err(Error::NotForMethod { what, method });
    }
    let threads = check(cpu, sampler, points.len())?;
    let level = simd::choose(cpu.level)?;
    on_threads(threads, || {
        let (cloud, count) = checked(sampler, points, threads)?;
        let dropped = points.len() - cloud.len;
        let watch = Watch::new(observer, count);
        if count == 0 {
            return Ok(Centroids {
                coordinates: Vec::new(),
                dims: points.dim(),
                counts: Vec::new(),
                inverse: memory::filled(points.len(), Voxels::<T>::NONE),
                cell: 0.0,
                dropped,
            });
        }
        Grid::new((cloud, points), cell(sampler), (level, threads), watch)?.centroids(count)
    })
}

/// Copies the cloud; returns it with the maximum number of points chosen.
fn checked<T: Scalar>(
    sampler: &ApproximateSampler,
    points: &dyn Points<T>,
    threads: usize,
) -> Result<(WorkingCopy<T>, usize), Error> {
    let cloud = WorkingCopy::new(points, sampler.non_finite, threads)?;
    let count = sampler.amount.limit(cloud.len)?;
    Ok((cloud, count))
}

/// Returns the cell size, if one is given.
fn cell(sampler: &ApproximateSampler) -> Option<f64> {
    match sampler.amount {
        Amount::Cell(cell) => Some(cell),
        _ => None,
    }
}

/// Checks the job without the cloud; returns the number of threads for `points` points.
fn check(cpu: &Cpu, sampler: &ApproximateSampler, points: usize) -> Result<usize, Error> {
    check_job(sampler)?;
    // An invalid number is an error even if one thread does the work.
    match points < SMALL {
        true => threads::count_for(false, cpu.threads).map(|_| 1),
        false => threads::count(cpu.threads),
    }
}

/// Checks the job without the cloud.
pub(super) fn check_job(sampler: &ApproximateSampler) -> Result<(), Error> {
    let method = sampler.method;
    match sampler.amount {
        Amount::Cell(_) if !matches!(method, Method::Grid { .. }) => {
            Err(Error::NotForMethod { what: "a cell size is", method: method.name() })
        }
        Amount::Cell(cell) if !(cell > 0.0 && cell.is_finite()) => Err(Error::BadCell(cell)),
        Amount::Spacing(_) => Err(Error::SpacingNotForMethod(method.name())),
        _ => Ok(()),
    }
}
