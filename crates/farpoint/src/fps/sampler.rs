//! The interface of farthest point sampling: what to ask for, and what comes back.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use super::Statistics;
use crate::{Error, Level, Points, Scalar};

/// How many samples are wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// This many.
    Count(usize),
    /// `ceil(ratio * points)`, for a ratio in `0..=1`.
    Ratio(f64),
    /// Until the covering radius is at most this (in the unit of the coordinates).
    Spacing(f64),
    /// The whole cloud, in farthest-first order.
    All,
}

/// Where sampling starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// At this point (the default is point 0).
    Index(usize),
    /// Go on from an existing sample: these points come first, in this order.
    Indices(Vec<usize>),
    /// At a point drawn by this seed, the same on every machine.
    Random(u64),
}

/// The algorithms. All give the same indices; they differ in speed only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The fastest for the input at hand, by the measured rules in [`crate::fps`].
    Auto,
    /// The obvious loop that everything else is compared with.
    Reference,
    /// Brute force, vectorized and on all cores.
    Naive,
    /// RadiusFPS: spherical voxel pruning and point skip.
    Radius,
    /// One sample at a time through a wide box tree.
    Tree,
    /// Thousands of samples at a time.
    Peak,
    /// QuickFPS: the buckets of a KD-tree of fixed height, with delayed updates.
    Quick,
}

impl Algorithm {
    /// Every algorithm, `Auto` first.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::Reference,
        Self::Naive,
        Self::Radius,
        Self::Tree,
        Self::Peak,
        Self::Quick,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Reference => "reference",
            Self::Naive => "naive",
            Self::Radius => "radius",
            Self::Tree => "tree",
            Self::Peak => "peak",
            Self::Quick => "quick",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|a| a.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|a| a.name()).collect();
            format!("'{name}' is no algorithm; choose one of {}", names.join(", "))
        })
    }
}

/// What to do with rows that hold NaN or infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BadRows {
    /// Refuse the cloud, naming the first such row and their number.
    #[default]
    Error,
    /// Leave them out; indices still refer to the input.
    Skip,
}

/// Switches of [`Algorithm::Radius`]; every combination gives the same indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RadiusOptions {
    /// Voxels along the longest axis (the paper's `n_vox`), chosen by farpoint when `None`.
    pub nvox: Option<u32>,
    /// Skip whole voxels by their bounding sphere (eq. 25).
    pub radius_pruning: bool,
    /// Skip points by one coordinate (eq. 28).
    pub point_skip: bool,
}

impl Default for RadiusOptions {
    fn default() -> Self {
        Self { nvox: None, radius_pruning: true, point_skip: true }
    }
}

/// Switches of [`Algorithm::Quick`]; every height gives the same indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuickOptions {
    /// Height of the KD-tree, which has at most `2^height` buckets; chosen by farpoint when
    /// `None`.
    pub height: Option<u32>,
}

/// How far a long run has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Samples chosen so far.
    pub samples: usize,
    /// Samples wanted; for a spacing, the number of points.
    pub wanted: usize,
    /// Covering radius of the samples so far.
    pub covering_radius: f64,
}

/// Told of progress now and then; `ControlFlow::Break(())` cancels the run.
pub type Observer<'a> = &'a mut (dyn FnMut(Progress) -> ControlFlow<()> + Send);

/// A farthest point sampling job: how many, from where, by which means.
///
/// ```
/// use farpoint::Sampler;
///
/// let square = [[0.0f32, 0.0], [0.1, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
/// let sample = Sampler::count(4).sample(&square[..])?;
/// assert_eq!(sample.indices, [0, 4, 2, 3]);
/// assert_eq!(sample.covering_radius(), 0.1);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sampler {
    pub(crate) amount: Amount,
    pub(crate) algorithm: Algorithm,
    pub(crate) start: Start,
    pub(crate) threads: Option<usize>,
    pub(crate) level: Option<Level>,
    pub(crate) bad_rows: BadRows,
    pub(crate) statistics: bool,
    pub(crate) radius: RadiusOptions,
    pub(crate) quick: QuickOptions,
}

impl Sampler {
    /// Asks for an amount; the named constructors read better.
    pub fn new(amount: Amount) -> Self {
        Self {
            amount,
            algorithm: Algorithm::Auto,
            start: Start::Index(0),
            threads: None,
            level: None,
            bad_rows: BadRows::Error,
            statistics: false,
            radius: RadiusOptions::default(),
            quick: QuickOptions::default(),
        }
    }

    /// `count` samples.
    pub fn count(count: usize) -> Self {
        Self::new(Amount::Count(count))
    }

    /// `ceil(ratio * points)` samples.
    pub fn ratio(ratio: f64) -> Self {
        Self::new(Amount::Ratio(ratio))
    }

    /// As many samples as it takes to bring the covering radius down to `spacing`.
    pub fn spacing(spacing: f64) -> Self {
        Self::new(Amount::Spacing(spacing))
    }

    /// The whole cloud in farthest-first order: every prefix is a sample.
    pub fn whole() -> Self {
        Self::new(Amount::All)
    }

    /// Which algorithm; `Auto` unless told.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Where to start; point 0 unless told.
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// How many threads, for the copy of the cloud and for the run; those of the current rayon
    /// pool unless told. One never touches rayon; a number other than the pool's starts threads for
    /// this run, which takes about 0.1 ms. The result never depends on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Which instruction set; the best of this machine unless told. The result never
    /// depends on it.
    pub fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// What to do with NaN and infinity; an error unless told.
    pub fn bad_rows(mut self, bad_rows: BadRows) -> Self {
        self.bad_rows = bad_rows;
        self
    }

    /// Count the work done, for [`Sample::statistics`]. Costs a little time.
    pub fn statistics(mut self, statistics: bool) -> Self {
        self.statistics = statistics;
        self
    }

    /// Switches of the radius algorithm.
    pub fn radius(mut self, radius: RadiusOptions) -> Self {
        self.radius = radius;
        self
    }

    /// Switches of the quick algorithm.
    pub fn quick(mut self, quick: QuickOptions) -> Self {
        self.quick = quick;
        self
    }

    /// Samples one cloud.
    ///
    /// Errors on bad rows, on a start outside the cloud and on more samples than points.
    pub fn sample<T: Scalar, P: Points<T> + ?Sized>(&self, points: &P) -> Result<Sample<T>, Error> {
        self.sample_with(points, &mut |_| ControlFlow::Continue(()))
    }

    /// Samples one cloud, telling `observer` of progress; it can cancel the run.
    pub fn sample_with<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
        observer: Observer<'_>,
    ) -> Result<Sample<T>, Error> {
        super::run::sample(self, points, observer)
    }

    /// Samples many clouds, spread over the cores; clouds are independent of each other.
    ///
    /// The error names the first cloud at fault.
    pub fn sample_batch<T: Scalar, P: Points<T>>(
        &self,
        clouds: &[P],
    ) -> Result<Vec<Sample<T>>, Error> {
        super::batch::sample(self, clouds)
    }

    /// Samples a padded batch: `data` is a dense `(b, n, d)` array, of which only the first
    /// `lengths[i]` rows of cloud `i` count (all `n` when `lengths` is `None`).
    pub fn sample_padded<T: Scalar>(
        &self,
        data: &[T],
        shape: [usize; 3],
        lengths: Option<&[usize]>,
    ) -> Result<Vec<Sample<T>>, Error> {
        super::batch::sample(self, &crate::padded(data, shape, lengths)?)
    }

    /// Samples a ragged batch: cloud `i` is rows `offsets[i]..offsets[i + 1]` of the dense
    /// `(rows, d)` array `data`; indices count from the cloud's own first row.
    pub fn sample_ragged<T: Scalar>(
        &self,
        data: &[T],
        d: usize,
        offsets: &[usize],
    ) -> Result<Vec<Sample<T>>, Error> {
        super::batch::sample(self, &crate::ragged(data, d, offsets)?)
    }
}

/// A sample: indices in order of choice, and how far each was from those before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample<T> {
    /// Rows of the input, in order of choice, all different.
    pub indices: Vec<usize>,
    /// Squared selection distance of each: its distance to the nearest point chosen before
    /// it. Infinite for the start points, which were given.
    pub squared_distances: Vec<T>,
    /// Squared distance of the farthest point left; 0 when none is, infinite when nothing was
    /// chosen.
    pub squared_covering_radius: T,
    /// The algorithm that ran (never `Auto`).
    pub algorithm: Algorithm,
    /// Threads it could use: 1 for a small cloud, unless another number was asked for.
    pub threads: usize,
    /// Instruction set it used.
    pub level: Level,
    /// Rows left out because they hold NaN or infinity.
    pub dropped: usize,
    /// What was counted, if asked for.
    pub statistics: Option<Statistics>,
}

impl<T: Scalar> Sample<T> {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether nothing was chosen.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Selection distance of sample `k`, which is the covering radius of the `k` before it.
    pub fn distance(&self, k: usize) -> T {
        self.squared_distances[k].sqrt()
    }

    /// Largest distance of any point to its nearest sample.
    pub fn covering_radius(&self) -> T {
        self.squared_covering_radius.sqrt()
    }

    /// Covering radius of the first `k` samples alone.
    pub fn covering_radius_of(&self, k: usize) -> T {
        if k == self.len() { self.covering_radius() } else { self.distance(k) }
    }
}
