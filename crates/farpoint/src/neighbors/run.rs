//! Nearest neighbors between two clouds on the CPU, in one direction or in both.

use super::gather::{Kind, Search};
use super::metric::Metric;
use super::output::Output;
use super::prepared::empty;
use super::start::{self, Options, PairJob, Ready, pair_jobs};
use super::tree::Walk;
use crate::scalar::compiled_once;
use crate::unwind::caught;
use crate::watch::Watch;
use crate::{Chamfer, Cpu, Error, Matcher, Method, Nearest, Observer, Points, Scalar};

/// Finds the nearest point in the second cloud of each point of the first.
pub(crate) struct OneWay<'a>(pub(crate) &'a Matcher);

impl<T: Scalar> PairJob<T> for OneWay<'_> {
    type Outcome = Nearest<T>;

    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
    fn options(&self) -> Options {
        self.0.into()
    }
    fn steps(&self, a: usize, _: usize) -> usize {
        a
    }
    fn find(&self, ready: &Ready<'_, '_, T>) -> Result<Nearest<T>, Error> {
        Ok(one_way(ready, 0))
    }
}

/// Both directions, which share the structures of the clouds.
pub(crate) struct BothWays<'a>(pub(crate) &'a Matcher);

impl<T: Scalar> PairJob<T> for BothWays<'_> {
    type Outcome = Chamfer<T>;
    const BOTH_WAYS: bool = true;

    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
    fn options(&self) -> Options {
        self.0.into()
    }
    fn steps(&self, a: usize, b: usize) -> usize {
        a.saturating_add(b)
    }
    fn find(&self, ready: &Ready<'_, '_, T>) -> Result<Chamfer<T>, Error> {
        Ok(Chamfer { a_to_b: one_way(ready, 0), b_to_a: one_way(ready, 1) })
    }
}

pair_jobs! { Matcher as OneWay -> Nearest: nearest, nearest_batch }
pair_jobs! { Matcher as BothWays -> Chamfer: chamfer, chamfer_batch }

compiled_once! {
    /// Like [`nearest`], under a watch.
    pub(crate) fn nearest_watched<'a, 'b: 'a, T: Scalar>(
        cpu: &'a Cpu,
        x: &'a dyn Points<T>,
        y: &'a dyn Points<T>,
        watch: &'a Watch<'b>,
    ) -> Result<Nearest<T>, Error> {
        caught(|| start::run_watched(cpu, &OneWay(&Matcher::new()), x, y, watch))
    }
}

compiled_once! {
    /// Like [`chamfer`], under a watch.
    pub(crate) fn chamfer_watched<'a, 'b: 'a, T: Scalar>(
        cpu: &'a Cpu,
        x: &'a dyn Points<T>,
        y: &'a dyn Points<T>,
        watch: &'a Watch<'b>,
    ) -> Result<Chamfer<T>, Error> {
        caught(|| start::run_watched(cpu, &BothWays(&Matcher::new()), x, y, watch))
    }
}

/// Searches in both directions by the straightforward loop: O(points of `a` * points of `b`) time.
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
/// Same as [`Matcher::chamfer`].
pub fn reference<T: Scalar, A, B>(a: &A, b: &B) -> Result<Chamfer<T>, Error>
where
    A: Points<T> + ?Sized,
    B: Points<T> + ?Sized,
{
    chamfer(&Cpu::new(), &Matcher::new().method(Method::Reference), &a, &b, None)
}

/// Finds the nearest point in one cloud of each point of the other.
fn one_way<T: Scalar>(ready: &Ready<'_, '_, T>, side: usize) -> Nearest<T> {
    let [queries, targets] = [ready.pair.clouds[side], ready.pair.clouds[1 - side]];
    let mut found = empty(ready.pair.rows[side], queries.len, ready.norm);
    if ready.watch.step(0) {
        ready.search::<OneNearest>(side, Output::new(&mut found, queries, targets));
    }
    found
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
    /// The first of them has no previous leaf to start from.
    const MIN_LEAVES: usize = 32;

    fn group(&self) -> Walk<'_, T> {
        Walk::new(self)
    }

    fn reference<M: Metric>(&self, watch: &Watch<'_>) {
        super::reference::search::<T, M>(self, watch);
    }
}
