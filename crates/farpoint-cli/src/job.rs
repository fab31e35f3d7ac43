//! What `sample` and `order` ask of the library: one job, exact or approximate, made from the
//! options and run on the chosen device.

use crate::args::{Approximate, Estimator, Keep, Method, NpduOrder, Run, StartAt, Where};
use crate::device;
use crate::input::Points;
use crate::outcome::{Outcome, RanOn, figures, named};
use crate::progress::Progress;
use anyhow::{Result, bail};
use farpoint::approximate::{self, ApproximateSampler, Order};
use farpoint::{Amount, BadRows, Device, Sampler, Scalar, Start};
use farpoint_cuda::Gpus;
use farpoint_files::{self as files, Chosen, each_chosen};
use serde_json::json;
use std::time::Instant;

/// A sampler with everything that was requested of it.
pub(crate) enum Job {
    Exact(Sampler),
    Approximate(ApproximateSampler),
    /// Positions that are not points of the cloud.
    Centroids(ApproximateSampler),
}

impl Job {
    /// The job of these options; `start` is where the options start.
    pub(crate) fn new(
        run: &Run,
        given: Option<&Approximate>,
        amount: Amount,
        start: Option<Start>,
        statistics: bool,
    ) -> Self {
        let approximate = |method, start: Option<Start>| {
            let job = ApproximateSampler::new(method, amount).bad_rows(BadRows::Skip);
            start.into_iter().fold(job, ApproximateSampler::start)
        };
        match method(run, given) {
            files::Method::Exact(algorithm) => {
                let job = Sampler::new(amount).algorithm(algorithm).bad_rows(BadRows::Skip);
                let job = job.statistics(statistics);
                Self::Exact(start.into_iter().fold(job, Sampler::start))
            }
            files::Method::Approximate(method) => Self::Approximate(approximate(method, start)),
            files::Method::Centroids(method) => Self::Centroids(approximate(method, start)),
        }
    }

    /// Bytes that it takes on the CPU at least, besides the cloud: a copy of the coordinates with
    /// distances, and as much again for most algorithms, which order the copy. Measured: 37 to 53
    /// bytes for each point in single precision, 82 for fastpoint.
    pub(crate) fn bytes(&self, points: &Chosen<'_>) -> u64 {
        let points = &points.points;
        let plain = match self {
            Self::Exact(job) => {
                matches!(job.algorithm.name(), "auto" | "naive" | "reference" | "persistent")
            }
            Self::Approximate(_) | Self::Centroids(_) => true,
        };
        let size = if matches!(points, Points::F32(_)) { 4 } else { 8 };
        points.len() as u64 * size * if plain { 4 } else { 8 }
    }

    /// The rows that it chooses of points, on this CPU.
    #[cfg(feature = "bags")]
    pub(crate) fn rows<T: Scalar, P: farpoint::Points<T> + ?Sized>(
        &self,
        points: &P,
        cpu: &farpoint::Cpu,
    ) -> Result<Vec<usize>, farpoint::Error> {
        Ok(match self {
            Self::Exact(job) => job.on(cpu).sample(points)?.indices,
            Self::Approximate(job) | Self::Centroids(job) => job.on(cpu).sample(points)?.indices,
        })
    }

    /// Runs it where the options say.
    pub(crate) fn run(
        &self,
        input: &Chosen<'_>,
        place: &Where,
        statistics: bool,
        progress: &Progress,
    ) -> Result<Outcome> {
        let outcome = match self {
            Self::Exact(job) => {
                let has = |kind| job.algorithm.check(kind);
                let all = input.points.len() - input.left_out();
                let most = job.amount.limit(all).unwrap_or(0);
                let pays = || farpoint_cuda::fps::pays(all, most);
                let place = device::choose(place, &has, pays)?;
                let placement =
                    |gpus: &Gpus| each_chosen!(input, _all, some => gpus.placement(job, some));
                place.with_room(placement).run_on_all(
                    |cpu| each_chosen!(input, _all, some => exact(job, some, cpu, None, progress)),
                    |gpus| {
                        let name = Some(gpus.as_slice()[0].properties().name.as_str());
                        each_chosen!(input, _all, some => exact(job, some, gpus, name, progress))
                    },
                )?
            }
            Self::Approximate(job) => {
                let outcome =
                    each_chosen!(input, all, some => approximate(job, all, some, place, progress))?;
                let kept = outcome.statistics.filter(|_| statistics);
                Outcome { statistics: kept, ..outcome }
            }
            Self::Centroids(job) => {
                each_chosen!(input, _all, some => centroids(job, some, place, progress))?
            }
        };
        Ok(Outcome { dropped: outcome.dropped + input.left_out(), ..outcome })
    }
}

/// The sampler that the options ask for.
pub(crate) fn method(run: &Run, given: Option<&Approximate>) -> files::Method {
    let method = match run.sampler.method {
        Method::Exact(algorithm) => return files::Method::Exact(algorithm),
        Method::Approximate(method) => given.map_or(method, |given| with(method, given, run)),
    };
    match given.and_then(|given| given.keep) {
        Some(Keep::Centroid) => files::Method::Centroids(method),
        _ => files::Method::Approximate(method),
    }
}

/// A method with the options that were given.
fn with(method: approximate::Method, given: &Approximate, run: &Run) -> approximate::Method {
    use approximate::Method;
    let seed = run.seed.unwrap_or(0);
    match method {
        Method::Random { .. } => Method::Random { seed },
        Method::Grid { .. } => Method::Grid { keep: keep(given.keep, seed) },
        Method::Morton { bits } => Method::Morton { bits: given.bits.unwrap_or(bits) },
        Method::Npdu { .. } => Method::Npdu {
            window: given.window.map(|window| window as usize),
            order: given.npdu_order.map_or(Order::Input, order),
        },
        Method::FastPoint { first, .. } => Method::FastPoint {
            first: given.first_stage.unwrap_or(first),
            estimator: match given.estimator {
                Some(Estimator::Fit) => approximate::Estimator::Fit,
                _ => approximate::Estimator::Network,
            },
        },
        other => other,
    }
}

/// Centroids have a job of their own, which does not use this.
fn keep(keep: Option<Keep>, seed: u64) -> approximate::Keep {
    match keep {
        Some(Keep::First) => approximate::Keep::First,
        Some(Keep::Random) => approximate::Keep::Random(seed),
        Some(Keep::Center | Keep::Centroid) | None => approximate::Keep::Center,
    }
}

fn order(order: NpduOrder) -> Order {
    match order {
        NpduOrder::Input => Order::Input,
        NpduOrder::Morton => Order::Morton,
        NpduOrder::Neighbors => Order::Neighbors,
    }
}

/// The start that was requested, or for exact algorithms the first row that can be used.
pub(crate) fn start(input: &Chosen<'_>, run: &Run, drop_zeros: bool) -> Result<Option<Start>> {
    let Some(start) = &run.start else {
        let exact = matches!(run.sampler.method, Method::Exact(_));
        return Ok(exact.then(|| input.first_usable().map_or(Start::First, Start::Index)));
    };
    if let (StartAt::Rows(rows), true) = (start, drop_zeros || input.used.is_some())
        && let Some(row) = rows.iter().find(|row| input.is_usable(**row) == Some(false))
    {
        let what = match run.selection.given() {
            Some(option) => format!("{option} does not name that row"),
            None if drop_zeros => "--drop-zeros leaves that row out".to_owned(),
            None => "the filters leave that row out".to_owned(),
        };
        bail!("--start {row}: {what}, or it holds NaN or infinity");
    }
    Ok(Some(start.with_seed(run.seed.unwrap_or(0))))
}

/// By an exact algorithm on any device; `gpu` is the name of one.
fn exact<T: Scalar, P: farpoint::Points<T> + ?Sized, D: Device<T>>(
    job: &Sampler,
    points: &P,
    device: &D,
    gpu: Option<&str>,
    progress: &Progress,
) -> Result<Outcome, D::Error> {
    let start = Instant::now();
    let sample = job.on(device).sample_with(points, &mut |step| progress.step(step))?;
    Ok(Outcome::exact(sample, gpu, start.elapsed().as_secs_f64()))
}

fn approximate<T: Scalar, P: farpoint::Points<T> + ?Sized>(
    job: &ApproximateSampler,
    all: &[[T; 3]],
    points: &P,
    place: &Where,
    progress: &Progress,
) -> Result<Outcome, farpoint::Error> {
    let start = Instant::now();
    let cpu = device::cpu(place);
    let sample = job.on(&cpu).sample_with(points, &mut |step| progress.step(step))?;
    let seconds = start.elapsed().as_secs_f64();
    let chosen: Vec<[T; 3]> = sample.indices.iter().map(|&row| all[row]).collect();
    Ok(Outcome {
        covering_radius: files::covering_radius(points, &chosen)?,
        indices: sample.indices,
        distances: Vec::new(),
        algorithm: sample.method.name().to_owned(),
        ran_on: RanOn::Cpu { threads: device::threads(place), level: None },
        exact: false,
        dropped: sample.dropped,
        made: None,
        details: named(&sample.details),
        statistics: Some(figures(&sample.statistics)),
        seconds,
    })
}

fn centroids<T: Scalar, P: farpoint::Points<T> + ?Sized>(
    job: &ApproximateSampler,
    points: &P,
    place: &Where,
    progress: &Progress,
) -> Result<Outcome, farpoint::Error> {
    let start = Instant::now();
    let cpu = device::cpu(place);
    let made = job.on(&cpu).centroids_with(points, &mut |step| progress.step(step))?;
    let seconds = start.elapsed().as_secs_f64();
    let rows: Vec<[T; 3]> = made.coordinates.as_chunks().0.to_vec();
    let covering_radius = files::covering_radius(points, &rows)?;
    let cloud = files::centroid_cloud(&rows, made.counts);
    Ok(Outcome {
        indices: (0..rows.len()).collect(),
        distances: Vec::new(),
        covering_radius,
        algorithm: "grid, centroids".into(),
        ran_on: RanOn::Cpu { threads: device::threads(place), level: None },
        exact: false,
        dropped: made.dropped,
        made: Some(cloud),
        details: vec![("cell".into(), json!(made.cell))],
        statistics: None,
        seconds,
    })
}
