//! Several neighbors of each point on the CPU: the best, or all in a ball.

use super::group::Group;
use super::limits::Limits;
use super::output::{Output, Places};
use crate::memory::{self, Shared};
use crate::neighbors::gather::{Kind, Search};
use crate::neighbors::metric::Metric;
use crate::neighbors::start::{self, Options, PairJob, Ready, pair_jobs};
use crate::watch::Watch;
use crate::{Cpu, Error, Neighbors, Observer, Points, Scalar, Searcher, WithinBall};

/// Finds the best `k` neighbors of each row.
pub(crate) struct Best<'a>(pub(crate) &'a Searcher);

impl<T: Scalar> PairJob<T> for Best<'_> {
    type Outcome = Neighbors<T>;

    fn check(&self) -> Result<(), Error> {
        self.0.check()
    }
    fn options(&self) -> Options {
        self.0.into()
    }
    fn steps(&self, x: usize, _: usize) -> usize {
        x
    }
    fn find(&self, ready: &Ready<'_, '_, T>) -> Result<Neighbors<T>, Error> {
        let (rows, k) = (ready.pair.rows[0], self.0.k);
        let all = rows.checked_mul(k).ok_or(Error::TooManyNeighbors(usize::MAX))?;
        let mut found = Neighbors {
            all_distances: filled(all, T::INFINITY)?,
            all_indices: filled(all, Neighbors::<T>::NONE)?,
            counts: memory::zeros(rows),
            k,
            norm: ready.norm,
            dropped: ready.pair.dropped(0),
        };
        let distances = Shared::new(&mut found.all_distances);
        let indices = Shared::new(&mut found.all_indices);
        let counts = Shared::new(&mut found.counts);
        pass(ready, self.0, Places::Best { distances, indices, counts });
        Ok(found)
    }
}

/// Finds all neighbors of each row in its ball.
pub(crate) struct All<'a>(pub(crate) &'a Searcher);

impl<T: Scalar> PairJob<T> for All<'_> {
    type Outcome = WithinBall<T>;

    fn check(&self) -> Result<(), Error> {
        self.0.check_within()
    }
    fn options(&self) -> Options {
        self.0.into()
    }
    /// Every point twice: when its neighbors are counted, and when they are written.
    fn steps(&self, x: usize, _: usize) -> usize {
        x.saturating_mul(2)
    }
    fn find(&self, ready: &Ready<'_, '_, T>) -> Result<WithinBall<T>, Error> {
        let rows = ready.pair.rows[0];
        let mut counts = memory::zeros(rows);
        pass(ready, self.0, Places::Counts(Shared::new(&mut counts)));
        let mut offsets = memory::with_capacity(rows + 1);
        offsets.push(0usize);
        for count in counts {
            let end = offsets[offsets.len() - 1].checked_add(count as usize);
            offsets.push(end.ok_or(Error::TooManyNeighbors(usize::MAX))?);
        }
        let all = offsets[rows];
        let (mut indices, mut raw_distances) = (filled(all, 0)?, filled(all, T::ZERO)?);
        if ready.watch.step(0) {
            let (indices, offsets) = (Shared::new(&mut indices), &offsets[..]);
            let distances = Shared::new(&mut raw_distances);
            pass(ready, self.0, Places::All { distances, indices, offsets });
        }
        let (norm, dropped) = (ready.norm, ready.pair.dropped(0));
        Ok(WithinBall { indices, raw_distances, offsets, norm, dropped })
    }
}

pair_jobs! { Searcher as Best -> Neighbors: search, search_batch }
pair_jobs! { Searcher as All -> WithinBall: within, within_batch }

/// Searches once for all rows.
fn pass<'c, T: Scalar>(ready: &'c Ready<'_, '_, T>, job: &Searcher, places: Places<'c, T>) {
    let [queries, targets] = ready.pair.clouds;
    let (limits, exclude_self) = (Limits::of(job), job.exclude_self);
    ready.search::<SeveralNeighbors>(0, Output { queries, targets, limits, exclude_self, places });
}

/// No machine has memory for more neighbors, nor are their bytes counted in `isize`.
const MAX_LEN: usize = isize::MAX as usize / 16;

/// Returns `len` copies of a value.
fn filled<V: Copy>(len: usize, value: V) -> Result<Vec<V>, Error> {
    if len > MAX_LEN {
        return Err(Error::TooManyNeighbors(len));
    }
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| Error::TooManyNeighbors(len))?;
    values.resize(len, value);
    Ok(values)
}

/// Several neighbors of each query.
struct SeveralNeighbors;

impl Kind for SeveralNeighbors {
    type Of<'a, T: Scalar> = Output<'a, T>;
}

impl<T: Scalar> Search<T> for Output<'_, T> {
    type Group<'g>
        = Group<'g, T>
    where
        Self: 'g;
    const MIN_LEAVES: usize = 8;

    fn group(&self) -> Group<'_, T> {
        Group::new(self)
    }

    fn reference<M: Metric>(&self, watch: &Watch<'_>) {
        super::reference::search::<T, M>(self, watch);
    }
}
