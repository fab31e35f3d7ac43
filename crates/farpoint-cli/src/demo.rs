//! `farpoint demo`: an introduction. Samples a generated room scan, compares the sample with random
//! sampling, and draws both.

use crate::args::Length;
use crate::output::{count, number, table};
use crate::picture::{Candidate, Comparison, compare};
use crate::progress::Progress;

use crate::{args, check, output, report};
use anyhow::{Result, ensure};
use farpoint::approximate::{ApproximateSampler, Method};
use farpoint::measure::{Spacing, covering_radius, spacing};
use farpoint::{Amount, Cpu, RanOn, Sampler};
use farpoint_io::{Cloud, Coordinates};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &args::Demo) -> Result<()> {
    check(args)?;
    let cloud_path = args
        .out_dir
        .join("farpoint-demo")
        .with_extension(args.writing.extension().unwrap_or("ply"));
    let picture_path = args.out_dir.join("farpoint-demo.png");
    check::cloud(&cloud_path, &[], &args.writing)?;
    let own = [("the cloud", Some(&*cloud_path)), ("the picture", Some(&*picture_path))];
    check::outputs(&args.report, &own, &[], &[args.writing.file()])?;

    let points = farpoint_generate::room(args.points.0, args.seed);
    let farthest = farthest(&points, args.ratio.0)?;
    let random = random(&points, farthest.rows.len(), args.seed)?;
    let both = [evaluate(&points, farthest)?, evaluate(&points, random)?];
    let object = as_json(points.len(), &both, [&cloud_path, &picture_path]);
    let table = table_of(points.len(), &both);

    let progress = Progress::start("drawing", "");
    let picture = compare(&Comparison {
        points: &points,
        samples: [candidate("Random", &both[1]), candidate("Farthest point", &both[0])],
        radius: both[0].radius,
    })?;
    output::write_file(&picture_path, &picture)?;
    drop(progress);
    let cloud = Cloud::new(Coordinates::F32(points));
    let options = args.writing.options(args.writing.scale.map(Length::in_meters));
    output::write_cloud(&cloud_path, &cloud, &both[0].sample.rows, &options)?;
    let wrote = format!(
        "\nwrote {} (the sample) and {} (look at it)\n",
        cloud_path.display(),
        picture_path.display()
    );
    report::print(&args.report, object, &(table + &wrote), false)
}

/// Checks the options before any work.
fn check(args: &args::Demo) -> Result<()> {
    let (points, ratio) = (args.points.0, args.ratio.0);
    check::amount(Amount::Ratio(ratio))?;
    ensure!(points >= 1000, "--points {points}: a room needs at least 1,000");
    let samples = Amount::Ratio(ratio).limit(points)?;
    ensure!(samples >= 2, "--ratio {ratio} leaves fewer than two points; raise it");
    check::points(points)?;
    check::folder(&args.out_dir)
}

/// A sample and its sampler.
struct Sample {
    name: String,
    rows: Vec<usize>,
    seconds: f64,
}

/// A sample and its quality.
struct Evaluated {
    sample: Sample,
    radius: f64,
    spacing: Spacing,
}

fn farthest(points: &[[f32; 3]], ratio: f64) -> Result<Sample> {
    let progress = Progress::start("sampling", "the room");
    let start = Instant::now();
    let sample = Sampler::ratio(ratio)
        .on(&Cpu::new())
        .observe(&mut |step| progress.step(step))
        .sample(points)?;
    let seconds = start.elapsed().as_secs_f64();
    let place = match sample.ran_on {
        RanOn::Cpu { threads: 1, .. } => "1 thread".to_owned(),
        RanOn::Cpu { threads, .. } => format!("{threads} threads"),
        _ => "GPU".to_owned(),
    };
    let name = format!("farthest point ({}, {place})", sample.algorithm.name());
    Ok(Sample { name, rows: sample.indices, seconds })
}

fn random(points: &[[f32; 3]], count: usize, seed: u64) -> Result<Sample> {
    let start = Instant::now();
    let sample = ApproximateSampler::count(Method::Random { seed }, count).sample(points)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Sample { name: "random".into(), rows: sample.indices, seconds })
}

fn evaluate(points: &[[f32; 3]], sample: Sample) -> Result<Evaluated> {
    let radius = f64::from(covering_radius(points, &sample.rows)?);
    let spacing = spacing(points, &sample.rows)?;
    Ok(Evaluated { sample, radius, spacing })
}

fn candidate<'a>(title: &'static str, evaluated: &'a Evaluated) -> Candidate<'a> {
    Candidate { title, rows: &evaluated.sample.rows, radius: evaluated.radius }
}

/// Returns the object of `--json`.
fn as_json(points: usize, both: &[Evaluated; 2], [cloud, picture]: [&Path; 2]) -> Value {
    let of = |evaluated: &Evaluated| {
        let Evaluated { sample, radius, spacing } = evaluated;
        json!({
            "sampler": sample.name,
            "seconds": sample.seconds,
            "covering_radius": radius,
            "spacing": {"min": spacing.min, "mean": spacing.mean, "max": spacing.max},
        })
    };
    json!({
        "output": cloud.display().to_string(),
        "picture": picture.display().to_string(),
        "points": points,
        "samples": both[0].sample.rows.len(),
        "samplers": both.iter().map(of).collect::<Vec<_>>(),
    })
}

/// Returns a table with a column for each sample.
fn table_of(points: usize, both: &[Evaluated; 2]) -> String {
    let row = |name: &str, cell: &dyn Fn(&Evaluated) -> String| {
        let mut cells = vec![name.to_owned()];
        cells.extend(both.iter().map(cell));
        cells
    };
    table(&[
        row("", &|evaluated| evaluated.sample.name.clone()),
        row("points", &|_| count(points)),
        row("samples", &|evaluated| count(evaluated.sample.rows.len())),
        row("seconds", &|evaluated| number(evaluated.sample.seconds)),
        row("samples per second", &|Evaluated { sample, .. }| {
            count((sample.rows.len() as f64 / sample.seconds.max(1e-9)) as u64)
        }),
        row("covering radius", &|evaluated| format!("{:.4} m", evaluated.radius)),
        row("mean spacing", &|evaluated| format!("{:.4} m", evaluated.spacing.mean)),
        row("min..max spacing", &|Evaluated { spacing, .. }| {
            format!("{:.4}..{:.4} m", spacing.min, spacing.max)
        }),
    ])
}
