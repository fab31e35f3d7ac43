//! From a [`Matcher`] and two checked clouds to nearest points: choose a method, run it.

use super::block::Group;
use super::brute::{self, Blocks};
use super::metric::{Absolute, Metric, Squared};
use super::prepared::{self, Prepared, share};
use super::{Chamfer, Matcher, Method, Nearest, Norm, auto, reference, tree};
use crate::arch::{self, Program, Simd};
use crate::cloud::Cloud;
use crate::memory::Shared;
use crate::spatial::BoxTree;
use crate::threads::both;
use crate::{Error, Level, Points, Scalar};
use std::marker::PhantomData;

pub(super) fn nearest<T: Scalar, A, B>(matcher: &Matcher, a: &A, b: &B) -> Result<Nearest<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    on_checked(matcher, a, b, |run| {
        let mut found = run.pair.empty(0);
        run.search(&mut found, None);
        found
    })
}

pub(super) fn chamfer<T: Scalar, A, B>(matcher: &Matcher, a: &A, b: &B) -> Result<Chamfer<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    on_checked(matcher, a, b, |run| {
        let (mut a_to_b, mut b_to_a) = (run.pair.empty(0), run.pair.empty(1));
        run.search(&mut a_to_b, Some(&mut b_to_a));
        Chamfer { a_to_b, b_to_a }
    })
}

/// Checks and copies both clouds, then works on them on the threads asked for.
fn on_checked<T: Scalar, A, B, R: Send>(
    matcher: &Matcher,
    a: &A,
    b: &B,
    work: impl FnOnce(&Run<T>) -> R + Send,
) -> Result<R, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    let level = arch::choose(matcher.level)?;
    prepared::with(matcher, a, b, |pair, threads| {
        let method = auto::choose(matcher.method, pair.points(0), pair.points(1));
        let run = Run { pair, method, level, threads };
        let found = work(&run);
        let [a, b] = run.pair.clouds;
        give_back(threads, a, b);
        found
    })
}

/// Drops each on the thread that most likely made it: threads keep memory for their next run.
fn give_back<X: Send>(threads: usize, a: X, b: X) {
    both(threads, || drop(a), || drop(b));
}

/// A search that has been checked.
struct Run<T> {
    pair: Prepared<T>,
    method: Method,
    level: Level,
    threads: usize,
}

impl<T: Scalar> Run<T> {
    fn search(&self, a_to_b: &mut Nearest<T>, b_to_a: Option<&mut Nearest<T>>) {
        let [a, b] = &self.pair.clouds;
        let job = Job {
            method: self.method,
            norm: self.pair.norm,
            threads: self.threads,
            a_to_b: Output::new(a_to_b, a, b),
            b_to_a: b_to_a.map(|found| Output::new(found, b, a)),
        };
        T::run_match(self.level, job);
    }
}

/// Where a search from one cloud to another writes what it finds.
#[allow(unreachable_pub)]
pub struct Output<'a, T> {
    queries: &'a Cloud<T>,
    targets: &'a Cloud<T>,
    distances: Shared<'a, T>,
    indices: Shared<'a, u32>,
    /// The result is borrowed while this lives.
    found: PhantomData<&'a mut Nearest<T>>,
}

impl<T> Clone for Output<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Output<'_, T> {}

impl<'a, T: Scalar> Output<'a, T> {
    fn new(found: &'a mut Nearest<T>, queries: &'a Cloud<T>, targets: &'a Cloud<T>) -> Self {
        let rows = found.len();
        assert!((0..queries.len).last().is_none_or(|last| queries.row(last as u32) < rows));
        let distances = Shared::new(&mut found.distances);
        let indices = Shared::new(&mut found.indices);
        Self { queries, targets, distances, indices, found: PhantomData }
    }

    /// Of each query, of which no two threads may have the same.
    pub(super) fn write(&self, group: &Group<'_, T>) {
        for (query, nearest, distance) in group.found() {
            self.set(query, nearest, distance);
        }
    }

    pub(super) fn set(&self, query: u32, nearest: u32, distance: T) {
        let (row, index) = (self.queries.row(query), self.targets.row(nearest) as u32);
        // SAFETY: rows ascend, and the last one is in the result (`new`); each query is a
        // single thread's.
        unsafe {
            self.distances.write(row, distance);
            self.indices.write(row, index);
        }
    }
}

/// What a search is started with. `Scalar::run_match` takes it for either precision, so that
/// searches are compiled with this crate, and not again with each that uses it.
#[allow(unreachable_pub)]
pub struct Job<'a, T> {
    method: Method,
    norm: Norm,
    threads: usize,
    a_to_b: Output<'a, T>,
    b_to_a: Option<Output<'a, T>>,
}

impl<T: Scalar> Program<T> for Job<'_, T> {
    type Output = ();

    fn run<S: Simd<T>>(self, simd: S) {
        match self.norm {
            Norm::One => self.search::<S, Absolute>(simd),
            Norm::Two => self.search::<S, Squared>(simd),
        }
    }
}

impl<T: Scalar> Job<'_, T> {
    fn search<S: Simd<T>, M: Metric>(self, simd: S) {
        let Self { method, threads, a_to_b, b_to_a, .. } = self;
        let (a, b) = (a_to_b.queries, a_to_b.targets);
        // Both directions share what is built of the clouds.
        match method {
            Method::Auto => unreachable!("auto has been resolved"),
            Method::Reference => {
                reference::search::<T, M>(a, b, a_to_b);
                b_to_a.into_iter().for_each(|output| reference::search::<T, M>(b, a, output));
            }
            Method::Brute => {
                let (a, b) = (Blocks::new(a), Blocks::new(b));
                brute::search::<T, S, M>(simd, &a, &b, threads, a_to_b);
                if let Some(output) = b_to_a {
                    brute::search::<T, S, M>(simd, &b, &a, threads, output);
                }
            }
            Method::Tree => {
                let share = share(threads, a.len, b.len);
                let build = |cloud| move || BoxTree::new(cloud, share);
                let (a, b) = both(threads, build(a), build(b));
                tree::search::<T, S, M>(simd, &a, &b, threads, a_to_b);
                if let Some(output) = b_to_a {
                    tree::search::<T, S, M>(simd, &b, &a, threads, output);
                }
                give_back(threads, a, b);
            }
        }
    }
}
