//! The interface of sampling on a GPU: what to ask for, and what comes back.

use super::algorithm::Choice;
use super::batch::Shape;
use super::{Algorithm, DeviceBatch, PeakOptions, pointers, run};
use crate::{CudaScalar, Error, Gpu, Statistics, Stream};
use farpoint::{Amount, BadRows, Points, Scalar, Start};

/// Switches of [`Algorithm::Radius`]; every combination gives the same indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RadiusOptions {
    /// Voxels along the longest axis (the paper's `n_vox`), chosen by farpoint when `None`.
    pub nvox: Option<u32>,
    /// One kernel finds the farthest point, instead of one a step (the paper's algorithm 3).
    pub fuse_selection: bool,
    /// One kernel prunes and updates voxels, instead of one a step (algorithm 4).
    pub fuse_update: bool,
}

impl Default for RadiusOptions {
    fn default() -> Self {
        Self { nvox: None, fuse_selection: true, fuse_update: true }
    }
}

/// A farthest point sampling job for a GPU: how many, from where, by which means. It asks and
/// answers as [`farpoint::Sampler`] does, index for index.
///
/// ```
/// use farpoint_cuda::{Gpu, Sampler};
///
/// let cloud: Vec<[f32; 3]> = (0..1000).map(|i| [i as f32, (i * i % 97) as f32, 0.0]).collect();
/// match Gpu::new(0) {
///     Ok(device) => {
///         let sample = Sampler::count(100).sample(&device, &cloud)?;
///         assert_eq!(sample.indices, farpoint::Sampler::count(100).sample(&cloud)?.indices);
///     }
///     Err(error) => println!("skipped: {error}"),
/// }
/// # Ok::<(), farpoint_cuda::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sampler {
    pub(super) amount: Amount,
    pub(super) algorithm: Algorithm,
    pub(super) start: Start,
    pub(super) bad_rows: BadRows,
    pub(super) statistics: bool,
    pub(super) radius: RadiusOptions,
    pub(super) peak: PeakOptions,
}

impl Sampler {
    /// Asks for an amount; the named constructors read better.
    pub fn new(amount: Amount) -> Self {
        Self {
            amount,
            algorithm: Algorithm::Auto,
            start: Start::Index(0),
            bad_rows: BadRows::Error,
            statistics: false,
            radius: RadiusOptions::default(),
            peak: PeakOptions::default(),
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
    pub fn algorithm(self, algorithm: Algorithm) -> Self {
        Self { algorithm, ..self }
    }

    /// Where to start; point 0 unless told.
    pub fn start(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// What to do with NaN and infinity; an error unless told.
    pub fn bad_rows(self, bad_rows: BadRows) -> Self {
        Self { bad_rows, ..self }
    }

    /// Measure time and memory, for [`Sample::statistics`].
    pub fn statistics(self, statistics: bool) -> Self {
        Self { statistics, ..self }
    }

    /// Switches of the radius algorithm.
    pub fn radius(self, radius: RadiusOptions) -> Self {
        Self { radius, ..self }
    }

    /// Switches of the peak algorithm.
    pub fn peak(self, peak: PeakOptions) -> Self {
        Self { peak, ..self }
    }

    /// Samples one cloud in host memory.
    ///
    /// Errors on bad rows, on a start outside the cloud and on more samples than points, as on
    /// the CPU; and if the device has not enough memory, or fails.
    pub fn sample<T: CudaScalar, P: Points<T> + ?Sized>(
        &self,
        device: &Gpu,
        points: &P,
    ) -> Result<Sample<T>, Error> {
        run::one(self, device, points)
    }

    /// Samples many clouds in host memory by one launch; clouds are independent of each other.
    ///
    /// The error names the first cloud at fault.
    pub fn sample_batch<T: CudaScalar, P: Points<T>>(
        &self,
        device: &Gpu,
        clouds: &[P],
    ) -> Result<Vec<Sample<T>>, Error> {
        run::many(self, std::slice::from_ref(device), clouds)
    }

    /// Samples a padded batch: `data` is a dense `(b, n, d)` array, of which only the first
    /// `lengths[i]` rows of cloud `i` count (all `n` when `lengths` is `None`).
    pub fn sample_padded<T: CudaScalar>(
        &self,
        device: &Gpu,
        data: &[T],
        shape: [usize; 3],
        lengths: Option<&[usize]>,
    ) -> Result<Vec<Sample<T>>, Error> {
        self.sample_batch(device, &farpoint::padded(data, shape, lengths)?)
    }

    /// Samples a ragged batch: cloud `i` is rows `offsets[i]..offsets[i + 1]` of the dense
    /// `(rows, d)` array `data`; indices count from the cloud's own first row.
    pub fn sample_ragged<T: CudaScalar>(
        &self,
        device: &Gpu,
        data: &[T],
        d: usize,
        offsets: &[usize],
    ) -> Result<Vec<Sample<T>>, Error> {
        self.sample_batch(device, &farpoint::ragged(data, d, offsets)?)
    }

    /// Samples many clouds spread over several devices, which work at the same time. Which
    /// device had a cloud makes no difference to its sample.
    pub fn sample_across<T: CudaScalar, P: Points<T>>(
        &self,
        devices: &[Gpu],
        clouds: &[P],
    ) -> Result<Vec<Sample<T>>, Error> {
        run::many(self, devices, clouds)
    }

    /// Queues the sampling of clouds that lie in device memory; see [`DeviceBatch`].
    ///
    /// # Safety
    /// See [`DeviceBatch`].
    pub unsafe fn enqueue<T: CudaScalar>(
        &self,
        device: &Gpu,
        stream: &Stream,
        batch: &DeviceBatch<T>,
    ) -> Result<(), Error> {
        // SAFETY: memory, lengths and starts are as `DeviceBatch` asks, by this function's contract,
        // which is that of the one called.
        unsafe { pointers::enqueue(self, device, stream, batch) }
    }

    /// Bytes of device memory that [`enqueue`](Self::enqueue) uses besides input and answer, for
    /// this many clouds of at most `rows` rows of `dims` coordinates and `wanted` samples each.
    pub fn scratch_bytes<T: CudaScalar>(
        &self,
        device: &Gpu,
        clouds: usize,
        rows: usize,
        dims: usize,
        wanted: usize,
    ) -> usize {
        self.choice().scratch_bytes::<T>(device, Shape { clouds, rows, dims, wanted })
    }

    pub(super) fn choice(&self) -> Choice {
        Choice { algorithm: self.algorithm, radius: self.radius, peak: self.peak }
    }

    /// The job as the CPU library knows it, which checks the rest.
    pub(super) fn on_host(&self) -> Result<farpoint::Sampler, Error> {
        self.check()?;
        let sampler = farpoint::Sampler::new(self.amount);
        Ok(sampler.start(self.start.clone()).bad_rows(self.bad_rows))
    }

    /// Checks the switches.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.radius.nvox.filter(|nvox| !(1..=1024).contains(nvox)) {
            Some(nvox) => Err(farpoint::Error::BadVoxels(nvox).into()),
            None => Ok(()),
        }
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
    /// Rows left out because they hold NaN or infinity.
    pub dropped: usize,
    /// What was measured, if asked for.
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
