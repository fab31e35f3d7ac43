//! Options of farthest point sampling.

use super::{Algorithm, Amount};
use crate::{DeviceKind, Error};
use std::time::Duration;

/// First point or points of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Start {
    /// The first usable point: row 0, unless it is left out, or the first row of a [`crate::Selected`].
    #[default]
    First,
    /// This row; an error if it is left out.
    Index(usize),
    /// Continue an existing sample: these points come first, in this order.
    Indices(Vec<usize>),
    /// A random point drawn with this seed, the same on every machine.
    Random(u64),
}

/// Treatment of rows that hold NaN or infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NonFinite {
    /// Reject the cloud with an error that names the first such row and their number.
    #[default]
    Error,
    /// Leave them out; indices still refer to the input.
    Skip,
}

/// A farthest point sampling job: number of points, start and algorithm.
///
/// ```
/// use farpoint::Sampler;
///
/// let square = [[0.0f32, 0.0], [0.1, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
/// let sample = Sampler::count(4).sample(&square)?;
/// assert_eq!(sample.indices, [0, 4, 2, 3]);
/// assert_eq!(sample.covering_radius(), 0.1);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// A job does not say where it runs. Its own methods run it on the CPU with all threads;
/// [`Sampler::on`] names another device, which gives the same result:
///
/// ```
/// use farpoint::{Cpu, Sampler};
///
/// let line: Vec<[f64; 1]> = (0..100).map(|i| [f64::from(i)]).collect();
/// let job = Sampler::ratio(0.25);
/// assert_eq!(job.on(&Cpu::new().threads(2)).sample(&line)?.indices, job.sample(&line)?.indices);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sampler {
    /// Number of points to sample.
    pub amount: Amount,
    /// Algorithm, with its options.
    pub algorithm: Algorithm,
    /// First point or points.
    pub start: Start,
    /// Treatment of NaN and infinity.
    pub non_finite: NonFinite,
    /// True if the work is counted and timed.
    pub statistics: bool,
    /// Time after which a run ends with the points chosen so far.
    pub deadline: Option<Duration>,
    /// True if a run that its observer ends returns the points chosen so far.
    pub partial: bool,
}

impl Sampler {
    /// Creates a job for an amount; the named constructors read better.
    pub fn new(amount: Amount) -> Self {
        Self {
            amount,
            algorithm: Algorithm::Auto,
            start: Start::First,
            non_finite: NonFinite::Error,
            statistics: false,
            deadline: None,
            partial: false,
        }
    }

    /// Creates a job for `count` samples.
    pub fn count(count: usize) -> Self {
        Self::new(Amount::Count(count))
    }

    /// Creates a job for `ceil(ratio * points)` samples.
    pub fn ratio(ratio: f64) -> Self {
        Self::new(Amount::Ratio(ratio))
    }

    /// Creates a job that samples until the covering radius is at most `spacing`.
    pub fn spacing(spacing: f64) -> Self {
        Self::new(Amount::Spacing(spacing))
    }

    /// Creates a job for the whole cloud in farthest-first order: every prefix is a sample.
    pub fn whole() -> Self {
        Self::new(Amount::All)
    }

    /// Sets the algorithm; [`Algorithm::Auto`] by default.
    pub fn algorithm(self, algorithm: Algorithm) -> Self {
        Self { algorithm, ..self }
    }

    /// Sets the start; the first usable point by default.
    pub fn start(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// Sets the treatment of NaN and infinity; an error by default.
    pub fn non_finite(self, non_finite: NonFinite) -> Self {
        Self { non_finite, ..self }
    }

    /// Counts and times the work, for [`crate::Sample::statistics`]. Costs a little time.
    pub fn statistics(self, statistics: bool) -> Self {
        Self { statistics, ..self }
    }

    /// Ends a run after this time with the points chosen so far: the beginning of the complete sample, with its covering
    /// radius, and [`Sample::complete`](crate::Sample::complete) false. There is at least the start. For single clouds on the
    /// CPU.
    ///
    /// The clock is looked at once the points are copied, and from then on in every stage. A turn of 120,000 points takes
    /// up to 2 ms of computing more than the deadline (99 % of measured calls on one thread: 1.2 ms on a free core, 1.3 ms
    /// beside other work), to which a busy machine adds the time in which others have the core. On targets without a clock
    /// a deadline never passes.
    ///
    /// ```
    /// use farpoint::Sampler;
    /// use std::time::Duration;
    ///
    /// let line: Vec<[f32; 1]> = (0..10_000).map(|i| [i as f32]).collect();
    /// let complete = Sampler::count(5000).sample(&line)?;
    /// let sample = Sampler::count(5000).deadline(Duration::from_micros(200)).sample(&line)?;
    /// assert_eq!(sample.indices, complete.indices[..sample.len()]);
    /// assert_eq!(sample.covering_radius(), complete.covering_radius_of(sample.len()));
    /// # Ok::<(), farpoint::Error>(())
    /// ```
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Makes a run that its observer ends return the points chosen so far, as after a [`Sampler::deadline`], instead of
    /// [`Error::Cancelled`].
    pub fn partial(self, partial: bool) -> Self {
        Self { partial, ..self }
    }

    /// Checks the parts that do not depend on a cloud: that a kind of device has the algorithm and its options,
    /// and that exact samplers support the amount. Every device calls it.
    ///
    /// # Errors
    /// Same as [`Algorithm::check`], [`Error::NotForMethod`] for [`Amount::Cell`], and [`Error::NotOnDevice`] for a
    /// deadline or partial samples on a GPU.
    pub fn check(&self, device: DeviceKind) -> Result<(), Error> {
        if self.ends_early() && device != DeviceKind::Cpu {
            let (what, instead) = ("deadlines and partial samples".into(), "complete ones".into());
            return Err(Error::NotOnDevice { what, device, instead });
        }
        match self.amount {
            Amount::Cell(_) => {
                Err(Error::NotForMethod { what: "a cell size is", method: "exact samplers" })
            }
            _ => self.algorithm.check(device),
        }
    }

    /// Returns whether a run may end before its sample is complete.
    pub(crate) fn ends_early(&self) -> bool {
        self.deadline.is_some() || self.partial
    }
}
