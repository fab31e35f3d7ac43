//! `farpoint sample`: check everything, read, sample, write, report.

use crate::approximate;
use crate::args::{self, Run, StartAt};
use crate::device;
use crate::input::{self, Points, each_precision};
use crate::interrupt::guarded;
use crate::output;
use crate::progress::Progress;
use crate::report::{self, Outcome, RanOn, Times};
use anyhow::{Result, bail, ensure};
use farpoint::{Amount, BadRows, QuickOptions, RadiusOptions, Sampler, Scalar, Start};
use farpoint_cuda::CudaScalar;
use farpoint_io::{Cloud, WriteOptions};
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &args::Sample) -> Result<()> {
    check(args)?;
    if args.run.algorithm.approximate().is_some() {
        return approximate::run(args);
    }
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
    report::print(args, &outcome, points.len(), &times)
}

/// What can be refused before the input is read.
fn check(args: &args::Sample) -> Result<()> {
    if args.run.algorithm.approximate().is_some() {
        approximate::check(args)?;
    } else {
        approximate::check_unused(args)?;
        check_run(&args.run)?;
    }
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
        run.algorithm.approximate().is_none(),
        "--algorithm {}: an approximate sampler, which can't put a cloud into farthest-first order; \
         choose an exact algorithm",
        run.algorithm
    );
    device::check(run)?;
    ensure!(
        run.height.is_none() || run.algorithm.name() == "quick",
        "--height is for --algorithm quick; add it, or leave it out"
    );
    ensure!(
        run.seed.is_none() || run.start == Some(StartAt::Random),
        "--seed is for a random start; add --start random, or leave it out"
    );
    let tuned = run.nvox.is_some() || run.no_radius_pruning || run.no_point_skip;
    ensure!(
        !tuned || run.algorithm.name() == "radius",
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

/// Samples with a progress bar, where the options say.
pub(crate) fn sample(
    points: &Points<'_>,
    amount: Amount,
    run: &Run,
    input: &args::Input,
    statistics: bool,
) -> Result<Outcome> {
    let name = input::name(&input.input);
    let start = start(points, run, input)?;
    let progress = Progress::start(format!("sampling {name}"));
    let job = Job { amount, start, run, statistics };
    let place = device::choose(run, points.len(), amount)?;
    let outcome = place.run(|gpu| job.on_gpu(points, gpu), || job.on_cpu(points, &progress));
    drop(progress);
    outcome.map_err(|error| anyhow::anyhow!("{name}: {error}"))
}

/// What is to be sampled, on whatever device.
struct Job<'a> {
    amount: Amount,
    start: Start,
    run: &'a Run,
    statistics: bool,
}

impl Job<'_> {
    fn on_cpu(&self, points: &Points<'_>, progress: &Progress) -> Result<Outcome, farpoint::Error> {
        let run = self.run;
        let algorithm = run.algorithm.on_cpu().expect("checked with the options");
        let mut sampler = Sampler::new(self.amount)
            .algorithm(algorithm)
            .start(self.start.clone())
            .bad_rows(BadRows::Skip)
            .statistics(self.statistics)
            .radius(RadiusOptions {
                nvox: run.nvox,
                radius_pruning: !run.no_radius_pruning,
                point_skip: !run.no_point_skip,
            })
            .quick(QuickOptions { height: run.height });
        if let Some(threads) = run.threads {
            sampler = sampler.threads(usize::from(threads));
        }
        if let Some(level) = run.simd {
            sampler = sampler.level(level);
        }
        each_precision!(points, points => on_cpu(&sampler, points, progress))
    }

    fn on_gpu(
        &self,
        points: &Points<'_>,
        gpu: &farpoint_cuda::Device,
    ) -> Result<Outcome, farpoint_cuda::Error> {
        let nvox = self.run.nvox;
        let sampler = farpoint_cuda::Sampler::new(self.amount)
            .algorithm(self.run.algorithm.on_gpu().expect("checked with the options"))
            .start(self.start.clone())
            .bad_rows(BadRows::Skip)
            .statistics(self.statistics)
            .radius(farpoint_cuda::RadiusOptions { nvox, ..Default::default() });
        each_precision!(points, points => on_gpu(&sampler, points, gpu))
    }
}

fn on_cpu<T: Scalar>(
    sampler: &Sampler,
    points: &[[T; 3]],
    progress: &Progress,
) -> Result<Outcome, farpoint::Error> {
    let start = Instant::now();
    let sample = sampler.sample_with(points, &mut |step| progress.step(step))?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Outcome {
        distances: (0..sample.len()).map(|k| sample.distance(k).to_f64()).collect(),
        covering_radius: covering(sample.is_empty(), sample.covering_radius()),
        indices: sample.indices,
        algorithm: sample.algorithm.name(),
        ran_on: RanOn::Cpu { threads: sample.threads, level: sample.level },
        exact: true,
        details: Vec::new(),
        dropped: sample.dropped,
        statistics: sample.statistics.as_ref().map(report::counts),
        seconds,
    })
}

fn on_gpu<T: CudaScalar>(
    sampler: &farpoint_cuda::Sampler,
    points: &[[T; 3]],
    gpu: &farpoint_cuda::Device,
) -> Result<Outcome, farpoint_cuda::Error> {
    let start = Instant::now();
    let sample = sampler.sample(gpu, points)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Outcome {
        distances: (0..sample.len()).map(|k| sample.distance(k).to_f64()).collect(),
        covering_radius: covering(sample.is_empty(), sample.covering_radius()),
        indices: sample.indices,
        algorithm: sample.algorithm.name(),
        ran_on: RanOn::Gpu { name: gpu.properties().name.clone() },
        exact: true,
        details: Vec::new(),
        dropped: sample.dropped,
        statistics: sample.statistics.as_ref().map(report::measures),
        seconds,
    })
}

/// The covering radius; no sample covers nothing.
pub(crate) fn covering<T: Scalar>(empty: bool, radius: T) -> f64 {
    if empty { f64::INFINITY } else { radius.to_f64() }
}

/// The start asked for, or the first row that can be used.
pub(crate) fn start(points: &Points<'_>, run: &Run, input: &args::Input) -> Result<Start> {
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
