//! From a [`Searcher`] and two clouds to neighbors on the CPU: check, choose a method, run it.

use super::group::Group;
use super::limits::Limits;
use super::output::{Output, Places};
use crate::memory::Shared;
use crate::neighbors::gather::{Kind, Search};
use crate::neighbors::metric::Metric;
use crate::neighbors::pair::{self, Pair, Structure};
use crate::neighbors::search::Job;
use crate::simd;
use crate::watch::Watch;
use crate::{Cpu, DeviceKind, Error, Level, Neighbors, Points, Scalar, Searcher, WithinBall};

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
    on_checked(cpu, searcher, x, y, watch, |run| run.best())
}

/// All neighbors in the ball of each point of `x`, under a watch.
pub(crate) fn within<T: Scalar, X, Y>(
    cpu: &Cpu,
    searcher: &Searcher,
    x: &X,
    y: &Y,
    watch: &Watch<'_>,
) -> Result<WithinBall<T>, Error>
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    searcher.check_within()?;
    on_checked(cpu, searcher, x, y, watch, |run| run.all())
}

/// Checks and copies both clouds and builds what the method needs of them, then searches on the device's
/// threads.
fn on_checked<T: Scalar, X, Y, R: Send>(
    cpu: &Cpu,
    searcher: &Searcher,
    x: &X,
    y: &Y,
    watch: &Watch<'_>,
    work: impl FnOnce(&Run<'_, '_, T>) -> Result<R, Error> + Send,
) -> Result<R, Error>
where
    X: Points<T> + ?Sized,
    Y: Points<T> + ?Sized,
{
    let level = simd::choose(cpu.level)?;
    searcher.method.check(DeviceKind::Cpu)?;
    let found = pair::with(cpu.threads, searcher.bad_rows, x, y, |pair| {
        pair.build(searcher.method, watch, |structure| {
            work(&Run { pair, structure, searcher, level, watch })
        })
    });
    watch.end(Error::SearchCancelled)?;
    found
}

/// A search that has been checked.
struct Run<'a, 'b, T: Scalar> {
    pair: &'a Pair<'a, T>,
    structure: Structure<'a, T>,
    searcher: &'a Searcher,
    level: Level,
    watch: &'a Watch<'b>,
}

impl<T: Scalar> Run<'_, '_, T> {
    /// The best `k` of each row.
    fn best(&self) -> Result<Neighbors<T>, Error> {
        let (rows, k) = (self.pair.rows[0], self.searcher.k);
        let all = rows.checked_mul(k).ok_or(Error::TooManyNeighbors(usize::MAX))?;
        let mut found = Neighbors {
            all_distances: filled(all, T::INFINITY)?,
            all_indices: filled(all, Neighbors::<T>::NONE)?,
            counts: vec![0; rows],
            k,
            norm: self.searcher.norm,
            dropped: self.pair.dropped(0),
        };
        let distances = Shared::new(&mut found.all_distances);
        let indices = Shared::new(&mut found.all_indices);
        let counts = Shared::new(&mut found.counts);
        self.pass(Places::Best { distances, indices, counts });
        Ok(found)
    }

    /// All of each row: counted first, then written one row after another.
    fn all(&self) -> Result<WithinBall<T>, Error> {
        let rows = self.pair.rows[0];
        let mut counts = vec![0; rows];
        self.pass(Places::Counts(Shared::new(&mut counts)));
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0usize);
        for count in counts {
            let end = offsets[offsets.len() - 1].checked_add(count as usize);
            offsets.push(end.ok_or(Error::TooManyNeighbors(usize::MAX))?);
        }
        let all = offsets[rows];
        let (mut indices, mut raw_distances) = (filled(all, 0)?, filled(all, T::ZERO)?);
        if self.watch.step(0) {
            let (indices, offsets) = (Shared::new(&mut indices), &offsets[..]);
            let distances = Shared::new(&mut raw_distances);
            self.pass(Places::All { distances, indices, offsets });
        }
        let (norm, dropped) = (self.searcher.norm, self.pair.dropped(0));
        Ok(WithinBall { indices, raw_distances, offsets, norm, dropped })
    }

    fn pass(&self, places: Places<'_, T>) {
        let [queries, targets] = self.pair.clouds;
        let (limits, exclude_self) = (Limits::of(self.searcher), self.searcher.exclude_self);
        let job = Job::<T, Several> {
            structure: self.structure,
            norm: self.searcher.norm,
            threads: self.pair.threads,
            watch: self.watch,
            output: Output { queries, targets, limits, exclude_self, places },
        };
        job.run(self.level);
    }
}

/// No machine has memory for more neighbors, nor are their bytes counted in `isize`.
const MOST: usize = isize::MAX as usize / 16;

/// So many copies of a value.
fn filled<V: Copy>(len: usize, value: V) -> Result<Vec<V>, Error> {
    if len > MOST {
        return Err(Error::TooManyNeighbors(len));
    }
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| Error::TooManyNeighbors(len))?;
    values.resize(len, value);
    Ok(values)
}

/// Several neighbors of each query.
struct Several;

impl Kind for Several {
    type Of<'a, T: Scalar> = Output<'a, T>;
}

impl<T: Scalar> Search<T> for Output<'_, T> {
    type Group<'g>
        = Group<'g, T>
    where
        Self: 'g;
    const LEAST_LEAVES: usize = 8;

    fn group(&self) -> Group<'_, T> {
        Group::new(self)
    }

    fn reference<M: Metric>(&self, watch: &Watch<'_>) {
        super::reference::search::<T, M>(self, watch);
    }
}
