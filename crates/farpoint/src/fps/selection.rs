//! The sequence of choices as it grows: every algorithm offers its next choice here.

use crate::cloud::Cloud;
use crate::random::SplitMix64;
use crate::{Amount, Error, Observer, Progress, Scalar, Start, Statistics};
use std::ops::ControlFlow;

/// Choices so far, the stop rule, and the run's counters.
pub(crate) struct Selection<'a, T> {
    /// Chosen points (of the [`Cloud`], not rows of the input), in order.
    pub(crate) points: Vec<u32>,
    /// Squared selection distance of each.
    pub(crate) values: Vec<T>,
    /// Points to start from.
    pub(crate) starts: Vec<u32>,
    /// Squared covering radius, known once the run has ended.
    pub(crate) covering: T,
    /// Counted work; only filled in where `count` is set.
    pub(crate) statistics: Statistics,
    /// Whether to count effective updates, which costs time.
    pub(crate) count: bool,
    limit: usize,
    stop_radius: Option<f64>,
    observer: Option<Observer<'a>>,
    next_report: usize,
}

/// The observer is called about every this many samples, where the algorithm's steps allow.
const REPORT_EVERY: usize = 1024;

impl<'a, T: Scalar> Selection<'a, T> {
    /// Checks amount and start against the cloud.
    pub(crate) fn new(
        cloud: &Cloud<T>,
        input_rows: usize,
        amount: Amount,
        start: &Start,
        count: bool,
        observer: Option<Observer<'a>>,
    ) -> Result<Self, Error> {
        let Request { limit, stop_radius, starts } =
            Request::new(cloud, input_rows, amount, start)?;
        let capacity = if stop_radius.is_some() { 0 } else { limit };
        Ok(Self {
            points: Vec::with_capacity(capacity),
            values: Vec::with_capacity(capacity),
            starts,
            // Nothing covers no point, but any one sample would.
            covering: if limit == 0 && cloud.len > 0 { T::INFINITY } else { T::ZERO },
            statistics: Statistics::default(),
            count,
            limit,
            stop_radius,
            next_report: if observer.is_some() { REPORT_EVERY } else { usize::MAX },
            observer,
        })
    }

    /// Takes a start point.
    pub(crate) fn begin(&mut self, point: u32) {
        self.points.push(point);
        self.values.push(T::INFINITY);
    }

    /// Takes the next choice, or refuses it because the sample is complete: its distance is
    /// then the covering radius. Must be called with every choice in order.
    #[inline]
    #[must_use]
    pub(crate) fn offer(&mut self, point: u32, value: T) -> bool {
        if self.points.len() >= self.limit
            || self.stop_radius.is_some_and(|radius| value.sqrt().to_f64() <= radius)
        {
            self.covering = value;
            return false;
        }
        self.points.push(point);
        self.values.push(value);
        true
    }

    /// Samples still to come, at most.
    pub(crate) fn remaining(&self) -> usize {
        self.limit - self.points.len()
    }

    /// The covering radius to stop at, for a job of that kind.
    pub(crate) fn stop_radius(&self) -> Option<f64> {
        self.stop_radius
    }

    /// Calls the observer now and then; an error if it cancels the run.
    #[inline]
    pub(crate) fn report(&mut self, value: T) -> Result<(), Error> {
        if self.points.len() < self.next_report {
            return Ok(());
        }
        self.next_report = self.points.len() + REPORT_EVERY;
        let progress = Progress {
            samples: self.points.len(),
            wanted: self.limit,
            covering_radius: value.sqrt().to_f64(),
        };
        match self.observer.as_mut().map_or(ControlFlow::Continue(()), |tell| tell(progress)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled(self.points.len())),
        }
    }
}

/// What is wanted of a cloud, checked against it.
pub(crate) struct Request {
    /// Samples, at most.
    pub(crate) limit: usize,
    /// The covering radius to stop at.
    pub(crate) stop_radius: Option<f64>,
    /// Points to start from; none when nothing is wanted.
    pub(crate) starts: Vec<u32>,
}

impl Request {
    /// Checks amount and start against the cloud.
    pub(crate) fn new<T: Scalar>(
        cloud: &Cloud<T>,
        input_rows: usize,
        amount: Amount,
        start: &Start,
    ) -> Result<Self, Error> {
        let limit = amount.limit(cloud.len)?;
        let stop_radius = match amount {
            Amount::Spacing(spacing) => Some(spacing),
            _ => None,
        };
        let starts = if limit == 0 { vec![] } else { starts(cloud, input_rows, start)? };
        if starts.len() > limit {
            return Err(Error::TooManyStarts { starts: starts.len(), samples: limit });
        }
        Ok(Self { limit, stop_radius, starts })
    }
}

fn starts<T: Scalar>(
    cloud: &Cloud<T>,
    input_rows: usize,
    start: &Start,
) -> Result<Vec<u32>, Error> {
    let point = |&row: &usize| match cloud.point(row) {
        _ if row >= input_rows => Err(Error::StartOutOfRange { index: row, points: input_rows }),
        None => Err(Error::StartIsBad { index: row }),
        Some(point) => Ok(point),
    };
    match start {
        // The default: the first usable point.
        Start::Index(0) => Ok(vec![0]),
        Start::Index(row) => Ok(vec![point(row)?]),
        Start::Indices(rows) if rows.is_empty() => Err(Error::NoStart),
        Start::Indices(rows) => {
            let points = rows.iter().map(point).collect::<Result<Vec<_>, _>>()?;
            let mut sorted = points.clone();
            sorted.sort_unstable();
            match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                Some(pair) => Err(Error::StartRepeated { index: cloud.row(pair[0]) }),
                None => Ok(points),
            }
        }
        Start::Random(seed) => Ok(vec![SplitMix64::new(*seed).below(cloud.len as u64) as u32]),
    }
}
