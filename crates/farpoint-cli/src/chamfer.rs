//! `farpoint chamfer`: distances between two clouds, as numbers, as an attribute of every point
//! and as a picture.

mod pairs;

use crate::args::{self, Rows};
use crate::check;
use crate::input::{self, Points};
use crate::output::{self, count, number, seconds};
use crate::picture::{Deviation, Unit, Up, deviation};
use crate::progress::Progress;
use crate::report;
use anyhow::{Result, ensure};
use farpoint::{Chamfer, Cpu, FScore, Matcher, Nearest, NonFinite, Scalar};
use farpoint_cuda::{CudaScalar, Gpu};
use farpoint_io::{Cloud, Column, WriteOptions, memory};
use farpoint_pipeline::RanOn;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Name of the new column.
const DISTANCE: &str = "distance";

pub(crate) fn run(args: &args::Chamfer) -> Result<()> {
    check(args)?;
    if pairs::names_folders(args) {
        return pairs::run(args);
    }
    files(args)?;
    let (mut cloud, outcome, read, unit) = compare_files(args, &args.a, &args.b)?;
    let table = as_table(args, &outcome, read, Unit::of(&cloud));
    if let Some(path) = &args.per_point {
        let scale = args.writing.scale.map(|scale| scale.in_units_of(unit));
        write(path, &mut cloud, &outcome, args, &args.writing.options(scale))?;
    }
    report::print(&args.report, as_json(args, [&args.a, &args.b], &outcome, read), &table, false)
}

/// Compares two files; returns the seconds of reading too.
fn measure_files(args: &args::Chamfer, a: &Path, b: &Path) -> Result<(Outcome, f64)> {
    let (_, outcome, read, _) = compare_files(args, a, b)?;
    Ok((outcome, read))
}

/// Returns the first cloud, the comparison, seconds of reading, and the unit of the first in meters.
fn compare_files(args: &args::Chamfer, a: &Path, b: &Path) -> Result<(Cloud, Outcome, f64, f64)> {
    let rows = Rows { drop_zeros: args.drop_zeros, f32: false };
    let reading = args.reading.options()?;
    let (cloud, read_a) = input::read(a, &reading)?;
    let (other, read_b) = input::read(b, &reading)?;
    input::compare_units([(&cloud, a), (&other, b)]);
    let lengths = [("--threshold", args.threshold), ("--scale", args.writing.scale)];
    let unit = input::unit(&cloud, a, &lengths)?;
    let threshold = args.threshold.map(|length| length.in_units_of(unit));
    let points = input::prepare(&cloud, a, rows)?;
    let others = input::prepare(&other, b, rows)?;
    let names = format!("{} and {}", input::name(a), input::name(b));
    let outcome = match (points, others) {
        (Points::F32(a), Points::F32(b)) => compare(&a, &b, &names, args, threshold)?,
        // The more precise of the two.
        (a, b) => compare(&a.widened(), &b.widened(), &names, args, threshold)?,
    };
    Ok((cloud, outcome, read_a + read_b, unit))
}

/// Checks the options before the inputs are read.
fn check(args: &args::Chamfer) -> Result<()> {
    check::device(&args.place, "chamfer", &|_| Ok(()))?;
    let stdin = Path::new("-");
    ensure!(
        args.a != stdin || args.b != stdin,
        "only one of the two clouds can come from stdin; name a file for the other"
    );
    if let Some(threshold) = args.threshold {
        let number = threshold.in_meters();
        ensure!(
            number >= 0.0 && number.is_finite(),
            "--threshold {threshold} must be a finite number of at least 0"
        );
    }
    Ok(())
}

/// Checks two inputs and the outputs.
fn files(args: &args::Chamfer) -> Result<()> {
    let stdin = Path::new("-");
    ensure!(!args.search.recursive, "--recursive requires two folders; remove it otherwise");
    let inputs = [args.a.as_path(), &args.b];
    let Some(path) = &args.per_point else {
        check::outputs(&args.report, &[], &inputs, &[])?;
        return check::unused(&args.writing, "--per-point");
    };
    ensure!(path != stdin, "--per-point -: a picture goes beside it; use the name of a file");
    check::cloud(path, &inputs, &args.writing)?;
    let picture = picture_of(path);
    let own =
        [("--per-point", Some(path.as_path())), ("the picture of --per-point", Some(&picture))];
    check::outputs(&args.report, &own, &inputs, &[args.writing.file()])
}

/// Reported part of a [`Chamfer`] of either precision.
struct Outcome {
    sides: [Side; 2],
    sum: f64,
    hausdorff: f64,
    score: Option<FScore>,
    threshold: Option<f64>,
    /// Distances of the first cloud, not squared; NaN for rows left out.
    distances: Vec<f64>,
    single: bool,
    ran_on: RanOn,
    seconds: f64,
}

/// Measures of one direction.
struct Side {
    points: usize,
    dropped: usize,
    mean_squared: f64,
    mean: f64,
    max: f64,
}

impl Side {
    fn new<T: Scalar>(nearest: &Nearest<T>) -> Self {
        Self {
            points: nearest.len(),
            dropped: nearest.dropped,
            mean_squared: nearest.mean(),
            mean: nearest.mean_distance(),
            max: nearest.max_distance().to_f64(),
        }
    }
}

fn compare<T: CudaScalar>(
    a: &[[T; 3]],
    b: &[[T; 3]],
    names: &str,
    args: &args::Chamfer,
    threshold: Option<f64>,
) -> Result<Outcome> {
    // At least a copy of both clouds, and the distance and row of each nearest point.
    let bytes = (a.len() + b.len()) * (size_of::<[T; 3]>() + size_of::<T>() + size_of::<u32>());
    memory::require(names, bytes as u64)?;
    let pays = || farpoint_cuda::neighbors::is_worthwhile(a.len(), b.len());
    let place = args.place.place().choose(&|_| Ok(()), pays)?;
    let threads = args.place.place().thread_count();
    let progress = Progress::start("comparing", names);
    let result =
        place.run(|cpu| on_cpu(a, b, cpu, threads, &progress), |gpu| on_gpu(a, b, gpu, &progress));
    drop(progress);
    let (chamfer, ran_on, seconds) = result.map_err(|error| anyhow::anyhow!("{names}: {error}"))?;
    let first = &chamfer.a_to_b;
    Ok(Outcome {
        sides: [Side::new(first), Side::new(&chamfer.b_to_a)],
        sum: chamfer.sum(),
        hausdorff: chamfer.hausdorff().to_f64(),
        score: threshold.map(|threshold| chamfer.f_score(threshold)),
        threshold,
        distances: (0..first.len()).map(|row| first.distance(row).to_f64()).collect(),
        single: size_of::<T>() == 4,
        ran_on,
        seconds,
    })
}

/// Measures, device and seconds.
type Measurement<T> = (Chamfer<T>, RanOn, f64);

fn on_cpu<T: Scalar>(
    a: &[[T; 3]],
    b: &[[T; 3]],
    cpu: &Cpu,
    threads: usize,
    progress: &Progress,
) -> Result<Measurement<T>, farpoint::Error> {
    let job = Matcher::new().non_finite(NonFinite::Skip);
    let start = Instant::now();
    let chamfer = job.on(cpu).observe(&mut |step| progress.step(step)).chamfer(a, b)?;
    Ok((chamfer, RanOn::Cpu { threads, level: None }, start.elapsed().as_secs_f64()))
}

fn on_gpu<T: CudaScalar>(
    a: &[[T; 3]],
    b: &[[T; 3]],
    gpu: &Gpu,
    progress: &Progress,
) -> Result<Measurement<T>, farpoint_cuda::Error> {
    let job = Matcher::new().non_finite(NonFinite::Skip);
    let start = Instant::now();
    let chamfer = job.on(gpu).observe(&mut |step| progress.step(step)).chamfer(a, b)?;
    let name = gpu.properties().name.clone();
    Ok((chamfer, RanOn::Gpu { name }, start.elapsed().as_secs_f64()))
}

/// Writes the first cloud with its distances, and the picture beside it.
fn write(
    path: &Path,
    cloud: &mut Cloud,
    outcome: &Outcome,
    args: &args::Chamfer,
    options: &WriteOptions,
) -> Result<()> {
    let rows: Vec<usize> =
        (0..cloud.len()).filter(|&row| !outcome.distances[row].is_nan()).collect();
    let progress = Progress::start("drawing", "");
    let picture = deviation(&Deviation {
        points: rows.iter().map(|&row| cloud.coordinates().get(row)).collect(),
        distances: rows.iter().map(|&row| outcome.distances[row]).collect(),
        from: file_name(&args.a),
        to: file_name(&args.b),
        unit: Unit::of(cloud),
        up: Up::of(args.up, cloud),
        threshold: outcome.threshold,
    })?;
    drop(progress);
    let distances = outcome.distances.iter().copied();
    let column = match outcome.single {
        true => Column::F32(distances.map(|distance| distance as f32).collect()),
        false => Column::F64(distances.collect()),
    };
    cloud.add_column(DISTANCE, column);
    output::write_cloud(path, cloud, &rows, options)?;
    output::write_file(&picture_of(path), &picture)
}

/// Returns the path of the picture beside the points.
fn picture_of(path: &Path) -> PathBuf {
    path.with_extension("png")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn as_json(
    args: &args::Chamfer,
    [first, second]: [&Path; 2],
    outcome: &Outcome,
    read_seconds: f64,
) -> Value {
    let side = |side: &Side| json!({"mean_squared": side.mean_squared, "mean": side.mean, "max": side.max});
    let [a, b] = &outcome.sides;
    let (device, gpu, threads) = match &outcome.ran_on {
        RanOn::Cpu { threads, .. } => ("cpu", None, Some(threads)),
        RanOn::Gpu { name } => ("cuda", Some(name), None),
    };
    json!({
        "a": input::name(first),
        "b": input::name(second),
        "output": args.per_point.as_ref().map(|path| path.display().to_string()),
        "picture": args.per_point.as_ref().map(|path| picture_of(path).display().to_string()),
        "a_points": a.points,
        "b_points": b.points,
        "a_dropped": a.dropped,
        "b_dropped": b.dropped,
        "a_to_b": side(a),
        "b_to_a": side(b),
        "chamfer": outcome.sum,
        "hausdorff": outcome.hausdorff,
        "threshold": outcome.threshold,
        "precision": outcome.score.map(|score| score.precision),
        "recall": outcome.score.map(|score| score.recall),
        "f_score": outcome.score.map(|score| score.f_score),
        "device": device,
        "gpu": gpu,
        "threads": threads,
        "read_seconds": read_seconds,
        "seconds": outcome.seconds,
    })
}

fn as_table(args: &args::Chamfer, outcome: &Outcome, read_seconds: f64, unit: Unit) -> String {
    let length = |value: f64| unit.of_number(number(value));
    let sides = |cell: &dyn Fn(&Side) -> String| outcome.sides.each_ref().map(cell);
    let row = |name: &str, [a, b]: [String; 2]| vec![name.to_owned(), a, b];
    let mut rows = vec![
        row("", ["A to B", "B to A"].map(str::to_owned)),
        row("from", [&args.a, &args.b].map(|path| file_name(path))),
        row("points", sides(&|side| count(side.points))),
        row("left out", sides(&|side| count(side.dropped))),
        row("mean squared", sides(&|side| number(side.mean_squared))),
        row("mean", sides(&|side| length(side.mean))),
        row("max", sides(&|side| length(side.max))),
    ];
    if let (Some(score), Some(threshold)) = (outcome.score, outcome.threshold) {
        let share = |share: f64| format!("{:.2} %", 100.0 * share);
        let within = [score.precision, score.recall].map(share);
        rows.push(row(&format!("within {}", length(threshold)), within));
    }
    let mut text = output::table(&rows);
    let mut line = |name: &str, value: String| text.push_str(&format!("{name:<14}{value}\n"));
    line("chamfer", format!("{} (sum of the mean squares)", number(outcome.sum)));
    line("hausdorff", length(outcome.hausdorff));
    if let Some(score) = outcome.score {
        line("f-score", format!("{:.4}", score.f_score));
    }
    line("read", seconds(read_seconds));
    let time = seconds(outcome.seconds);
    let place = report::place(&outcome.ran_on);
    line("compare", format!("{time} on {place}"));
    if let Some(path) = &args.per_point {
        line("wrote", format!("{} and {}", path.display(), picture_of(path).display()));
    }
    text
}
