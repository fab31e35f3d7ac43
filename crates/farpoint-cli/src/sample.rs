//! `farpoint sample`: check everything, read, sample, write, report.

use crate::args::{self, Device, Run, StartAt};
use crate::input::{self, Points, each_precision};
use crate::interrupt::guarded;
use crate::output::{self, count, number, seconds};
use crate::progress::Progress;
use anyhow::{Result, bail, ensure};
use farpoint::{
    Algorithm, Amount, BadRows, Level, RadiusOptions, Sampler, Scalar, Start, Statistics,
};
use farpoint_io::{Cloud, WriteOptions};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &args::Sample) -> Result<()> {
    check(args)?;
    let (cloud, read_seconds) = input::read(&args.input.input, args.input.columns)?;
    let points = input::prepare(&cloud, &args.input)?;
    let outcome = sample(&points, args.amount(), &args.run, &args.input, args.stats)?;
    let start = Instant::now();
    if let Some(path) = &args.output {
        write(path, &cloud, &outcome.indices)?;
    }
    if let Some(path) = &args.indices {
        guarded(|| farpoint_io::write_indices(path, &outcome.indices))?;
    }
    let wrote = args.output.is_some() || args.indices.is_some();
    let write = wrote.then(|| start.elapsed().as_secs_f64());
    let times = Times { read: read_seconds, write };
    report(args, &outcome, points.len(), &times)
}

/// Seconds outside the sampler.
pub(crate) struct Times {
    pub(crate) read: f64,
    /// `None` if nothing was written.
    pub(crate) write: Option<f64>,
}

/// A [`farpoint::Sample`] of either precision.
pub(crate) struct Outcome {
    pub(crate) indices: Vec<usize>,
    /// Selection distances.
    pub(crate) distances: Vec<f64>,
    pub(crate) covering_radius: f64,
    pub(crate) algorithm: Algorithm,
    pub(crate) threads: usize,
    pub(crate) level: Level,
    pub(crate) dropped: usize,
    pub(crate) statistics: Option<Statistics>,
    pub(crate) seconds: f64,
}

/// What can be refused before the input is read.
fn check(args: &args::Sample) -> Result<()> {
    check_run(&args.run)?;
    if let Some(ratio) = args.ratio {
        ensure!((0.0..=1.0).contains(&ratio), "--ratio {ratio} is outside 0 to 1");
    }
    if let Some(spacing) = args.spacing {
        ensure!(
            spacing >= 0.0 && spacing.is_finite(),
            "--spacing {spacing} is no finite number of at least 0"
        );
    }
    let stdout = Path::new("-");
    let taken = [args.output.as_deref() == Some(stdout), args.indices.as_deref() == Some(stdout)];
    ensure!(
        usize::from(args.json) + taken.iter().filter(|taken| **taken).count() <= 1,
        "only one of --output, --indices and --json can go to stdout; write the others to files"
    );
    if let Some(path) = &args.output {
        check_output(path, &args.input.input)?;
    }
    if let Some(path) = &args.indices {
        check_indices(path, args)?;
    }
    Ok(())
}

/// Options that contradict each other, and those that this build has no use for.
pub(crate) fn check_run(run: &Run) -> Result<()> {
    ensure!(
        run.device != Device::Cuda,
        "--device cuda: this build of farpoint has no GPU support yet; use --device cpu or leave \
         it out"
    );
    ensure!(
        run.seed.is_none() || run.start == Some(StartAt::Random),
        "--seed is for a random start; add --start random, or leave it out"
    );
    let tuned = run.nvox.is_some() || run.no_radius_pruning || run.no_point_skip;
    ensure!(
        !tuned || run.algorithm == Algorithm::Radius,
        "--nvox, --no-radius-pruning and --no-point-skip are for --algorithm radius; add it, or \
         leave them out"
    );
    Ok(())
}

/// Whether the output can be written, and is not the input.
pub(crate) fn check_output(path: &Path, input: &Path) -> Result<()> {
    farpoint_io::check_output(path, &[input], &WriteOptions::default())?;
    Ok(())
}

fn check_indices(path: &Path, args: &args::Sample) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let name = path.display();
    let npy = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    ensure!(npy, "--indices {name}: indices are written as .npy; give a name that ends so");
    ensure!(
        args.output.as_deref() != Some(path),
        "--indices {name}: --output names the same file; give two names"
    );
    check_output(path, &args.input.input)
}

/// Samples with a progress bar.
pub(crate) fn sample(
    points: &Points<'_>,
    amount: Amount,
    run: &Run,
    input: &args::Input,
    statistics: bool,
) -> Result<Outcome> {
    let name = input::name(&input.input);
    let start = start(points, run, input)?;
    let mut sampler = Sampler::new(amount)
        .algorithm(run.algorithm)
        .start(start)
        .bad_rows(BadRows::Skip)
        .statistics(statistics)
        .radius(RadiusOptions {
            nvox: run.nvox,
            radius_pruning: !run.no_radius_pruning,
            point_skip: !run.no_point_skip,
        });
    if let Some(threads) = run.threads {
        sampler = sampler.threads(usize::from(threads));
    }
    if let Some(level) = run.simd {
        sampler = sampler.level(level);
    }
    let progress = Progress::start(format!("sampling {name}"));
    let outcome = each_precision!(points, points => outcome(&sampler, points, &progress));
    outcome.map_err(|error| anyhow::anyhow!("{name}: {error}"))
}

fn outcome<T: Scalar>(
    sampler: &Sampler,
    points: &[[T; 3]],
    progress: &Progress,
) -> Result<Outcome, farpoint::Error> {
    let start = Instant::now();
    let sample = sampler.sample_with(points, &mut |step| progress.step(step))?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Outcome {
        distances: (0..sample.len()).map(|k| sample.distance(k).to_f64()).collect(),
        // No sample covers nothing.
        covering_radius: match sample.is_empty() {
            true => f64::INFINITY,
            false => sample.covering_radius().to_f64(),
        },
        indices: sample.indices,
        algorithm: sample.algorithm,
        threads: sample.threads,
        level: sample.level,
        dropped: sample.dropped,
        statistics: sample.statistics,
        seconds,
    })
}

/// The start asked for, or the first row that can be used.
fn start(points: &Points<'_>, run: &Run, input: &args::Input) -> Result<Start> {
    let Some(start) = &run.start else {
        return Ok(Start::Index(points.first_usable().unwrap_or(0)));
    };
    if let (StartAt::Rows(rows), true) = (start, input.drop_zeros) {
        let usable = |row: usize| {
            each_precision!(points, points => points
                .get(row)
                .is_none_or(|row| row.iter().all(|value| farpoint::Scalar::is_finite(*value))))
        };
        if let Some(row) = rows.iter().find(|row| !usable(**row)) {
            bail!("--start {row}: --drop-zeros leaves that row out, or it holds NaN or infinity");
        }
    }
    Ok(start.with_seed(run.seed.unwrap_or(0)))
}

/// Writes these rows, whole or not at all, and passes on the writer's warnings.
pub(crate) fn write(path: &Path, cloud: &Cloud, rows: &[usize]) -> Result<()> {
    let progress = Progress::start(format!("writing {}", path.display()));
    let warnings = guarded(|| farpoint_io::write(path, cloud, rows, &WriteOptions::default()))?;
    drop(progress);
    warnings.iter().for_each(|warning| output::warn(&format!("{}: {warning}", path.display())));
    Ok(())
}

/// Prints the result where it does not get into the data's way.
fn report(args: &args::Sample, outcome: &Outcome, points: usize, times: &Times) -> Result<()> {
    if args.json {
        return output::print(&format!("{}\n", as_json(outcome, points, times)));
    }
    let text = as_table(&args.input.input, outcome, points, times);
    let stdout = Path::new("-");
    if args.output.as_deref() != Some(stdout) && args.indices.as_deref() != Some(stdout) {
        return output::print(&text);
    }
    if args.stats {
        eprint(&text);
    }
    Ok(())
}

/// Text for people while stdout carries data.
fn eprint(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The object that `--json` prints.
pub(crate) fn as_json(outcome: &Outcome, points: usize, times: &Times) -> Value {
    let mut object = json!({
        "points": points,
        "dropped": outcome.dropped,
        "samples": outcome.indices.len(),
        "algorithm": outcome.algorithm.name(),
        "device": "cpu",
        "simd": outcome.level.name(),
        "threads": outcome.threads,
        "covering_radius": outcome.covering_radius,
        "read_seconds": times.read,
        "sample_seconds": outcome.seconds,
        "write_seconds": times.write.unwrap_or(0.0),
    });
    if let Some(statistics) = &outcome.statistics {
        let counts = counts(statistics).into_iter();
        let mut map: Map<_, _> =
            counts.map(|(name, value)| (name.replace(' ', "_"), value.into())).collect();
        if !statistics.effective_by_step.is_empty() {
            map.insert("effective_by_step".into(), json!(statistics.effective_by_step));
        }
        object["statistics"] = map.into();
    }
    object
}

/// The counts under names that fit a table; JSON has underscores.
fn counts(statistics: &Statistics) -> [(&'static str, u64); 8] {
    [
        ("distance evaluations", statistics.distance_evaluations),
        ("effective updates", statistics.effective_updates),
        ("points skipped", statistics.points_skipped),
        ("regions tested", statistics.regions_tested),
        ("regions pruned", statistics.regions_pruned),
        ("bands", statistics.bands),
        ("rounds", statistics.rounds),
        ("band points", statistics.band_points),
    ]
}

/// The table that is printed otherwise.
pub(crate) fn as_table(input: &Path, outcome: &Outcome, points: usize, times: &Times) -> String {
    let samples = outcome.indices.len();
    let pace = samples as f64 / outcome.seconds.max(1e-9);
    let on = format!(
        "{} on {} thread{}, {}",
        outcome.algorithm,
        outcome.threads,
        if outcome.threads == 1 { "" } else { "s" },
        outcome.level
    );
    let mut rows = vec![
        ("input", input::name(input)),
        ("points", count(points)),
        ("left out", count(outcome.dropped)),
        ("samples", count(samples)),
        ("algorithm", on),
        ("covering radius", number(outcome.covering_radius)),
        ("read", seconds(times.read)),
        (
            "sample",
            format!("{}, {} samples a second", seconds(outcome.seconds), count(pace as u64)),
        ),
    ];
    if let Some(write) = times.write {
        rows.push(("write", seconds(write)));
    }
    if let Some(statistics) = &outcome.statistics {
        rows.extend(counts(statistics).map(|(name, value)| (name, count(value))));
    }
    rows.iter().map(|(name, value)| format!("{name:<20}  {value}\n")).collect()
}
