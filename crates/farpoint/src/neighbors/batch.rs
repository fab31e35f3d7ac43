//! Many pairs of clouds at once, spread over the cores. A pair's result does not depend on its
//! batch.

use super::prepared::each;
use super::run;
use super::several::run as several;
use crate::watch::Watch;
use crate::{
    Chamfer, Cpu, Error, Matcher, Nearest, Neighbors, Observer, Points, Scalar, Searcher,
    WithinBall,
};

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

/// Several neighbors in each pair, under one watch.
pub(crate) fn search<T: Scalar, X: Points<T>, Y: Points<T>>(
    cpu: &Cpu,
    searcher: &Searcher,
    x: &[X],
    y: &[Y],
    observer: Option<Observer<'_>>,
) -> Result<Vec<Neighbors<T>>, Error> {
    searcher.check()?;
    let watch = Watch::new(observer, points(x));
    let found = each(cpu.threads, x, y, |threads, x, y| {
        several::search(&cpu.threads(threads), searcher, x, y, &watch)
    });
    watch.end(Error::SearchCancelled).and(found)
}

/// All neighbors in the balls of each pair, under one watch.
pub(crate) fn within<T: Scalar, X: Points<T>, Y: Points<T>>(
    cpu: &Cpu,
    searcher: &Searcher,
    x: &[X],
    y: &[Y],
    observer: Option<Observer<'_>>,
) -> Result<Vec<WithinBall<T>>, Error> {
    searcher.check_within()?;
    let watch = Watch::new(observer, points(x).saturating_mul(2));
    let found = each(cpu.threads, x, y, |threads, x, y| {
        several::within(&cpu.threads(threads), searcher, x, y, &watch)
    });
    watch.end(Error::SearchCancelled).and(found)
}

/// Points of all clouds.
fn points<T: Scalar, P: Points<T>>(clouds: &[P]) -> usize {
    clouds.iter().fold(0, |sum, cloud| sum.saturating_add(cloud.len()))
}
