//! Interface of the approximate samplers: jobs and results.

use super::{Centroids, FastPointDetails, run};
use crate::parse::{ParseError, by_name};
use crate::{
    Algorithm, Amount, Cpu, DeviceKind, Error, NonFinite, On, Points, Scalar, Start, Statistics,
    Traits,
};
use std::fmt;
use std::str::FromStr;

/// A sampling method other than farthest point sampling. [`Method::ALL`] and `"npdu".parse::<Method>()` have
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
    /// Points at equal intervals along a Morton curve (EdgePC, Ying et al., ISCA 2023). Approximate.
    /// Needs no order, as it sorts; returns exactly M.
    Morton {
        /// Bits per axis, 1 to 21: 10 as published, 21 for clouds with finer detail.
        bits: u32,
    },
    /// Farthest point sampling that brings only a window around each new sample up to date
    /// (nearest-point-distance-updating, Li et al. 2022). Approximate: near farthest point
    /// sampling if neighbors in the order are neighbors in space, else not. Returns exactly M.
    Npdu {
        /// Points per window; `16 N / M` if `None`.
        window: Option<usize>,
        /// Order of the points that windows are runs of.
        order: Order,
    },
    /// FastPoint's sampler (ICCV 2025): a tenth of the samples by exact farthest point sampling,
    /// a curve of selection distances predicted from them, then all points at falling distances
    /// taken from that curve, and the rest by exact updates. Approximate, but no two samples of
    /// its levels are nearer than the last of these distances. Needs no order, returns exactly M.
    FastPoint {
        /// Exact algorithm of its first stage.
        first: Algorithm,
        /// Estimator that predicts the curve.
        estimator: Estimator,
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

/// The order in which [`Method::Npdu`] takes windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// Order of the input: good for LiDAR scans as recorded, bad for shuffled clouds.
    Input,
    /// Along a Morton curve of 21 bits per axis.
    Morton,
    /// No order: the window is the nearest neighbors in space, lowest index among equals.
    Neighbors,
}

/// Estimator of selection distances of [`Method::FastPoint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Estimator {
    /// A small network, trained by this project on its own curves (docs/samplers.md).
    Network,
    /// A curve fitted to the first samples, without weights.
    Fit,
}

impl Method {
    /// All methods with default options.
    pub const ALL: [Self; 5] = [
        Self::Random { seed: 0 },
        Self::Grid { keep: Keep::Center },
        Self::Morton { bits: 10 },
        Self::Npdu { window: None, order: Order::Input },
        Self::FastPoint { first: Algorithm::Auto, estimator: Estimator::Network },
    ];

    /// Returns the name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Random { .. } => "random",
            Self::Grid { .. } => "grid",
            Self::Morton { .. } => "morton",
            Self::Npdu { .. } => "npdu",
            Self::FastPoint { .. } => "fastpoint",
        }
    }

    /// Returns whether it starts at a point, which [`ApproximateSampler::start`] sets.
    pub fn has_start(&self) -> bool {
        matches!(self, Self::Npdu { .. } | Self::FastPoint { .. })
    }

    /// Returns the kinds of devices that have it.
    pub fn devices(&self) -> &'static [DeviceKind] {
        match self {
            Self::FastPoint { .. } => &[DeviceKind::Cpu, DeviceKind::Gpu],
            _ => &[DeviceKind::Cpu],
        }
    }

    /// Returns the properties of this method for a count.
    pub fn traits(&self) -> Traits {
        let source = match self {
            Self::Random { .. } => "sampling without replacement",
            Self::Grid { .. } => "voxel grid, as in PCL",
            Self::Morton { .. } => "EdgePC, Ying et al., ISCA 2023",
            Self::Npdu { .. } => "adjustable FPS, Li et al., 2022",
            Self::FastPoint { .. } => "FastPoint, ICCV 2025",
        };
        let needs_order = matches!(self, Self::Npdu { order: Order::Input, .. });
        Traits { exact: false, needs_order, exact_count: true, deterministic: true, source }
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

/// An approximate sampling job: method, number of points and start.
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
    /// First point or points, for methods that start at a point.
    pub start: Option<Start>,
    /// Treatment of NaN and infinity.
    pub non_finite: NonFinite,
}

impl ApproximateSampler {
    /// Creates a job for an amount, [`Amount::Spacing`] excepted; the named constructors read better.
    pub fn new(method: Method, amount: Amount) -> Self {
        Self { method, amount, start: None, non_finite: NonFinite::Error }
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

    /// Sets the start, for [`Method::Npdu`] and [`Method::FastPoint`]; an error for others. Point 0
    /// by default.
    ///
    /// Several points come first, in their order. `Npdu` treats them as samples that it chose
    /// itself, so that a job with a set window continues as if uninterrupted;
    /// `FastPoint` takes them before its levels.
    pub fn start(self, start: Start) -> Self {
        Self { start: Some(start), ..self }
    }

    /// Sets the treatment of NaN and infinity; an error by default.
    pub fn non_finite(self, non_finite: NonFinite) -> Self {
        Self { non_finite, ..self }
    }

    /// This job on a device: a [`Cpu`], or a GPU, which has some of the methods ([`Method::devices`]). On the CPU,
    /// besides copying, threads make the cells of [`Method::Grid`], the order of [`Method::Morton`] and
    /// [`Order::Morton`], and the first samples of [`Method::FastPoint`]. The result never depends on device and
    /// threads.
    pub fn on<'a, D: ?Sized>(&'a self, device: &'a D) -> On<'a, Self, D> {
        On::new(self, device)
    }

    /// Checks, without a cloud, that amount, start and options fit the method, and that devices of this kind have it.
    ///
    /// # Errors
    /// Same as [`ApproximateSampler::sample`], and [`Error::NotOnDevice`].
    pub fn check(&self, device: DeviceKind) -> Result<(), Error> {
        run::check_job(self)?;
        if !self.method.devices().contains(&device) {
            let all = Method::ALL.iter().filter(|method| method.devices().contains(&device));
            let names: Vec<_> = all.map(Method::name).collect();
            let (what, instead) = (self.method.name().to_owned(), names.join(", "));
            return Err(Error::NotOnDevice { what, device, instead });
        }
        match self.method {
            Method::FastPoint { first, .. } => first.check(device),
            _ => Ok(()),
        }
    }

    /// Samples one cloud with all threads.
    ///
    /// # Errors
    /// On non-finite rows, on more samples than points, on a start outside the cloud, and on amounts and
    /// options that do not fit the method or are out of range.
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
    /// Rows of the input, all different: in order of choice, along the curve
    /// ([`Method::Morton`]), or ascending ([`Method::Grid`]).
    pub indices: Vec<usize>,
    /// The method that ran.
    pub method: Method,
    /// Properties of the sample, by method.
    pub details: Details,
    /// Number of rows left out because they hold NaN or infinity.
    pub dropped: usize,
    /// Distances computed and effective updates, if the method counts them.
    pub statistics: Statistics,
}

impl ApproximateSample {
    /// Creates a sample for a device.
    pub fn new(indices: Vec<usize>, method: Method, details: Details) -> Self {
        Self { indices, method, details, dropped: 0, statistics: Statistics::default() }
    }

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
    /// Details of [`Method::Npdu`].
    Npdu {
        /// Points per window.
        window: usize,
    },
    /// Details of [`Method::FastPoint`].
    FastPoint(FastPointDetails),
}
