//! `farpoint compare`: several samplers on one cloud, evaluated by the same measures, as a table,
//! as CSV and JSON, as a picture, and as a page.

mod job;
mod page;
mod write;

use crate::args::{self, Count, Which};
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
use job::{Chosen, Question, Taken};
use std::path::Path;
use std::time::Instant;

/// Runs of a sampler, unless they take this many seconds.
const RUNS: usize = 3;
const SECONDS: f64 = 2.0;

/// A sampler's result with its quality.
pub(crate) struct Judged {
    /// Sampler as named on the command line.
    which: Which,
    /// Title of the sampler that ran.
    title: String,
    exact: bool,
    seconds: f64,
    quality: Quality,
    /// Share of computed distances that changed nothing.
    in_vain: Option<f64>,
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
struct Asked {
    input: String,
    points: usize,
    samples: usize,
    threads: usize,
    seed: u64,
}

pub(crate) fn run(args: &args::Compare) -> Result<()> {
    check(args)?;
    let path = &args.input.input;
    let (cloud, _) = input::read(path, &args.input.reading.options())?;
    let points = input::prepare(&cloud, path, args.input.rows)?;
    each_precision!(&points, points => compare(points, &cloud, args))
}

/// Checks the options before the input is read.
fn check(args: &args::Compare) -> Result<()> {
    check::amount(args.amount())?;
    ensure!(
        args.count != Some(Count(0)),
        "--count 0 leaves nothing to compare; ask for at least 1"
    );
    let input = args.input.input.as_path();
    let stdout = Path::new("-");
    ensure!(
        args.picture() != Some(stdout) && args.csv.as_deref() != Some(stdout),
        "only --json can go to stdout; give --output and --csv names"
    );
    if let Some(path) = args.picture() {
        check::file("--output", path, &["png", "svg"], &[input])?;
    }
    if let Some(path) = &args.csv {
        check::file("--csv", path, &["csv"], &[input])?;
    }
    check::shown(&args.shown, &[input])?;
    ensure!(
        args.up.is_none() || args.picture().is_some() || args.shown.view.is_some(),
        "--up is about the picture and the page; leave it out, or leave out --no-picture"
    );
    check::report(&args.report, &[input])
}

fn compare<T: Scalar>(all: &[[T; 3]], cloud: &Cloud, args: &args::Compare) -> Result<()> {
    let usable = |&row: &usize| all[row].iter().all(|value| Scalar::is_finite(*value));
    let rows: Vec<usize> = (0..all.len()).filter(usable).collect();
    let points: Vec<[T; 3]> = rows.iter().map(|&row| all[row]).collect();
    let asked = asked(points.len(), args)?;
    let judged = judged(&points, &asked, args)?;
    let mut written = String::new();
    if let Some(path) = args.picture() {
        let progress = Progress::start("drawing", "");
        let picture = draw(&points, Unit::of(cloud), args.up, &asked, &judged)?;
        drop(progress);
        let svg = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
        let bytes = if svg { write::svg(&picture) } else { picture.png };
        output::write_file(path, &bytes)?;
        written += &format!("\npicture: {}\n", path.display());
    }
    if let Some(path) = &args.shown.view {
        view::write(path, &page::page(args, &asked, cloud, (&points, &rows), &judged)?)?;
        written += &format!("\npage: {}\n", path.display());
    }
    if let Some(path) = &args.csv {
        output::write_file(path, write::csv(&asked, &judged).as_bytes())?;
    }
    let table = write::table(&asked, &judged) + &written;
    report::print(&args.report, write::json(&asked, &judged), &table, false)
}

fn judged<T: Scalar>(
    points: &[[T; 3]],
    asked: &Asked,
    args: &args::Compare,
) -> Result<Vec<Judged>> {
    let drawn = args.picture().is_some() || args.shown.view.is_some();
    let Asked { samples, seed, threads, .. } = *asked;
    let question = Question { points, samples, seed, threads };
    let mut judged = Vec::with_capacity(args.algorithms.len());
    for which in &args.algorithms {
        let progress = Progress::start("sampling with", &which.to_string());
        let result = judge(&question, *which, drawn);
        drop(progress);
        judged.push(result.map_err(|error| anyhow!("{}: {which}: {error}", asked.input))?);
    }
    Ok(judged)
}

fn asked(points: usize, args: &args::Compare) -> Result<Asked> {
    let input = input::name(&args.input.input);
    let samples = args.amount().limit(points);
    let samples = samples.map_err(|error| anyhow!("{input}: {error}"))?;
    ensure!(samples > 0, "{input}: no sample of {points} usable points is left to compare");
    let threads = args.threads.map_or_else(rayon::current_num_threads, usize::from);
    Ok(Asked { input, points, samples, threads, seed: args.seed })
}

fn judge<T: Scalar>(
    question: &Question<'_, T>,
    which: Which,
    drawn: bool,
) -> Result<Judged, farpoint::Error> {
    let mut seconds = Vec::with_capacity(RUNS);
    let taken = loop {
        let start = Instant::now();
        let taken = question.take(which)?;
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() == RUNS || seconds.iter().sum::<f64>() > SECONDS {
            break taken;
        }
    };
    seconds.sort_by(f64::total_cmp);
    let in_vain = question.in_vain(which, &taken)?;
    let Taken { title, exact, chosen, details, .. } = taken;
    let (quality, sample, rows) = match chosen {
        Chosen::Rows(rows) => {
            let sample = rows.iter().map(|&row| question.points[row]).collect();
            (quality(question.points, &rows)?, sample, Some(rows))
        }
        Chosen::Places(places) => (quality_of(question.points, &places[..])?, places, None),
    };
    let distances = match drawn {
        true => {
            let nearest = farpoint::nearest(question.points, &sample[..])?;
            (0..nearest.len()).map(|row| nearest.distance(row).to_f64()).collect()
        }
        false => Vec::new(),
    };
    let sample = sample.iter().map(|place: &[T; 3]| place.map(T::to_f64)).collect();
    let seconds = seconds[seconds.len() / 2];
    Ok(Judged { which, title, exact, seconds, quality, in_vain, details, rows, sample, distances })
}

fn draw<T: Scalar>(
    points: &[[T; 3]],
    unit: Unit,
    up: Option<Up>,
    asked: &Asked,
    judged: &[Judged],
) -> Result<crate::picture::Picture> {
    let points: Vec<[f64; 3]> = points.iter().map(|point| point.map(T::to_f64)).collect();
    // The exact sample stays in the darker half of the colors.
    let exact = judged.iter().filter(|judged| judged.exact).map(|j| j.quality.coverage.max);
    let best = judged.iter().map(|judged| judged.quality.coverage.max);
    let scale = exact.reduce(f64::max).or(best.reduce(f64::min)).unwrap_or(0.0);
    let name = Path::new(&asked.input).file_name().unwrap_or_default().to_string_lossy();
    let of = |samples, points| {
        format!("{} of {} points", output::count(samples as u64), output::count(points as u64))
    };
    panels(&Panels {
        points: &points,
        title: format!("{name}: {}", of(asked.samples, asked.points)),
        asked: asked.samples,
        scale: 2.0 * scale,
        unit,
        up,
        panels: judged
            .iter()
            .map(|judged| Panel {
                title: judged.title.clone(),
                exact: judged.exact,
                radius: judged.quality.coverage.max,
                mean: judged.quality.coverage.mean,
                samples: judged.quality.samples,
                sample: &judged.sample,
                distances: &judged.distances,
            })
            .collect(),
    })
}
