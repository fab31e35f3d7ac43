//! Many pairs of clouds at once, spread over the cores. A pair's result does not depend on its
//! batch.

use super::prepared::each;
use super::run;
use crate::watch::Watch;
use crate::{Chamfer, Cpu, Error, Matcher, Nearest, Observer, Points, Scalar};

/// The nearest points of each pair, under one watch.
pub(crate) fn nearest<T: Scalar, A: Points<T>, B: Points<T>>(
    cpu: &Cpu,
    matcher: &Matcher,
    a: &[A],
    b: &[B],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Nearest<T>>, Error> {
    let watch = Watch::new(observer, points(a));
    let found = each(cpu.threads, a, b, |threads, a, b| {
        run::nearest(&cpu.threads(threads), matcher, a, b, &watch)
    });
    // That the observer canceled is no fault of a pair.
    watch.end(Error::SearchCancelled).and(found)
}

/// Both directions of each pair, under one watch.
pub(crate) fn chamfer<T: Scalar, A: Points<T>, B: Points<T>>(
    cpu: &Cpu,
    matcher: &Matcher,
    a: &[A],
    b: &[B],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Chamfer<T>>, Error> {
    let watch = Watch::new(observer, points(a).saturating_add(points(b)));
    let found = each(cpu.threads, a, b, |threads, a, b| {
        run::chamfer(&cpu.threads(threads), matcher, a, b, &watch)
    });
    watch.end(Error::SearchCancelled).and(found)
}

/// Points of all clouds.
fn points<T: Scalar, P: Points<T>>(clouds: &[P]) -> usize {
    clouds.iter().fold(0, |sum, cloud| sum.saturating_add(cloud.len()))
}
