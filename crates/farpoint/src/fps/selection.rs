//! The sequence of choices as it grows: every algorithm offers its next choice here.

use super::checks::Checks;
use crate::clock::Clock;
use crate::cloud::WorkingCopy;
use crate::memory::{self, Buffer, Shared};
use crate::random::SplitMix64;
use crate::threads::Team;
use crate::unwind::{caught, raise};
use crate::{Amount, Error, Observer, Sampler, Scalar, Start, Statistics, Subset};
use std::cell::RefCell;
use std::ops::Range;

/// Choices so far, the stop rule, and the counters of the run.
pub(crate) struct Selection<'a, T> {
    /// Chosen points (of the [`WorkingCopy`], not rows of the input), in order.
    pub(crate) points: Buffer<u32>,
    /// Squared selection distance of each.
    pub(crate) values: Vec<T>,
    /// Start points.
    pub(crate) starts: Buffer<u32>,
    /// Squared covering radius, known once the run has ended.
    pub(crate) covering: T,
    /// Counted work; only filled in if `count` is set.
    pub(crate) statistics: Statistics,
    /// True if effective updates are counted, which costs time.
    pub(crate) count: bool,
    limit: usize,
    stop_radius: Option<f64>,
    checks: Checks<'a>,
}

impl<'a, T: Scalar> Selection<'a, T> {
    /// Checks amount and start of a job that began at `begin` against the cloud. Distances are written to `values`.
    pub(crate) fn new(
        sampler: &Sampler,
        cloud: &WorkingCopy<T>,
        input_rows: usize,
        begin: Clock,
        observer: Option<Observer<'a>>,
        mut values: Vec<T>,
    ) -> Result<Self, Error> {
        let Request { limit, stop_radius, starts } =
            Request::new(cloud, input_rows, sampler.amount, &sampler.start)?;
        let capacity = if stop_radius.is_some() { 0 } else { limit };
        values.clear();
        memory::reserve_exact(&mut values, capacity);
        Ok(Self {
            points: Buffer::with_capacity(capacity),
            values,
            starts,
            // Nothing covers no point, but any one sample would.
            covering: if limit == 0 && cloud.len > 0 { T::INFINITY } else { T::ZERO },
            statistics: Statistics::default(),
            count: sampler.statistics,
            limit,
            stop_radius,
            checks: Checks::new(sampler, begin, [cloud.len, limit], observer),
        })
    }

    /// Takes a start point.
    pub(crate) fn begin(&mut self, point: u32) {
        self.points.push(point);
        memory::push(&mut self.values, T::INFINITY);
    }

    /// Takes the next choice, or rejects it because the sample is complete: its distance is
    /// then the covering radius. Must be called with every choice in order.
    #[inline]
    #[must_use]
    pub(crate) fn offer(&mut self, point: u32, value: T) -> bool {
        if self.points.len() >= self.limit || self.stops_at(value) {
            self.covering = value;
            return false;
        }
        self.points.push(point);
        memory::push(&mut self.values, value);
        true
    }

    /// Returns whether a choice of these keys is rejected because of the radius to stop at.
    pub(crate) fn stops_among(&self, keys: &[T::Key]) -> bool {
        // Smaller distances have larger keys.
        let last = self.stop_radius.and(keys.iter().max());
        last.is_some_and(|&key| self.stops_at(T::key_value(key)))
    }

    fn stops_at(&self, value: T) -> bool {
        self.stop_radius.is_some_and(|radius| value.sqrt().to_f64() <= radius)
    }

    /// Takes all these choices, given as keys in runs: the end of each, and whether the following runs
    /// come after all before. Returns whether the sample is complete.
    pub(crate) fn offer_all(
        &mut self,
        team: &Team,
        keys: &mut [T::Key],
        ends: &[(usize, bool)],
    ) -> bool {
        let keys = sort(team, keys, ends);
        let max_len = keys.len().min(self.limit - self.points.len());
        let accepted = keys[..max_len].partition_point(|&key| !self.stops_at(T::key_value(key)));
        let complete = keys.get(accepted).map(|&key| T::key_value(key));
        let keys = &keys[..accepted];
        self.points.reserve(accepted);
        team.extend(&mut self.points, accepted, |k| T::key_index(keys[k]));
        team.extend(&mut self.values, accepted, |k| T::key_value(keys[k]));
        if let Some(value) = complete {
            self.covering = value;
        }
        complete.is_some()
    }

    /// Returns the number of samples remaining, at most.
    pub(crate) fn remaining(&self) -> usize {
        self.limit - self.points.len()
    }

    /// Returns the covering radius to stop at, if the job has one.
    pub(crate) fn stop_radius(&self) -> Option<f64> {
        self.stop_radius
    }

    /// Checks observer and deadline now and then; returns an error if the run ends here. `value` is the squared
    /// covering radius of the samples before the last.
    #[inline]
    pub(crate) fn report(&mut self, value: T) -> Result<(), Error> {
        self.report_at(self.points.len(), value)
    }

    /// Like [`Self::report`] with `samples` samples, some of them not offered yet.
    #[inline]
    pub(crate) fn report_at(&mut self, samples: usize, value: T) -> Result<(), Error> {
        if !self.checks.are_due(samples) {
            return Ok(());
        }
        self.checks.check(samples, value.sqrt().to_f64())
    }

    /// Builds a structure before the first choice, from the statistics to fill in, with checks of observer and deadline
    /// between its tasks.
    ///
    /// # Errors
    /// If the run ends here.
    pub(crate) fn build<R>(
        &mut self,
        team: &Team,
        build: impl FnOnce(&mut Statistics) -> R,
    ) -> Result<R, Error> {
        let Self { checks, statistics, .. } = self;
        if !checks.are_enabled() {
            return Ok(build(statistics));
        }
        let checks = RefCell::new(checks);
        let check = || checks.borrow_mut().check(0, f64::INFINITY);
        caught(|| {
            Ok(team
                .between_tasks(&|| check().unwrap_or_else(|end| raise(end)), || build(statistics)))
        })
    }

    /// Returns whether the sample is to end with the choices so far.
    pub(crate) fn has_ended(&self) -> bool {
        self.checks.have_ended()
    }

    /// Ends the sample early. The last choice is given up for its distance, the covering radius of those before it.
    pub(crate) fn truncate(&mut self, cloud: &WorkingCopy<T>, starts: &[u32]) {
        if self.points.len() > starts.len() {
            self.points.pop();
            self.covering = self.values.pop().expect("a distance for each choice");
            return;
        }
        self.points.clear();
        self.values.clear();
        starts.iter().for_each(|&start| self.begin(start));
        let distance = |point: u32| {
            let distances = starts.iter().map(|&start| cloud.squared_distance(point, start));
            distances.fold(T::INFINITY, |a, b| if b < a { b } else { a })
        };
        let farthest = |a: T, b: T| if b > a { b } else { a };
        self.covering = (0..cloud.len as u32).map(distance).fold(T::ZERO, farthest);
    }
}

/// Approximate number of keys merged per task.
const PIECE: usize = if cfg!(test) { 50 } else { 1 << 13 };

/// Sorts keys in short tasks.
pub(super) fn sort_all<K: Ord + Copy + Send + Sync>(team: &Team, keys: &mut [K]) -> Buffer<K> {
    let ends = (0..keys.len().div_ceil(PIECE)).map(|k| (k + 1) * PIECE);
    let ends = ends.map(|end| (end.min(keys.len()), end >= keys.len()));
    let ends = Buffer::collected(ends);
    sort(team, keys, &ends)
}

/// Sorts keys given in runs: the end of each, and whether the following runs come after all before.
fn sort<K: Ord + Copy + Send + Sync>(
    team: &Team,
    keys: &mut [K],
    ends: &[(usize, bool)],
) -> Buffer<K> {
    let shared = Shared::new(keys);
    let run = |k: usize| if k == 0 { 0 } else { ends[k - 1].0 }..ends[k].0;
    team.each(ends.len(), |k, _| {
        // SAFETY: the run is its task's alone, and runs end at the end of all keys.
        let run = unsafe { shared.part(run(k)) };
        if !run.is_sorted() {
            run.sort_unstable();
        }
    });
    let Pieces { runs, pieces } = Pieces::new(keys, ends);
    let mut sorted = Buffer::with_capacity(keys.len());
    let target = Shared::new(&mut sorted.spare_capacity_mut()[..keys.len()]);
    team.each(pieces.len(), |k, _| {
        let (runs, start) = (&runs[pieces[k].runs.clone()], pieces[k].start);
        let mut piece = Buffer::with_capacity(runs.iter().map(Range::len).sum());
        runs.iter().for_each(|run| piece.extend_from_slice(&keys[run.clone()]));
        if runs.len() > 1 {
            // A stable sort would merge the runs, but aborts the process if it gets no memory for that.
            piece.sort_unstable();
        }
        // SAFETY: pieces are different places of the keys in order, and all together are all of them.
        let target = unsafe { target.part(start..start + piece.len()) };
        target.iter_mut().zip(&piece).for_each(|(target, &key)| {
            target.write(key);
        });
    });
    // SAFETY: the pieces are all keys, each written once.
    unsafe { sorted.set_len(keys.len()) };
    sorted
}

/// Sorted runs, cut into pieces.
#[derive(Default)]
struct Pieces {
    /// Parts of the runs, piece by piece.
    runs: Buffer<Range<usize>>,
    pieces: Buffer<Piece>,
}

/// Parts of sorted runs that are adjacent in the sorted result, and their start in it.
struct Piece {
    runs: Range<usize>,
    start: usize,
}

impl Pieces {
    /// Cuts sorted runs into pieces.
    fn new<K: Ord>(keys: &[K], ends: &[(usize, bool)]) -> Self {
        let (mut pieces, mut start) = (Self::default(), 0);
        for ends in ends.split_inclusive(|&(_, last)| last) {
            pieces.cut(keys, start, ends);
            start = ends.last().map_or(start, |&(end, _)| end);
        }
        pieces
    }

    /// Cuts runs that belong together, at keys of the longest of them.
    fn cut<K: Ord>(&mut self, keys: &[K], start: usize, ends: &[(usize, bool)]) {
        let from = |k: usize| if k == 0 { start } else { ends[k - 1].0 };
        let all = (0..ends.len()).map(|k| from(k)..ends[k].0);
        let longest = all.clone().max_by_key(|run| run.len()).expect("a run");
        let count = ends[ends.len() - 1].0 - start;
        let cuts = count.div_ceil(PIECE).max(1);
        let mut at = start;
        for cut in 1..=cuts {
            let first = self.runs.len();
            for (k, run) in all.clone().enumerate() {
                // Where the piece before ends.
                let from = if cut == 1 { run.start } else { self.runs[first - ends.len() + k].end };
                let to = if cut == cuts {
                    run.end
                } else {
                    let before = &keys[longest.start + longest.len() * cut / cuts];
                    run.start + keys[run.clone()].partition_point(|key| key < before)
                };
                self.runs.push(from..to);
            }
            self.pieces.push(Piece { runs: first..self.runs.len(), start: at });
            at += self.runs[first..].iter().map(Range::len).sum::<usize>();
        }
    }
}

/// Amount and starts of a job, checked against a cloud.
pub(crate) struct Request {
    /// Maximum number of samples.
    pub(crate) limit: usize,
    /// Covering radius to stop at.
    pub(crate) stop_radius: Option<f64>,
    /// Start points; none if no samples are requested.
    pub(crate) starts: Buffer<u32>,
}

impl Request {
    /// Checks amount and start against the cloud.
    pub(crate) fn new<T: Scalar>(
        cloud: &WorkingCopy<T>,
        input_rows: usize,
        amount: Amount,
        start: &Start,
    ) -> Result<Self, Error> {
        let limit = amount.limit(cloud.len)?;
        let stop_radius = match amount {
            Amount::Spacing(spacing) => Some(spacing),
            _ => None,
        };
        let starts = if limit == 0 { Buffer::default() } else { starts(cloud, input_rows, start)? };
        if starts.len() > limit {
            return Err(Error::TooManyStarts { starts: starts.len(), samples: limit });
        }
        Ok(Self { limit, stop_radius, starts })
    }
}

fn starts<T: Scalar>(
    cloud: &WorkingCopy<T>,
    input_rows: usize,
    start: &Start,
) -> Result<Buffer<u32>, Error> {
    let rows = cloud.subset().map_or(input_rows, Subset::whole);
    let selected = |row| cloud.subset().is_none_or(|subset| subset.place(row).is_some());
    let point = |&row: &usize| match cloud.point(row) {
        _ if row >= rows => Err(Error::StartOutOfRange { index: row, points: rows }),
        Some(point) => Ok(point),
        None if selected(row) => Err(Error::StartIsBad { index: row }),
        None => Err(Error::NotSelected { what: "start", index: row }),
    };
    let one = |point| Ok(Buffer::filled(1, point));
    match start {
        Start::First => one(0),
        Start::Index(row) => one(point(row)?),
        Start::Indices(rows) if rows.is_empty() => Err(Error::NoStart),
        Start::Indices(rows) => {
            let mut points = Buffer::with_capacity(rows.len());
            for row in rows {
                points.push(point(row)?);
            }
            let mut sorted = points.clone();
            sorted.sort_unstable();
            match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                Some(pair) => Err(Error::StartRepeated { index: cloud.row(pair[0]) }),
                None => Ok(points),
            }
        }
        Start::Random(seed) => one(SplitMix64::new(*seed).below(cloud.len as u64) as u32),
    }
}
