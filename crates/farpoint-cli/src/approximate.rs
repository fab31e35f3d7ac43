//! `farpoint sample` with an approximate sampler: the same files in and out, other options.

use crate::args::{self, Device, Estimator, Keep, NpduOrder, StartAt};
use crate::input::{self, each_precision};
use crate::interrupt::guarded;
use crate::output::note;
use crate::progress::Progress;
use crate::report::{self, Outcome, RanOn, Times};
use crate::sample;
use anyhow::{Result, anyhow, ensure};
use farpoint::approximate::{self, ApproximateSampler, Details, Method, Order, Wanted};
use farpoint::{BadRows, Matcher, Scalar, Start};
use farpoint_io::{Cloud, Column, Coordinates};
use serde_json::{Value, json};
use std::time::Instant;

/// Name of the column that says how many points a centroid stands for.
const POINTS: &str = "points";

/// Refuses options that only approximate samplers have.
pub(crate) fn check_unused(args: &args::Sample) -> Result<()> {
    let name = args.run.algorithm.name();
    match unfit(args, "") {
        Some((option, wanted)) => {
            Err(anyhow!("{option} is for --algorithm {wanted}, not {name}; leave it out"))
        }
        None => Ok(()),
    }
}

/// An option that is not for this algorithm, and the one it is for.
fn unfit(args: &args::Sample, name: &str) -> Option<(&'static str, &'static str)> {
    let given = &args.approximate;
    let options = [
        (args.cell.is_some(), "--cell", "grid"),
        (given.keep.is_some(), "--keep", "grid"),
        (given.bits.is_some(), "--bits", "morton"),
        (given.window.is_some(), "--window", "npdu"),
        (given.npdu_order.is_some(), "--npdu-order", "npdu"),
        (given.estimator.is_some(), "--estimator", "fastpoint"),
        (given.first_stage.is_some(), "--first-stage", "fastpoint"),
    ];
    let unfit = options.into_iter().find(|(given, _, wanted)| *given && *wanted != name);
    unfit.map(|(_, option, wanted)| (option, wanted))
}

/// What can be refused before the input is read.
pub(crate) fn check(args: &args::Sample) -> Result<()> {
    let (run, name) = (&args.run, args.run.algorithm.name());
    let exact_only = [
        (args.spacing.is_some(), "--spacing"),
        (run.device == Device::Cuda, "--device cuda"),
        (run.gpu.is_some(), "--gpu"),
        (run.simd.is_some(), "--simd"),
        (run.nvox.is_some(), "--nvox"),
        (run.height.is_some(), "--height"),
        (run.no_radius_pruning, "--no-radius-pruning"),
        (run.no_point_skip, "--no-point-skip"),
    ];
    if let Some((_, option)) = exact_only.into_iter().find(|(given, _)| *given) {
        return Err(anyhow!(
            "{option} is for exact algorithms, and --algorithm {name} is approximate; leave it out"
        ));
    }
    if let Some((option, wanted)) = unfit(args, name) {
        return Err(anyhow!("{option} is for --algorithm {wanted}, not {name}; leave it out"));
    }
    ensure!(
        run.start.is_none() || run.algorithm.approximate().is_some_and(|method| method.has_start()),
        "--start is for exact algorithms, npdu and fastpoint, and --algorithm {name} starts \
         nowhere; leave it out"
    );
    let keep = args.approximate.keep;
    let random_start = run.start == Some(StartAt::Random);
    ensure!(
        run.seed.is_none() || name == "random" || keep == Some(Keep::Random) || random_start,
        "--seed is for --algorithm random, --keep random and --start random; leave it out"
    );
    if let Some(cell) = args.cell {
        ensure!(cell > 0.0 && cell.is_finite(), "--cell {cell} is no finite number above 0");
    }
    if keep == Some(Keep::Centroid) {
        ensure!(
            args.indices.is_none(),
            "--keep centroid makes new points, which have no rows for --indices; leave it out"
        );
        ensure!(
            !args.input.f32,
            "--f32 moves the cloud, and --keep centroid would write it there; leave one out"
        );
    }
    Ok(())
}

/// The method with what it was told.
fn method(args: &args::Sample) -> Option<Method> {
    let given = &args.approximate;
    let seed = args.run.seed.unwrap_or(0);
    Some(match args.run.algorithm.approximate()? {
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
    })
}

/// Centroids are asked for in another way: for them this is not looked at.
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

/// The whole command; the options have been checked.
pub(crate) fn run(args: &args::Sample) -> Result<()> {
    let (cloud, read) = input::read(&args.input.input, args.input.columns)?;
    let points = input::prepare(&cloud, &args.input)?;
    let start = match args.run.start {
        Some(_) => Some(sample::start(&points, &args.run, &args.input)?),
        None => None,
    };
    let sampler = sampler(args, start).ok_or_else(|| anyhow!("no approximate sampler"))?;
    let name = input::name(&args.input.input);
    let progress = Progress::start(format!("sampling {name}"));
    let centroid = args.approximate.keep == Some(Keep::Centroid);
    let result = each_precision!(&points, points => match centroid {
        true => centroids(&sampler, points, threads(args), &progress),
        false => sample(&sampler, points, args, &progress),
    });
    drop(progress);
    let (outcome, made) = result.map_err(|error| anyhow!("{name}: {error}"))?;
    let start = Instant::now();
    if let Some(path) = &args.output {
        let all: Vec<usize> = (0..outcome.indices.len()).collect();
        match &made {
            Some(made) => {
                note(&format!("{name}: centroids keep no attributes but their positions"));
                sample::write(path, made, &all)?;
            }
            None => sample::write(path, &cloud, &outcome.indices)?,
        }
    }
    if let Some(path) = &args.indices {
        guarded(|| farpoint_io::write_indices(path, &outcome.indices))?;
    }
    let wrote = args.output.is_some() || args.indices.is_some();
    let write = wrote.then(|| start.elapsed().as_secs_f64());
    report::print(args, &outcome, points.len(), &Times { read, write })
}

fn sampler(args: &args::Sample, start: Option<Start>) -> Option<ApproximateSampler> {
    let wanted = match (args.count, args.ratio, args.cell) {
        (Some(count), _, _) => Wanted::Count(count),
        (_, Some(ratio), _) => Wanted::Ratio(ratio),
        (_, _, cell) => Wanted::Cell(cell.unwrap_or(f64::NAN)),
    };
    let sampler = ApproximateSampler::new(method(args)?, wanted);
    let sampler = sampler.threads(threads(args)).bad_rows(BadRows::Skip);
    Some(match start {
        Some(start) => sampler.start(start),
        None => sampler,
    })
}

fn threads(args: &args::Sample) -> usize {
    args.run.threads.map_or_else(rayon::current_num_threads, usize::from)
}

/// What was made, with the new cloud if it is one.
type Made = (Outcome, Option<Cloud>);

fn sample<T: Scalar>(
    sampler: &ApproximateSampler,
    points: &[[T; 3]],
    args: &args::Sample,
    progress: &Progress,
) -> Result<Made, farpoint::Error> {
    let start = Instant::now();
    let sample = sampler.sample_with(points, &mut |step| progress.step(step))?;
    let seconds = start.elapsed().as_secs_f64();
    let chosen: Vec<[T; 3]> = sample.indices.iter().map(|&row| points[row]).collect();
    let outcome = Outcome {
        covering_radius: radius(points, &chosen)?,
        indices: sample.indices,
        dropped: sample.dropped,
        details: told(&sample.details),
        statistics: args.stats.then(|| report::counts(&sample.statistics)),
        ..empty(sample.method.name(), threads(args), seconds)
    };
    Ok((outcome, None))
}

fn centroids<T: Scalar>(
    sampler: &ApproximateSampler,
    points: &[[T; 3]],
    threads: usize,
    progress: &Progress,
) -> Result<Made, farpoint::Error> {
    let start = Instant::now();
    let made = sampler.centroids_with(points, &mut |step| progress.step(step))?;
    let seconds = start.elapsed().as_secs_f64();
    let rows: Vec<[T; 3]> = made.coordinates.as_chunks().0.to_vec();
    let outcome = Outcome {
        covering_radius: radius(points, &rows)?,
        indices: (0..rows.len()).collect(),
        dropped: made.dropped,
        details: vec![("cell".into(), json!(made.cell))],
        ..empty("grid, centroids", threads, seconds)
    };
    let coordinates = match size_of::<T>() {
        4 => Coordinates::F32(rows.iter().map(|row| row.map(|x| x.to_f64() as f32)).collect()),
        _ => Coordinates::F64(rows.iter().map(|row| row.map(T::to_f64)).collect()),
    };
    let mut cloud = Cloud::new(coordinates);
    cloud.add_column(POINTS, Column::U32(made.counts));
    Ok((outcome, Some(cloud)))
}

/// An outcome of which the sample is still to be told.
fn empty(algorithm: &'static str, threads: usize, seconds: f64) -> Outcome {
    Outcome {
        indices: Vec::new(),
        distances: Vec::new(),
        covering_radius: f64::INFINITY,
        algorithm,
        ran_on: RanOn::Plain { threads },
        exact: false,
        dropped: 0,
        details: Vec::new(),
        statistics: None,
        seconds,
    }
}

/// Largest distance of a point to the sample; bad rows don't count.
fn radius<T: Scalar>(points: &[[T; 3]], sample: &[[T; 3]]) -> Result<f64, farpoint::Error> {
    if sample.is_empty() {
        return Ok(sample::covering(true, T::ZERO));
    }
    let nearest = Matcher::new().bad_rows(BadRows::Skip).nearest(points, sample)?;
    Ok(nearest.max_distance().to_f64())
}

/// What a method tells of its sample, under names that fit a table.
pub(crate) fn told(details: &Details) -> Vec<(String, Value)> {
    let all = match details {
        Details::Grid { cell, cells } => vec![("cell", json!(cell)), ("cells", json!(cells))],
        Details::Npdu { window } => vec![("window", json!(window))],
        Details::FastPoint(coverage) => vec![
            ("exact first samples", json!(coverage.prefix)),
            ("found by levels", json!(coverage.found)),
            ("spacing of levels", json!(coverage.spacing)),
            ("radii", json!(coverage.radii)),
        ],
        _ => Vec::new(),
    };
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
