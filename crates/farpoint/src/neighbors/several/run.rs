//! From a [`Searcher`] and two clouds to neighbors on the CPU: check, choose a method, run it.

use super::limits::Limits;
use super::output::Output;
use super::{brute, reference, tree};
use crate::cloud::Cloud;
use crate::neighbors::auto;
use crate::neighbors::brute::Blocks;
use crate::neighbors::metric::{Absolute, Metric, Squared};
use crate::neighbors::prepared::{self, Prepared, share};
use crate::scalar::number::EitherPrecision;
use crate::simd::{self, Program, Simd};
use crate::spatial::BoxTree;
use crate::threads::both;
use crate::watch::Watch;
use crate::{
    Cpu, DeviceKind, Error, Level, Matcher, Method, Neighbors, Norm, Points, Scalar, Searcher,
};
use std::marker::PhantomData;

/// The neighbors in `y` of each point of `x`, under a watch.
pub(crate) fn search<T: Scalar, X, Y>(
    cpu: &Cpu,
    searcher: &Searcher,
    x: &X,
    y: &Y,
    watch: &Watch<'_>,
) -> Result<Neighbors<T>, Error>
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    searcher.check()?;
    let level = simd::choose(cpu.level)?;
    searcher.method.check(DeviceKind::Cpu)?;
    let matcher = Matcher::new().norm(searcher.norm).bad_rows(searcher.bad_rows);
    let (rows, k) = (x.len(), searcher.k);
    rows.checked_mul(k)
        .filter(|&all| all <= isize::MAX as usize / 16)
        .ok_or(Error::TooManyPoints(rows))?;
    let found = prepared::with(cpu.threads, &matcher, x, y, |pair, threads| {
        let [queries, targets] = &pair.clouds;
        let mut found = empty(&pair, rows, searcher);
        let job = Job {
            method: auto::choose(searcher.method, queries.len, targets.len),
            norm: searcher.norm,
            threads,
            watch,
            output: Output::new(
                &mut found,
                [queries, targets],
                Limits::of(searcher),
                searcher.exclude_self,
            ),
        };
        T::run::<Start<'_, '_>>((level, job));
        found
    })?;
    watch.end(Error::SearchCancelled)?;
    Ok(found)
}

/// A result without a neighbor.
fn empty<T: Scalar>(pair: &Prepared<T>, rows: usize, searcher: &Searcher) -> Neighbors<T> {
    let k = searcher.k;
    Neighbors {
        all_distances: vec![T::INFINITY; rows * k],
        all_indices: vec![Neighbors::<T>::NONE; rows * k],
        counts: vec![0; rows],
        k,
        norm: searcher.norm,
        dropped: rows - pair.points(0),
    }
}

/// Starts searches in either precision.
struct Start<'a, 'b>(PhantomData<Job<'a, 'b, f32>>);

impl<'a, 'b> EitherPrecision for Start<'a, 'b> {
    type Of<T: Scalar> = (Level, Job<'a, 'b, T>);
    type Output = ();

    fn single((level, job): Self::Of<f32>) {
        simd::dispatch(level, job);
    }

    fn double((level, job): Self::Of<f64>) {
        simd::dispatch(level, job);
    }
}

/// What a search is started with.
#[allow(unreachable_pub)]
pub struct Job<'a, 'b, T> {
    method: Method,
    norm: Norm,
    threads: usize,
    watch: &'a Watch<'b>,
    output: Output<'a, T>,
}

impl<T: Scalar> Program<T> for Job<'_, '_, T> {
    type Output = ();

    fn run<S: Simd<T>>(self, simd: S) {
        match self.norm {
            Norm::One => self.search::<S, Absolute>(simd),
            Norm::Two => self.search::<S, Squared>(simd),
        }
    }
}

impl<T: Scalar> Job<'_, '_, T> {
    /// Searches until done or canceled.
    fn search<S: Simd<T>, M: Metric>(self, simd: S) {
        let Self { method, threads, watch, output, .. } = self;
        let [x, y]: [&Cloud<T>; 2] = [output.queries, output.targets];
        match method {
            Method::Auto | Method::Plain => unreachable!("resolved, and checked"),
            Method::Reference => reference::search::<T, M>(&output, watch),
            Method::Brute => {
                let (x, y) = (Blocks::new(x), Blocks::new(y));
                brute::search::<T, S, M>(simd, &x, &y, threads, &output, watch);
            }
            Method::Tree => {
                let share = share(threads, x.len, y.len);
                let build = |cloud| move || BoxTree::new(cloud, share);
                if watch.step(0) {
                    let (x, y) = both(threads, build(x), build(y));
                    tree::search::<T, S, M>(simd, &x, &y, threads, &output, watch);
                }
            }
        }
    }
}
