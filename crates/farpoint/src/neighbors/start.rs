//! Runs of jobs on two clouds: check, copy, choose a method, search; one pair or
//! many.

use super::gather::Kind;
use super::pair::{self, Pair, Structure};
use super::prepared::each;
use super::search::SearchRun;
use crate::simd;
use crate::watch::Watch;
use crate::{
    Cpu, DeviceKind, Error, Level, Matcher, Method, NonFinite, Norm, Observer, Points, Scalar,
    Searcher,
};

/// A job on two clouds.
pub(crate) trait PairJob<T: Scalar>: Sync {
    /// Result of the job.
    type Outcome: Send;
    /// True if points of the second cloud are queries, too.
    const BOTH_WAYS: bool = false;

    /// Checks the options that do not depend on clouds.
    ///
    /// # Errors
    /// On options that contradict each other.
    fn check(&self) -> Result<(), Error>;
    /// Returns method, norm and treatment of non-finite rows.
    fn options(&self) -> Options;
    /// Returns the number of points that an observer counts, for clouds of `x` and `y` points.
    fn steps(&self, x: usize, y: usize) -> usize;
    /// Runs the search.
    fn find(&self, ready: &Ready<'_, '_, T>) -> Result<Self::Outcome, Error>;
}

/// Defines the functions that do a job for one pair of clouds and for many.
macro_rules! pair_jobs {
    ($job:ident as $pair_job:ident -> $found:ident: $run_one:ident, $run_many:ident) => {
        $crate::compiled_once! {
            /// Does the job for two clouds.
            pub(crate) fn $run_one<'a, 'b, T: Scalar>(
                cpu: &'a Cpu,
                job: &'a $job,
                x: &'a dyn Points<T>,
                y: &'a dyn Points<T>,
                observer: Option<Observer<'b>>,
            ) -> Result<$found<T>, Error> {
                $crate::unwind::caught(|| start::run_one(cpu, $pair_job(job), x, y, observer))
            }
        }
        $crate::compiled_once! {
            /// Does the job for many pairs of clouds.
            pub(crate) fn $run_many<'a, 'b, T: Scalar>(
                cpu: &'a Cpu,
                job: &'a $job,
                x: &'a [&'a dyn Points<T>],
                y: &'a [&'a dyn Points<T>],
                observer: Option<Observer<'b>>,
            ) -> Result<Vec<$found<T>>, Error> {
                $crate::unwind::caught(|| start::run_many(cpu, $pair_job(job), x, y, observer))
            }
        }
    };
}
pub(super) use pair_jobs;

/// Options of all searches.
pub(crate) struct Options {
    method: Method,
    norm: Norm,
    non_finite: NonFinite,
}

impl From<&Matcher> for Options {
    fn from(job: &Matcher) -> Self {
        Self { method: job.method, norm: job.norm, non_finite: job.non_finite }
    }
}

impl From<&Searcher> for Options {
    fn from(job: &Searcher) -> Self {
        Self { method: job.method, norm: job.norm, non_finite: job.non_finite }
    }
}

/// Runs a job on two clouds.
pub(super) fn run_one<T: Scalar, A: PairJob<T>>(
    cpu: &Cpu,
    job: A,
    x: &dyn Points<T>,
    y: &dyn Points<T>,
    observer: Option<Observer<'_>>,
) -> Result<A::Outcome, Error> {
    run_watched(cpu, &job, x, y, &Watch::new(observer, job.steps(x.len(), y.len())))
}

/// Runs a job on many pairs of clouds, spread over the cores. A pair's result does not depend on its batch.
pub(super) fn run_many<T: Scalar, A: PairJob<T>>(
    cpu: &Cpu,
    job: A,
    x: &[&dyn Points<T>],
    y: &[&dyn Points<T>],
    observer: Option<Observer<'_>>,
) -> Result<Vec<A::Outcome>, Error> {
    job.check()?;
    let watch = Watch::new(observer, job.steps(points(x), points(y)));
    let found = each(cpu.threads, x, y, |threads, x, y| {
        run_watched(&cpu.threads(threads), &job, x, y, &watch)
    });
    // Cancellation is not an error of a pair.
    watch.end(Error::SearchCancelled).and(found)
}

/// Returns the number of points of all clouds.
fn points<T: Scalar>(clouds: &[&dyn Points<T>]) -> usize {
    clouds.iter().fold(0, |sum, cloud| sum.saturating_add(cloud.len()))
}

/// Checks and copies both clouds and builds the structure of the method, then searches on the device's
/// threads, under a watch.
pub(super) fn run_watched<T: Scalar, A: PairJob<T>>(
    cpu: &Cpu,
    job: &A,
    x: &dyn Points<T>,
    y: &dyn Points<T>,
    watch: &Watch<'_>,
) -> Result<A::Outcome, Error> {
    job.check()?;
    let Options { method, norm, non_finite } = job.options();
    let level = simd::choose(cpu.level)?;
    method.check(DeviceKind::Cpu)?;
    let found = pair::with(cpu.threads, non_finite, A::BOTH_WAYS, x, y, |pair| {
        pair.build(method, watch, |structure| {
            job.find(&Ready { pair, structure, norm, level, watch })
        })
    });
    watch.end(Error::SearchCancelled)?;
    found
}

/// Two checked clouds, and the structure of the method.
pub(crate) struct Ready<'a, 'b, T: Scalar> {
    pub(super) pair: &'a Pair<'a, T>,
    structure: Structure<'a, T>,
    pub(super) norm: Norm,
    level: Level,
    pub(super) watch: &'a Watch<'b>,
}

impl<T: Scalar> Ready<'_, '_, T> {
    /// Searches for each point of the first cloud in the second (`side` 1: the other direction).
    pub(super) fn search<'c, K: Kind>(&'c self, side: usize, output: K::Of<'c, T>) {
        let run = SearchRun::<T, K> {
            structure: if side == 0 { self.structure } else { self.structure.reversed() },
            norm: self.norm,
            threads: self.pair.threads,
            watch: self.watch,
            output,
        };
        run.run(self.level);
    }
}
