//! From an [`ApproximateSampler`] and points to a sample: check, copy, run the method.

use super::grid::Grid;
use super::watch::Watch;
use super::work::Run;
use super::{
    ApproximateSample, ApproximateSampler, Centroids, Details, Method, fastpoint, morton, npdu,
    random,
};
use crate::cloud::WorkingCopy;
use crate::fps::selection::Request;
use crate::memory;
use crate::scalar::compiled_once;
use crate::threads::{self, on_threads};
use crate::unwind::caught;
use crate::{Amount, Cpu, Error, Level, Observer, Points, Scalar, Start, Statistics, Voxels, simd};

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
    let Checked { cloud, goal } = Checked::new(sampler, points, threads)?;
    let (dropped, count) = (points.len() - cloud.len, goal.max_count(&cloud));
    let watch = Watch::new(observer, count);
    if let Method::Grid { keep } = sampler.method
        && count > 0
    {
        let grid = Grid::new((cloud, points), goal.cell(), (level, threads), watch)?;
        return Ok(ApproximateSample { dropped, ..grid.sample(count, keep)? });
    }
    let (chosen, details, statistics) = {
        let mut run = Run { cloud: &cloud, threads, watch, statistics: Statistics::default() };
        let (chosen, details) = choose(&mut run, sampler.method, &goal)?;
        (chosen, details, run.statistics)
    };
    Ok(ApproximateSample {
        indices: memory::collected(chosen.into_iter().map(|point| cloud.row(point))),
        method: sampler.method,
        details,
        dropped,
        statistics,
    })
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
        let Checked { cloud, goal } = Checked::new(sampler, points, threads)?;
        let (dropped, count) = (points.len() - cloud.len, goal.max_count(&cloud));
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
        Grid::new((cloud, points), goal.cell(), (level, threads), watch)?.centroids(count)
    })
}

/// Runs the method; returns points of the copied cloud, and the details of the sample.
fn choose<T: Scalar>(
    run: &mut Run<'_, '_, T>,
    method: Method,
    goal: &Goal,
) -> Result<(Vec<u32>, Details), Error> {
    let (count, starts) = match (method, goal) {
        (_, Goal::Cell(_)) => return Err(no_cell(method)),
        (_, Goal::Count { count: 0, .. }) => return Ok((Vec::new(), Details::None)),
        (_, Goal::Count { count, starts }) => (*count, &starts[..]),
    };
    match method {
        Method::Random { seed } => Ok((random::sample(run, count, seed)?, Details::None)),
        Method::Grid { .. } => unreachable!("grids have no order of choice"),
        Method::Morton { bits } => Ok((morton::sample(run, count, bits)?, Details::None)),
        Method::Npdu { window, order } => {
            npdu::sample(run, &npdu::Parameters { count, starts, window, order })
        }
        Method::FastPoint { first, estimator } => {
            fastpoint::sample(run, &fastpoint::Parameters { count, starts, first, estimator })
        }
    }
}

/// A cloud and the number of points to choose, checked against each other.
struct Checked<T> {
    cloud: WorkingCopy<T>,
    goal: Goal,
}

impl<T: Scalar> Checked<T> {
    fn new(
        sampler: &ApproximateSampler,
        points: &dyn Points<T>,
        threads: usize,
    ) -> Result<Self, Error> {
        let cloud = WorkingCopy::new(points, sampler.non_finite, threads)?;
        let goal = Goal::new(sampler, &cloud, points.len())?;
        Ok(Self { cloud, goal })
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
    match method {
        Method::Morton { bits } if !(1..=morton::MAX_BITS).contains(&bits) => {
            return Err(Error::BadBits(bits));
        }
        Method::Npdu { window: Some(0), .. } => return Err(Error::BadWindow),
        _ if sampler.start.is_some() && !method.has_start() => {
            return Err(Error::StartNotForMethod(method.name()));
        }
        _ => {}
    }
    match sampler.amount {
        Amount::Cell(_) if !matches!(method, Method::Grid { .. }) => Err(no_cell(method)),
        Amount::Cell(cell) if !(cell > 0.0 && cell.is_finite()) => Err(Error::BadCell(cell)),
        Amount::Spacing(_) => Err(Error::SpacingNotForMethod(method.name())),
        _ => Ok(()),
    }
}

fn no_cell(method: Method) -> Error {
    Error::NotForMethod { what: "a cell size is", method: method.name() }
}

/// Cell size, or number of points and starts.
enum Goal {
    Cell(f64),
    Count {
        count: usize,
        /// Start points; empty if the count is 0.
        starts: Vec<u32>,
    },
}

impl Goal {
    /// Checks the job against the cloud, like the exact sampler.
    fn new<T: Scalar>(
        sampler: &ApproximateSampler,
        cloud: &WorkingCopy<T>,
        input_rows: usize,
    ) -> Result<Self, Error> {
        if let Amount::Cell(cell) = sampler.amount {
            sampler.amount.limit(cloud.len)?;
            return Ok(Self::Cell(cell));
        }
        let start = sampler.start.as_ref().unwrap_or(&Start::First);
        let Request { limit, starts, .. } = Request::new(cloud, input_rows, sampler.amount, start)?;
        Ok(Self::Count { count: limit, starts: starts.into_vec() })
    }

    /// Returns the cell size, if one is given.
    fn cell(&self) -> Option<f64> {
        match self {
            Self::Cell(cell) => Some(*cell),
            Self::Count { .. } => None,
        }
    }

    /// Returns the maximum number of points chosen.
    fn max_count<T>(&self, cloud: &WorkingCopy<T>) -> usize {
        match self {
            Self::Cell(_) => cloud.len,
            Self::Count { count, .. } => *count,
        }
    }
}
