//! From a [`Matcher`] and two clouds to nearest points on the CPU: check, choose a method, run it.

use super::brute::{self, Blocks};
use super::metric::{Absolute, Metric, Squared};
use super::output::Output;
use super::prepared::{self, Prepared, share};
use super::{auto, tree};
use crate::scalar::number::EitherPrecision;
use crate::simd::{self, Program, Simd};
use crate::spatial::BoxTree;
use crate::threads::both;
use crate::watch::Watch;
use crate::{
    Chamfer, Cpu, DeviceKind, Error, Level, Matcher, Method, Nearest, Norm, Points, Scalar,
};
use std::marker::PhantomData;

/// The nearest of `b`, under a watch.
pub(crate) fn nearest<T: Scalar, A, B>(
    cpu: &Cpu,
    matcher: &Matcher,
    a: &A,
    b: &B,
    watch: &Watch<'_>,
) -> Result<Nearest<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    on_checked(cpu, matcher, a, b, watch, |run| {
        let mut found = run.pair.empty(0);
        run.search(&mut found, None);
        found
    })
}

/// Both directions, under a watch.
pub(crate) fn chamfer<T: Scalar, A, B>(
    cpu: &Cpu,
    matcher: &Matcher,
    a: &A,
    b: &B,
    watch: &Watch<'_>,
) -> Result<Chamfer<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    on_checked(cpu, matcher, a, b, watch, |run| {
        let (mut a_to_b, mut b_to_a) = (run.pair.empty(0), run.pair.empty(1));
        run.search(&mut a_to_b, Some(&mut b_to_a));
        Chamfer { a_to_b, b_to_a }
    })
}

/// Both directions by the obvious loop: O(points of `a` * points of `b`) time.
///
/// ```
/// let (a, b) = ([[0.0f32], [5.0]], [[1.0f32], [2.0], [4.0]]);
/// let chamfer = farpoint::neighbors::reference(&a, &b)?;
/// assert_eq!(chamfer.a_to_b.indices, [0, 2]);
/// assert_eq!(chamfer.b_to_a.raw_distances, [1.0, 4.0, 1.0]);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// # Errors
/// As [`Matcher::chamfer`].
pub fn reference<T: Scalar, A, B>(a: &A, b: &B) -> Result<Chamfer<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    let job = Matcher::new().method(Method::Reference);
    chamfer(&Cpu::new(), &job, a, b, &Watch::off())
}

/// Checks and copies both clouds, then works on them on the device's threads.
fn on_checked<T: Scalar, A, B, R: Send>(
    cpu: &Cpu,
    matcher: &Matcher,
    a: &A,
    b: &B,
    watch: &Watch<'_>,
    work: impl FnOnce(&Run<'_, '_, T>) -> R + Send,
) -> Result<R, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    let level = simd::choose(cpu.level)?;
    matcher.method.check(DeviceKind::Cpu)?;
    let found = prepared::with(cpu.threads, matcher, a, b, |pair, threads| {
        let method = auto::choose(matcher.method, pair.points(0), pair.points(1));
        let run = Run { pair, method, level, threads, watch };
        let found = work(&run);
        let [a, b] = run.pair.clouds;
        give_back(threads, a, b);
        found
    })?;
    watch.end(Error::SearchCancelled)?;
    Ok(found)
}

/// Drops each on the thread that most likely made it: threads keep memory for their next run.
fn give_back<X: Send>(threads: usize, a: X, b: X) {
    both(threads, || drop(a), || drop(b));
}

/// A search that has been checked.
struct Run<'a, 'b, T> {
    pair: Prepared<T>,
    method: Method,
    level: Level,
    threads: usize,
    watch: &'a Watch<'b>,
}

impl<T: Scalar> Run<'_, '_, T> {
    fn search(&self, a_to_b: &mut Nearest<T>, b_to_a: Option<&mut Nearest<T>>) {
        let [a, b] = &self.pair.clouds;
        let job = Job {
            method: self.method,
            norm: self.pair.norm,
            threads: self.threads,
            watch: self.watch,
            a_to_b: Output::new(a_to_b, a, b),
            b_to_a: b_to_a.map(|found| Output::new(found, b, a)),
        };
        T::run::<Start<'_, '_>>((self.level, job));
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
    a_to_b: Output<'a, T>,
    b_to_a: Option<Output<'a, T>>,
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
        let Self { method, threads, watch, a_to_b, b_to_a, .. } = self;
        let (a, b) = (a_to_b.queries, a_to_b.targets);
        // Both directions share what is built of the clouds.
        match method {
            Method::Auto | Method::Plain => unreachable!("resolved, and checked"),
            Method::Reference => {
                super::reference::search::<T, M>(a, b, &a_to_b, watch);
                if let Some(output) = b_to_a.filter(|_| watch.step(0)) {
                    super::reference::search::<T, M>(b, a, &output, watch);
                }
            }
            Method::Brute => {
                let (a, b) = (Blocks::new(a), Blocks::new(b));
                brute::search::<T, S, M>(simd, &a, &b, threads, &a_to_b, watch);
                if let Some(output) = b_to_a.filter(|_| watch.step(0)) {
                    brute::search::<T, S, M>(simd, &b, &a, threads, &output, watch);
                }
            }
            Method::Tree => {
                let share = share(threads, a.len, b.len);
                let build = |cloud| move || BoxTree::new(cloud, share);
                if !watch.step(0) {
                    return;
                }
                let (a, b) = both(threads, build(a), build(b));
                tree::search::<T, S, M>(simd, &a, &b, threads, &a_to_b, watch);
                if let Some(output) = b_to_a.filter(|_| watch.step(0)) {
                    tree::search::<T, S, M>(simd, &b, &a, threads, &output, watch);
                }
                give_back(threads, a, b);
            }
        }
    }
}
