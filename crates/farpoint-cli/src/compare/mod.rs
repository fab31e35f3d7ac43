//! `farpoint compare`: several samplers on one cloud, evaluated by the same measures, as a table,
//! as CSV and JSON, as a picture, and as a page.

mod job;
mod page;
mod write;

use crate::args::{self, Count, SamplerName};
use crate::check;
use crate::input::{self, each_precision};
use crate::output;
use crate::picture::{Panel, Panels, Unit, Up, panels};
use crate::progress::Progress;
use crate::report;
use crate::view;
use anyhow::{Result, anyhow, ensure};
use farpoint::Scalar;
use farpoint::measure::{Quality, quality, quality_of};
use farpoint_io::Cloud;
use job::{Chosen, SamplerInput, SamplerResult};
use std::path::Path;
use std::time::Instant;

/// Runs of a sampler, unless they take this many seconds.
const RUNS: usize = 3;
const SECONDS: f64 = 2.0;

/// A sampler's result with its quality.
pub(crate) struct Evaluation {
    /// Sampler as named on the command line.
    sampler: SamplerName,
    /// Title of the sampler that ran.
    title: String,
    exact: bool,
    seconds: f64,
    quality: Quality,
    /// Share of computed distances that changed nothing.
    ineffective: Option<f64>,
    /// Statistics that the sampler reports.
    details: Vec<(String, serde_json::Value)>,
    /// Rows of the samples; `None` if they are not points of the cloud.
    rows: Option<Vec<usize>>,
    /// Coordinates of the samples.
    sample: Vec<[f64; 3]>,
    /// Distance of each point to the sample, for the picture and the page.
    distances: Vec<f64>,
}

/// Parameters shared by all samplers.
struct Parameters {
    input: String,
    points: usize,
    samples: usize,
    threads: usize,
    seed: u64,
}

pub(crate) fn run(args: &args::Compare) -> Result<()> {
    check(args)?;
    let path = &args.input.input;
    let (cloud, _) = input::read(path, &args.input.reading.options()?)?;
    let points = input::prepare(&cloud, path, args.input.rows)?;
    each_precision!(&points, points => compare(points, &cloud, args))
}

/// Checks the options before the input is read.
fn check(args: &args::Compare) -> Result<()> {
    check::amount(args.amount())?;
    ensure!(
        args.count != Some(Count(0)),
        "--count 0 leaves nothing to compare; request at least 1"
    );
    let input = args.input.input.as_path();
    let stdout = Path::new("-");
    ensure!(
        args.picture() != Some(stdout) && args.csv.as_deref() != Some(stdout),
        "only --json can go to stdout; set --output and --csv to file names"
    );
    if let Some(path) = args.picture() {
        check::file("--output", path, &["png", "svg"])?;
    }
    if let Some(path) = &args.csv {
        check::file("--csv", path, &["csv"])?;
    }
    check::page_output(&args.page)?;
    ensure!(
        args.up.is_none() || args.picture().is_some() || args.page.view.is_some(),
        "--up is for the picture and the page; remove it, or leave out --no-picture"
    );
    let own = [
        ("--output", args.picture()),
        ("--view", args.page.view.as_deref()),
        ("--csv", args.csv.as_deref()),
    ];
    check::outputs(&args.report, &own, &[input], &[])
}

fn compare<T: Scalar>(all: &[[T; 3]], cloud: &Cloud, args: &args::Compare) -> Result<()> {
    let usable = |&row: &usize| all[row].iter().all(|value| Scalar::is_finite(*value));
    let rows: Vec<usize> = (0..all.len()).filter(usable).collect();
    let points: Vec<[T; 3]> = rows.iter().map(|&row| all[row]).collect();
    let parameters = parameters(points.len(), args)?;
    let evaluations = evaluate_all(&points, &parameters, args)?;
    let mut written = String::new();
    if let Some(path) = args.picture() {
        let progress = Progress::start("drawing", "");
        let picture =
            draw(&points, Unit::of(cloud), Up::of(args.up, cloud), &parameters, &evaluations)?;
        drop(progress);
        let svg = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
        let bytes = if svg { write::svg(&picture) } else { picture.png };
        output::write_file(path, &bytes)?;
        written += &format!("\npicture: {}\n", path.display());
    }
    if let Some(path) = &args.page.view {
        view::write(path, &page::page(args, &parameters, cloud, (&points, &rows), &evaluations)?)?;
        written += &format!("\npage: {}\n", path.display());
    }
    if let Some(path) = &args.csv {
        output::write_file(path, write::csv(&parameters, &evaluations).as_bytes())?;
    }
    let table = write::table(&parameters, &evaluations) + &written;
    report::print(&args.report, write::json(&parameters, &evaluations), &table, false)
}

fn evaluate_all<T: Scalar>(
    points: &[[T; 3]],
    parameters: &Parameters,
    args: &args::Compare,
) -> Result<Vec<Evaluation>> {
    let drawn = args.picture().is_some() || args.page.view.is_some();
    let Parameters { samples, seed, threads, .. } = *parameters;
    let input = SamplerInput { points, samples, seed, threads };
    let mut evaluations = Vec::with_capacity(args.algorithms.len());
    for sampler in &args.algorithms {
        let progress = Progress::start("sampling with", &sampler.to_string());
        let result = evaluate(&input, *sampler, drawn);
        drop(progress);
        evaluations
            .push(result.map_err(|error| anyhow!("{}: {sampler}: {error}", parameters.input))?);
    }
    Ok(evaluations)
}

fn parameters(points: usize, args: &args::Compare) -> Result<Parameters> {
    let input = input::name(&args.input.input);
    let samples = args.amount().limit(points);
    let samples = samples.map_err(|error| anyhow!("{input}: {error}"))?;
    ensure!(samples > 0, "{input}: no sample of {points} usable points is left to compare");
    let threads = args.threads.map_or_else(rayon::current_num_threads, usize::from);
    Ok(Parameters { input, points, samples, threads, seed: args.seed })
}

fn evaluate<T: Scalar>(
    input: &SamplerInput<'_, T>,
    sampler: SamplerName,
    drawn: bool,
) -> Result<Evaluation, farpoint::Error> {
    let mut seconds = Vec::with_capacity(RUNS);
    let result = loop {
        let start = Instant::now();
        let result = input.sample(sampler)?;
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() == RUNS || seconds.iter().sum::<f64>() > SECONDS {
            break result;
        }
    };
    seconds.sort_by(f64::total_cmp);
    let ineffective = input.ineffective(sampler)?;
    let SamplerResult { title, exact, chosen, details } = result;
    let (quality, sample, rows) = match chosen {
        Chosen::Rows(rows) => {
            let sample = rows.iter().map(|&row| input.points[row]).collect();
            (quality(input.points, &rows)?, sample, Some(rows))
        }
        Chosen::Places(places) => (quality_of(input.points, &places[..])?, places, None),
    };
    let distances = match drawn {
        true => {
            let nearest = farpoint::nearest(input.points, &sample[..])?;
            (0..nearest.len()).map(|row| nearest.distance(row).to_f64()).collect()
        }
        false => Vec::new(),
    };
    let sample = sample.iter().map(|place: &[T; 3]| place.map(T::to_f64)).collect();
    let seconds = seconds[seconds.len() / 2];
    Ok(Evaluation {
        sampler,
        title,
        exact,
        seconds,
        quality,
        ineffective,
        details,
        rows,
        sample,
        distances,
    })
}

fn draw<T: Scalar>(
    points: &[[T; 3]],
    unit: Unit,
    up: Option<Up>,
    parameters: &Parameters,
    evaluations: &[Evaluation],
) -> Result<crate::picture::Picture> {
    let points: Vec<[f64; 3]> = points.iter().map(|point| point.map(T::to_f64)).collect();
    // The exact sample stays in the darker half of the colors.
    let exact =
        evaluations.iter().filter(|evaluation| evaluation.exact).map(|j| j.quality.coverage.max);
    let best = evaluations.iter().map(|evaluation| evaluation.quality.coverage.max);
    let scale = exact.reduce(f64::max).or(best.reduce(f64::min)).unwrap_or(0.0);
    let name = Path::new(&parameters.input).file_name().unwrap_or_default().to_string_lossy();
    let counts = |samples, points| {
        format!("{} of {} points", output::count(samples as u64), output::count(points as u64))
    };
    panels(&Panels {
        points: &points,
        title: format!("{name}: {}", counts(parameters.samples, parameters.points)),
        requested: parameters.samples,
        scale: 2.0 * scale,
        unit,
        up,
        panels: evaluations
            .iter()
            .map(|evaluation| Panel {
                title: evaluation.title.clone(),
                exact: evaluation.exact,
                radius: evaluation.quality.coverage.max,
                mean: evaluation.quality.coverage.mean,
                samples: evaluation.quality.samples,
                sample: &evaluation.sample,
                distances: &evaluation.distances,
            })
            .collect(),
    })
}
