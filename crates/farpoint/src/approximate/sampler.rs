//! Interface of the approximate samplers: jobs and results.

use super::{Centroids, run};
use crate::parse::{ParseError, by_name};
use crate::{Amount, Cpu, DeviceKind, Error, NonFinite, On, Points, Scalar};
use std::fmt;
use std::str::FromStr;

/// A sampling method other than farthest point sampling. [`Method::ALL`] and `"grid".parse::<Method>()` have
/// default options.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// Points drawn without replacement, all equally likely. Approximate: no distance is kept,
    /// holes are left. Needs no order, returns exactly M.
    Random {
        /// Seed; the same sample on every machine.
        seed: u64,
    },
    /// One point of each occupied cell of a cubic grid. Approximate: no point is farther from
    /// the sample than a cell's diagonal, but two kept points may be near each other. Needs no
    /// order. A cell size determines M: its cells are the voxels of [`crate::VoxelGrid`], counted from 0.
    /// A count gives exactly M: the largest cell that leaves
    /// at least M points is found by bisection, until there are at most a thousandth more, of
    /// which those at even positions in index order are kept; if duplicates leave fewer whatever the
    /// cell, points of lowest index not yet kept are added. These cells are counted from the lowest corner of the cloud.
    Grid {
        /// Point of a cell that is kept.
        keep: Keep,
    },
}

/// Point of a cell that [`Method::Grid`] keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Keep {
    /// The lowest index.
    First,
    /// A random one, drawn with this seed.
    Random(u64),
    /// The nearest to the cell's center, the lowest index among equals.
    Center,
}

impl Method {
    /// All methods with default options.
    pub const ALL: [Self; 2] = [Self::Random { seed: 0 }, Self::Grid { keep: Keep::Center }];

    /// Returns the name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Random { .. } => "random",
            Self::Grid { .. } => "grid",
        }
    }

    /// Returns the publication of this method.
    pub fn source(&self) -> &'static str {
        match self {
            Self::Random { .. } => "sampling without replacement",
            Self::Grid { .. } => "voxel grid, as in PCL",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = ParseError;

    fn from_str(name: &str) -> Result<Self, ParseError> {
        by_name("approximate sampler", &Self::ALL, |method| method.name(), name)
    }
}

/// An approximate sampling job: method and number of points.
///
/// ```
/// use farpoint::approximate::{ApproximateSampler, Keep, Method};
///
/// let line: Vec<[f32; 1]> = (0..10).map(|i| [i as f32]).collect();
/// let grid = Method::Grid { keep: Keep::First };
/// let sample = ApproximateSampler::cell(grid, 5.0).sample(&line)?;
/// assert_eq!(sample.indices, [0, 5]);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApproximateSampler {
    /// Method, with its options.
    pub method: Method,
    /// Number of points to sample.
    pub amount: Amount,
    /// Treatment of NaN and infinity.
    pub non_finite: NonFinite,
}

impl ApproximateSampler {
    /// Creates a job for an amount, [`Amount::Spacing`] excepted; the named constructors read better.
    pub fn new(method: Method, amount: Amount) -> Self {
        Self { method, amount, non_finite: NonFinite::Error }
    }

    /// Samples `count` points.
    pub fn count(method: Method, count: usize) -> Self {
        Self::new(method, Amount::Count(count))
    }

    /// Samples `ceil(ratio * points)` points.
    pub fn ratio(method: Method, ratio: f64) -> Self {
        Self::new(method, Amount::Ratio(ratio))
    }

    /// Samples one point per occupied cell of a grid of this cell size. [`Method::Grid`] only.
    pub fn cell(method: Method, cell: f64) -> Self {
        Self::new(method, Amount::Cell(cell))
    }

    /// Sets the treatment of NaN and infinity; an error by default.
    pub fn non_finite(self, non_finite: NonFinite) -> Self {
        Self { non_finite, ..self }
    }

    /// This job on a [`Cpu`], whose threads copy the points and make the cells of [`Method::Grid`]. The result never
    /// depends on them.
    pub fn on<'a>(&'a self, device: &'a Cpu) -> On<'a, Self, Cpu> {
        On::new(self, device)
    }

    /// Checks, without a cloud, that the amount fits the method, and that devices of this kind have it.
    ///
    /// # Errors
    /// Same as [`ApproximateSampler::sample`], and [`Error::NotOnDevice`].
    pub fn check(&self, device: DeviceKind) -> Result<(), Error> {
        run::check_job(self)?;
        if device != DeviceKind::Cpu {
            let (what, instead) = (self.method.name().to_owned(), "none of them".to_owned());
            return Err(Error::NotOnDevice { what, device, instead });
        }
        Ok(())
    }

    /// Samples one cloud with all threads.
    ///
    /// # Errors
    /// On non-finite rows, on more samples than points, and on amounts that do not fit the method or are out of range.
    pub fn sample<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
    ) -> Result<ApproximateSample, Error> {
        self.on(&Cpu::new()).sample(points)
    }

    /// Returns centroids of occupied cells with all threads: see [`On::centroids`].
    ///
    /// # Errors
    /// Same as [`ApproximateSampler::sample`].
    pub fn centroids<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
    ) -> Result<Centroids<T>, Error> {
        self.on(&Cpu::new()).centroids(points)
    }
}

/// An approximate sample: not the farthest point sample. Its guarantees are in `details`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApproximateSample {
    /// Rows of the input, all different: in order of choice, or ascending ([`Method::Grid`]).
    pub indices: Vec<usize>,
    /// The method that ran.
    pub method: Method,
    /// Properties of the sample, by method.
    pub details: Details,
    /// Number of rows left out because they hold NaN or infinity.
    pub dropped: usize,
}

impl ApproximateSample {
    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns whether nothing was chosen.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }
}

/// Properties of a sample, by method.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Details {
    /// No details.
    None,
    /// Details of [`Method::Grid`].
    Grid {
        /// The cell size; 0 if every distinct position had to be kept.
        cell: f64,
        /// Number of occupied cells, before points were left out or added to reach a count.
        cells: usize,
    },
}
