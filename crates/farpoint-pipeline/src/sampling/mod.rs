//! A sampler with all its options, exact or approximate, run on the chosen device: the one place where files are
//! sampled in memory.

mod cells;

pub use cells::Chosen;

use crate::merged::Joined;
use crate::{DeviceOptions, InputPoints, Method, each_chosen};
use cells::{centroids, voxels};
use farpoint::approximate::{ApproximateSampler, Details};
use farpoint::{
    Amount, Cpu, Device, Level, Matcher, Measured, NonFinite, Progress, Sample, Sampler, Scalar,
    Start, Statistics, VoxelGrid,
};
use farpoint_cuda::Gpus;
use farpoint_io::{Coordinates, Groups};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::time::Instant;

/// Progress callback; `Break` cancels.
pub type Observer<'a> = &'a (dyn Fn(Progress) -> ControlFlow<()> + Sync);

/// A sampler with all its options.
#[derive(Debug)]
pub enum Job {
    /// The farthest point sample.
    Exact(Sampler),
    /// Rows of the cloud by another method.
    Approximate(ApproximateSampler),
    /// Positions that are not points of the cloud, at most a number of them.
    Centroids(ApproximateSampler),
    /// Rows of the cloud, or positions, by cells of a size.
    Voxels(VoxelGrid),
}

impl Job {
    /// Returns the job of a method; exact ones start at the first row that is not bad unless `start` is set.
    pub fn new(method: Method, amount: Amount, start: Option<Start>) -> Self {
        let approximate =
            |method| ApproximateSampler::new(method, amount).non_finite(NonFinite::Skip);
        match method {
            Method::Exact(algorithm) => {
                let job = Sampler::new(amount).algorithm(algorithm).non_finite(NonFinite::Skip);
                Self::Exact(start.into_iter().fold(job, Sampler::start))
            }
            Method::Approximate(method) => Self::Approximate(approximate(method)),
            Method::Centroids(method) => Self::Centroids(approximate(method)),
        }
    }

    /// Returns what it chooses of points, on a CPU.
    ///
    /// # Errors
    /// Same as [`Sampler::sample`].
    pub fn choose<T: Scalar, P: farpoint::Points<T> + ?Sized>(
        &self,
        points: &P,
        cpu: &Cpu,
    ) -> Result<Chosen, farpoint::Error> {
        Ok(match self {
            Self::Exact(job) => Chosen::Rows(job.on(cpu).sample(points)?.indices),
            Self::Approximate(job) => Chosen::Rows(job.on(cpu).sample(points)?.indices),
            Self::Centroids(job) => {
                let made = job.on(cpu).centroids(points)?;
                Chosen::means(points, &made.coordinates, &made.counts, &made.inverse)
            }
            Self::Voxels(job) => Chosen::voxels(job, points, job.on(cpu).downsample(points)?),
        })
    }

    /// Runs the job. With `statistics`, counters are part of the outcome.
    ///
    /// # Errors
    /// Same as [`Sampler::sample`], as text; and if a GPU was requested and there is none.
    pub fn run(
        self,
        input: &InputPoints<'_>,
        place: &DeviceOptions,
        statistics: bool,
        observer: Observer<'_>,
    ) -> Result<Outcome, String> {
        let text = |error: farpoint::Error| error.to_string();
        let outcome = match self {
            Self::Exact(job) => run_exact(&job.statistics(statistics), input, place, observer)?,
            Self::Approximate(job) => {
                each_chosen!(input, all, some => approximate(&job, all, some, place, observer))
                    .map_err(text)?
            }
            Self::Centroids(job) => {
                each_chosen!(input, _all, some => centroids(&job, some, place, observer))
                    .map_err(text)?
            }
            Self::Voxels(job) => {
                each_chosen!(input, all, some => voxels(&job, all, some, place, observer))
                    .map_err(text)?
            }
        };
        Ok(Outcome { dropped: outcome.dropped + input.left_out(), ..outcome })
    }
}

/// Runs an exact algorithm on the device that is requested or pays.
fn run_exact(
    job: &Sampler,
    input: &InputPoints<'_>,
    place: &DeviceOptions,
    observer: Observer<'_>,
) -> Result<Outcome, String> {
    let has = |kind| job.algorithm.check(kind);
    let all = input.points.len() - input.left_out();
    let most = job.amount.limit(all).unwrap_or(0);
    let chosen = place.choose(&has, || farpoint_cuda::fps::is_worthwhile(all, most));
    let chosen = chosen.map_err(|error| error.to_string())?;
    let placement = |gpus: &Gpus| each_chosen!(input, _all, some => gpus.placement(job, some));
    chosen.with_room(placement).run_on_all(
        |cpu| each_chosen!(input, _all, some => exact(job, some, cpu, None, observer)),
        |gpus| {
            let name = Some(gpus.as_slice()[0].properties().name.as_str());
            each_chosen!(input, _all, some => exact(job, some, gpus, name, observer))
        },
    )
}

/// Runs an exact algorithm on any device; `gpu` is the name of one.
fn exact<T: Scalar, P: farpoint::Points<T> + ?Sized, D: Device<T>>(
    job: &Sampler,
    points: &P,
    device: &D,
    gpu: Option<&str>,
    observer: Observer<'_>,
) -> Result<Outcome, D::Error> {
    let start = Instant::now();
    let sample = job.on(device).observe(&mut |step| observer(step)).sample(points)?;
    Ok(Outcome::exact(sample, gpu, start.elapsed().as_secs_f64()))
}

fn approximate<T: Scalar, P: farpoint::Points<T> + ?Sized>(
    job: &ApproximateSampler,
    all: &[[T; 3]],
    points: &P,
    place: &DeviceOptions,
    observer: Observer<'_>,
) -> Result<Outcome, farpoint::Error> {
    let start = Instant::now();
    let sample = job.on(&place.as_cpu()).observe(&mut |step| observer(step)).sample(points)?;
    let seconds = start.elapsed().as_secs_f64();
    let chosen: Vec<[T; 3]> = sample.indices.iter().map(|&row| all[row]).collect();
    Ok(Outcome {
        covering_radius: covering_radius(points, &chosen)?,
        indices: sample.indices,
        distances: Vec::new(),
        algorithm: sample.method.name().to_owned(),
        ran_on: RanOn::Cpu { threads: place.thread_count(), level: None },
        exact: false,
        dropped: sample.dropped,
        means: None,
        details: named(&sample.details),
        statistics: None,
        seconds,
    })
}

/// Returns the largest distance of a point to the sample; non-finite rows don't count, and no sample covers nothing.
///
/// # Errors
/// Same as [`Matcher::nearest`].
pub fn covering_radius<T: Scalar, P: farpoint::Points<T> + ?Sized>(
    points: &P,
    sample: &[[T; 3]],
) -> Result<f64, farpoint::Error> {
    if sample.is_empty() {
        return Ok(f64::INFINITY);
    }
    let nearest = Matcher::new().non_finite(NonFinite::Skip).nearest(points, sample)?;
    Ok(nearest.max_distance().to_f64())
}

/// A sample of either precision, and facts about its computation.
#[derive(Debug)]
pub struct Outcome {
    /// Chosen rows, in the order of their choice.
    pub indices: Vec<usize>,
    /// Selection distances; none of approximate samplers.
    pub distances: Vec<f64>,
    /// Largest distance of a point to its nearest chosen one.
    pub covering_radius: f64,
    /// The algorithm that ran.
    pub algorithm: String,
    /// The device.
    pub ran_on: RanOn,
    /// True if this is the farthest point sample.
    pub exact: bool,
    /// Number of rows left out.
    pub dropped: usize,
    /// Groups of rows, and the positions that stand for them; `indices` are the numbers of the groups then.
    pub means: Option<(Groups, Coordinates)>,
    /// Properties of the sample that the sampler reports, under names that fit a table.
    pub details: Vec<(String, Value)>,
    /// Counters and timings, if requested, under names that fit a table.
    pub statistics: Option<Vec<(String, Figure)>>,
    /// Seconds of sampling.
    pub seconds: f64,
}

/// Result of a request.
#[derive(Debug)]
pub struct Finished {
    /// Name of the input for messages.
    pub name: String,
    /// Meters per unit of the coordinates, if the input states it.
    pub meters: Option<f64>,
    /// Number of rows that could be chosen.
    pub points: u64,
    /// Number of chosen rows.
    pub samples: u64,
    /// Duration of reading in seconds.
    pub read: f64,
    /// Duration of writing in seconds; `None` if nothing was written.
    pub write: Option<f64>,
    /// Report on several files that are one cloud.
    pub joined: Option<Joined>,
    /// Statistics of a cloud that went through the disk.
    pub disk: Option<Tiles>,
    /// The sample; through the disk, without its rows.
    pub outcome: Outcome,
}

/// Statistics of a cloud that went through the disk.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Bytes of memory allowed.
    pub memory: u64,
    /// Tiles that the cloud was cut into.
    pub tiles: usize,
    /// Bands in which it was sampled.
    pub bands: u64,
    /// Bytes of the spool.
    pub spooled: u64,
}

/// Device that did the work.
#[derive(Debug)]
pub enum RanOn {
    /// The CPU.
    Cpu {
        /// Number of threads.
        threads: usize,
        /// The instruction set; `None` if no vectors are used.
        level: Option<Level>,
    },
    /// A GPU.
    Gpu {
        /// Its name.
        name: String,
    },
}

/// A statistic.
#[derive(Debug)]
pub enum Figure {
    /// A number of steps or bytes.
    Count(u64),
    /// A time.
    Seconds(f64),
    /// A list, for JSON alone.
    List(Vec<u32>),
}

impl Outcome {
    /// Creates the outcome of rows that were not sampled.
    pub(crate) fn of_rows(indices: Vec<usize>) -> Self {
        Self {
            indices,
            distances: Vec::new(),
            covering_radius: 0.0,
            algorithm: String::new(),
            ran_on: RanOn::Cpu { threads: 0, level: None },
            exact: false,
            dropped: 0,
            means: None,
            details: Vec::new(),
            statistics: None,
            seconds: 0.0,
        }
    }

    /// Creates the outcome of an exact algorithm; `gpu` is the name of the GPU that ran it.
    fn exact<T: Scalar>(sample: Sample<T>, gpu: Option<&str>, seconds: f64) -> Self {
        let ran_on = match (sample.ran_on, gpu) {
            (farpoint::RanOn::Cpu { threads, level }, _) => {
                RanOn::Cpu { threads, level: Some(level) }
            }
            (_, gpu) => RanOn::Gpu { name: gpu.unwrap_or("GPU").to_owned() },
        };
        Self {
            distances: (0..sample.len()).map(|k| sample.distance(k).to_f64()).collect(),
            covering_radius: sample.covering_radius().to_f64(),
            indices: sample.indices,
            algorithm: sample.algorithm.name().to_owned(),
            ran_on,
            exact: true,
            dropped: sample.dropped,
            means: None,
            details: Vec::new(),
            statistics: sample.statistics.as_ref().map(figures),
            seconds,
        }
    }
}

/// Returns all numbers of a run, by name.
fn figures(statistics: &Statistics) -> Vec<(String, Figure)> {
    let figure = |(name, measured): (&str, Measured)| {
        let figure = match measured {
            Measured::Seconds(seconds) => Figure::Seconds(seconds),
            Measured::Count(count) | Measured::Bytes(count) => Figure::Count(count),
            _ => return None,
        };
        Some((name.to_owned(), figure))
    };
    let mut all: Vec<_> = statistics.named().into_iter().filter_map(figure).collect();
    if !statistics.effective_by_step.is_empty() {
        let steps = statistics.effective_by_step.clone();
        all.push(("effective by step".into(), Figure::List(steps)));
    }
    all
}

/// Returns the properties of a sample that a method reports, under names that fit a table.
pub fn named(details: &Details) -> Vec<(String, Value)> {
    let all = match details {
        Details::Grid { cell, cells } => vec![("cell", json!(cell)), ("cells", json!(cells))],
        _ => Vec::new(),
    };
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
