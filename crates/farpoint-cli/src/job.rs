//! What `sample` and `order` ask of the library: one job, exact or approximate, made from the
//! options and run on the chosen device.

use crate::args::{Approximate, Estimator, Keep, Method, NpduOrder, Run, StartAt, Where};
use crate::device;
use crate::input::{Points, each_precision};
use crate::outcome::{Outcome, RanOn, figures, named};
use crate::progress::Progress;
use crate::selection::Selection;
use anyhow::{Result, bail};
use farpoint::approximate::{self, ApproximateSampler, Order};
use farpoint::{Amount, BadRows, Device, Points as _, Sampler, Scalar, Start, Subset};
use farpoint_cuda::Gpus;
use farpoint_files as files;
use serde_json::json;
use std::borrow::Cow;
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
    pub(crate) fn bytes(&self, points: &Points<'_>) -> u64 {
        let plain = match self {
            Self::Exact(job) => {
                matches!(job.algorithm.name(), "auto" | "naive" | "reference" | "persistent")
            }
            Self::Approximate(_) | Self::Centroids(_) => true,
        };
        let size = if matches!(points, Points::F32(_)) { 4 } else { 8 };
        points.len() as u64 * size * if plain { 4 } else { 8 }
    }

    /// Runs it where the options say.
    pub(crate) fn run(
        &self,
        points: &Points<'_>,
        selected: Option<&Selection>,
        place: &Where,
        statistics: bool,
        progress: &Progress,
    ) -> Result<Outcome> {
        Ok(match self {
            Self::Exact(job) => {
                let has = |kind| job.algorithm.check(kind);
                let most = job.amount.limit(points.len()).unwrap_or(0);
                let pays = || farpoint_cuda::fps::pays(points.len(), most);
                let place = device::choose(place, &has, pays)?;
                // Where it lies depends on how many points count, not on which.
                let rows = selected.map_or(points.len(), Selection::len);
                let placement = |gpus: &Gpus| each_precision!(points, points => gpus.placement(job, &points[..rows]));
                place.with_room(placement).run_on_all(
                    |cpu| each_precision!(points, points => exact(job, (points, selected), cpu, None, progress)),
                    |gpus| {
                        let name = Some(gpus.as_slice()[0].properties().name.as_str());
                        each_precision!(points, points => exact(job, (points, selected), gpus, name, progress))
                    },
                )?
            }
            Self::Approximate(job) => each_precision!(points, points => {
                let outcome = approximate(job, (points, selected), place, progress)?;
                let kept = outcome.statistics.filter(|_| statistics);
                Outcome { statistics: kept, ..outcome }
            }),
            Self::Centroids(job) => {
                each_precision!(points, points => centroids(job, (points, selected), place, progress)?)
            }
        })
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
pub(crate) fn start(points: &Points<'_>, run: &Run, drop_zeros: bool) -> Result<Option<Start>> {
    let Some(start) = &run.start else {
        if run.selection.given().is_some() {
            return Ok(None);
        }
        let exact = matches!(run.sampler.method, Method::Exact(_));
        return Ok(exact.then(|| Start::Index(points.first_usable().unwrap_or(0))));
    };
    if let (StartAt::Rows(rows), true) = (start, drop_zeros) {
        let usable = |row: usize| {
            each_precision!(points, points => points
                .get(row)
                .is_none_or(|row| row.iter().all(|value| Scalar::is_finite(*value))))
        };
        if let Some(row) = rows.iter().find(|row| !usable(**row)) {
            bail!("--start {row}: --drop-zeros leaves that row out, or it holds NaN or infinity");
        }
    }
    Ok(Some(start.with_seed(run.seed.unwrap_or(0))))
}

/// The rows that count, as a cloud of their own.
fn gathered<'a, T: Scalar>(
    points: &'a [[T; 3]],
    selected: Option<&Selection>,
) -> Result<Cow<'a, [[T; 3]]>, farpoint::Error> {
    let Some(selected) = selected else { return Ok(Cow::Borrowed(points)) };
    let selected = selected.of(points)?;
    let rows = selected.subset().map_or(&[][..], Subset::rows);
    Ok(rows.iter().map(|&row| points[row as usize]).collect())
}

/// By an exact algorithm on any device; `gpu` is the name of one.
fn exact<T: Scalar, D: Device<T>>(
    job: &Sampler,
    (points, selected): (&[[T; 3]], Option<&Selection>),
    device: &D,
    gpu: Option<&str>,
    progress: &Progress,
) -> Result<Outcome, D::Error> {
    let start = Instant::now();
    let mut told = |step| progress.step(step);
    let sample = match selected {
        None => job.on(device).sample_with(points, &mut told)?,
        Some(selected) => job.on(device).sample_with(&selected.of(points)?, &mut told)?,
    };
    Ok(Outcome::exact(sample, gpu, start.elapsed().as_secs_f64()))
}

fn approximate<T: Scalar>(
    job: &ApproximateSampler,
    (points, selected): (&[[T; 3]], Option<&Selection>),
    place: &Where,
    progress: &Progress,
) -> Result<Outcome, farpoint::Error> {
    let start = Instant::now();
    let cpu = device::cpu(place);
    let mut told = |step| progress.step(step);
    let sample = match selected {
        None => job.on(&cpu).sample_with(points, &mut told)?,
        Some(selected) => job.on(&cpu).sample_with(&selected.of(points)?, &mut told)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let chosen: Vec<[T; 3]> = sample.indices.iter().map(|&row| points[row]).collect();
    Ok(Outcome {
        covering_radius: files::covering_radius(&gathered(points, selected)?, &chosen)?,
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

fn centroids<T: Scalar>(
    job: &ApproximateSampler,
    (points, selected): (&[[T; 3]], Option<&Selection>),
    place: &Where,
    progress: &Progress,
) -> Result<Outcome, farpoint::Error> {
    let start = Instant::now();
    let cpu = device::cpu(place);
    let points = &*gathered(points, selected)?;
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
