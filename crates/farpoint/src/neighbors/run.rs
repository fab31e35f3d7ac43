//! From a [`Matcher`] and two clouds to nearest points on the CPU: check, choose a method, run it.

use super::gather::{Kind, Search};
use super::metric::Metric;
use super::output::Output;
use super::pair::{self, Pair, Structure};
use super::prepared::empty;
use super::search::Job;
use super::tree::Walk;
use crate::simd;
use crate::watch::Watch;
use crate::{
    Chamfer, Cpu, DeviceKind, Error, Level, Matcher, Method, Nearest, Norm, Points, Scalar,
};

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
    on_checked(cpu, matcher, a, b, watch, |run| run.nearest(0))
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
        // Both directions share what is built of the clouds.
        Chamfer { a_to_b: run.nearest(0), b_to_a: run.nearest(1) }
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

/// Checks and copies both clouds and builds what the method needs, then works on them on the device's
/// threads.
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
    let norm = matcher.norm;
    let found = pair::with(cpu.threads, matcher.bad_rows, a, b, |pair| {
        pair.build(matcher.method, watch, |structure| {
            Ok(work(&Run { pair, structure, norm, level, watch }))
        })
    });
    watch.end(Error::SearchCancelled)?;
    found
}

/// A search that has been checked.
struct Run<'a, 'b, T: Scalar> {
    pair: &'a Pair<'a, T>,
    structure: Structure<'a, T>,
    norm: Norm,
    level: Level,
    watch: &'a Watch<'b>,
}

impl<T: Scalar> Run<'_, '_, T> {
    /// The nearest of one cloud for each point of the other.
    fn nearest(&self, side: usize) -> Nearest<T> {
        let [own, other] = [self.pair.clouds[side], self.pair.clouds[1 - side]];
        let mut found = empty(self.pair.rows[side], own.len, self.norm);
        if !self.watch.step(0) {
            return found;
        }
        let job = Job::<T, OneNearest> {
            structure: if side == 0 { self.structure } else { self.structure.turned() },
            norm: self.norm,
            threads: self.pair.threads,
            watch: self.watch,
            output: Output::new(&mut found, own, other),
        };
        job.run(self.level);
        found
    }
}

/// One nearest point for each query.
struct OneNearest;

impl Kind for OneNearest {
    type Of<'a, T: Scalar> = Output<'a, T>;
}

impl<T: Scalar> Search<T> for Output<'_, T> {
    type Group<'g>
        = Walk<'g, T>
    where
        Self: 'g;
    /// The first of them has no neighbor to learn from.
    const LEAST_LEAVES: usize = 32;

    fn group(&self) -> Walk<'_, T> {
        Walk::new(self)
    }

    fn reference<M: Metric>(&self, watch: &Watch<'_>) {
        super::reference::search::<T, M>(self, watch);
    }
}
