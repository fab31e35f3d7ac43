//! Running samplers side by side: medians, memory, and a check that all give the same indices.

use crate::input::{Points, each_precision};
use crate::memory;
use anyhow::{Result, ensure};
use farpoint::{Algorithm, BadRows, RadiusOptions, Sampler, Start, Statistics};
use std::time::Instant;

/// A cloud to measure.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) points: Points<'static>,
}

impl Case {
    /// Rows that can be sampled.
    pub(super) fn usable(&self) -> usize {
        self.points.len() - self.points.unusable()
    }

    /// A quarter of the rows, at least one: the amount that most parts sample.
    pub(super) fn quarter(&self) -> usize {
        self.usable().div_ceil(4)
    }
}

/// One way to sample a cloud.
#[derive(Clone)]
pub(super) struct Job {
    pub(super) algorithm: Algorithm,
    /// What is special about it, like "nvox=24".
    pub(super) variant: String,
    pub(super) samples: usize,
    pub(super) threads: usize,
    pub(super) radius: RadiusOptions,
    /// Whether every sample takes equally long, so that the whole may be computed from a part.
    pub(super) linear: bool,
}

impl Job {
    pub(super) fn new(algorithm: Algorithm, samples: usize, threads: usize) -> Self {
        Self {
            algorithm,
            variant: String::new(),
            samples,
            threads,
            radius: RadiusOptions::default(),
            linear: matches!(algorithm, Algorithm::Naive | Algorithm::Reference),
        }
    }

    pub(super) fn radius(mut self, variant: impl Into<String>, radius: RadiusOptions) -> Self {
        self.variant = variant.into();
        self.radius = radius;
        self
    }

    pub(super) fn linear(mut self, linear: bool) -> Self {
        self.linear = linear;
        self
    }

    fn sampler(&self, case: &Case, samples: usize) -> Sampler {
        Sampler::count(samples)
            .algorithm(self.algorithm)
            .threads(self.threads)
            .radius(self.radius)
            .bad_rows(BadRows::Skip)
            .start(Start::Index(case.points.first_usable().unwrap_or(0)))
    }
}

/// What a job took.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) cloud: String,
    pub(super) points: usize,
    pub(super) samples: usize,
    /// The algorithm that ran: never auto.
    pub(super) algorithm: Algorithm,
    /// The algorithm asked for.
    pub(super) asked: Algorithm,
    pub(super) variant: String,
    pub(super) threads: usize,
    /// Median, smallest and largest of the runs.
    pub(super) seconds: [f64; 3],
    pub(super) runs: usize,
    /// Samples that were really chosen; fewer than `samples` if the time was computed.
    pub(super) measured: usize,
    /// Most bytes in use at a time beyond the input.
    pub(super) bytes: usize,
    /// FNV-1a of the measured indices.
    pub(super) checksum: u64,
}

impl Record {
    pub(super) fn median(&self) -> f64 {
        self.seconds[0]
    }

    /// Whether the time was computed from a part of the samples.
    pub(super) fn computed(&self) -> bool {
        self.measured < self.samples
    }

    pub(super) fn bytes_a_point(&self) -> f64 {
        self.bytes as f64 / self.points.max(1) as f64
    }
}

/// How much to measure.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    pub(super) runs: usize,
    /// Seconds for one job, beyond the first run.
    pub(super) budget: f64,
}

/// One run.
struct Once {
    indices: Vec<usize>,
    seconds: f64,
    algorithm: Algorithm,
}

fn once(case: &Case, job: &Job, samples: usize) -> Result<Once> {
    let sampler = job.sampler(case, samples);
    each_precision!(&case.points, points => {
        let points: &[[_; 3]] = points;
        let start = Instant::now();
        let sample = sampler.sample(points)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Once { indices: sample.indices, seconds, algorithm: sample.algorithm })
    })
}

/// One run on a thread of its own, which has kept no memory from runs before, and the most
/// bytes that it used at a time.
fn fresh(case: &Case, job: &Job, samples: usize) -> Result<(Once, usize)> {
    let run = || {
        let (once, bytes) = memory::most(|| once(case, job, samples));
        Ok((once?, bytes))
    };
    std::thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Samples of the run that tells what a linear job costs besides its samples.
const FEW: usize = 32;
/// A linear job is never cut to fewer samples.
const FEWEST: usize = 1024;

/// A job while it is measured.
struct Running {
    /// Samples of a run, and seconds of a run of few samples that all runs begin with.
    samples: usize,
    few: usize,
    few_seconds: f64,
    seconds: Vec<f64>,
    bytes: usize,
    last: Once,
}

impl Running {
    /// The first run; a linear job is cut to the budget.
    fn start(case: &Case, job: &Job, effort: Effort) -> Result<Self> {
        let (mut samples, mut few, mut few_seconds) = (job.samples, 0, 0.0);
        if job.linear && job.samples > FEWEST {
            few = FEW;
            once(case, job, few)?;
            few_seconds = once(case, job, few)?.seconds;
            let affordable = effort.budget / effort.runs as f64 / few_seconds * few as f64;
            samples = job.samples.min((affordable as usize).max(FEWEST));
        }
        let (mut last, bytes) = fresh(case, job, samples)?;
        if samples < job.samples {
            // Like is compared with like: few samples were timed on this thread, not on a new one.
            last = once(case, job, samples)?;
        }
        let mut running = Self { samples, few, few_seconds, seconds: Vec::new(), bytes, last };
        running.note(job);
        Ok(running)
    }

    /// Takes down the time of the last run, for all samples of the job.
    fn note(&mut self, job: &Job) {
        let mut seconds = self.last.seconds;
        if self.samples < job.samples {
            let each = (seconds - self.few_seconds) / (self.samples - self.few) as f64;
            seconds += each.max(0.0) * (job.samples - self.samples) as f64;
        }
        self.seconds.push(seconds);
    }

    fn again(&mut self, case: &Case, job: &Job, effort: Effort) -> Result<()> {
        let spent: f64 = self.last.seconds * self.seconds.len() as f64;
        if spent < effort.budget {
            self.last = once(case, job, self.samples)?;
            self.note(job);
        }
        Ok(())
    }

    fn record(mut self, case: &Case, job: &Job) -> Record {
        self.seconds.sort_by(f64::total_cmp);
        let runs = self.seconds.len();
        Record {
            cloud: case.name.clone(),
            points: case.usable(),
            samples: job.samples,
            algorithm: self.last.algorithm,
            asked: job.algorithm,
            variant: job.variant.clone(),
            threads: job.threads,
            seconds: [self.seconds[runs / 2], self.seconds[0], self.seconds[runs - 1]],
            runs,
            measured: self.samples,
            bytes: self.bytes,
            checksum: checksum(&self.last.indices),
        }
    }
}

/// Runs the jobs in turns, so that all meet the same machine, and checks them against each
/// other.
pub(super) fn measure(case: &Case, jobs: &[Job], effort: Effort) -> Result<Vec<Record>> {
    let mut running = Vec::with_capacity(jobs.len());
    for job in jobs {
        running.push(Running::start(case, job, effort)?);
    }
    agree(case, jobs, &running)?;
    for _ in 1..effort.runs {
        for (running, job) in running.iter_mut().zip(jobs) {
            running.again(case, job, effort)?;
        }
    }
    Ok(running.into_iter().zip(jobs).map(|(running, job)| running.record(case, job)).collect())
}

/// Errors when a job gave other indices than the longest one.
fn agree(case: &Case, jobs: &[Job], running: &[Running]) -> Result<()> {
    let longest = running.iter().map(|running| &running.last.indices).max_by_key(|i| i.len());
    for (job, running) in jobs.iter().zip(running) {
        let indices = &running.last.indices;
        let same = longest.is_none_or(|longest| longest[..indices.len()] == indices[..]);
        ensure!(
            same,
            "{} {} gives other indices than its rivals on {}; please report this as a bug",
            job.algorithm,
            job.variant,
            case.name
        );
    }
    Ok(())
}

/// What a job counts.
pub(super) fn statistics(case: &Case, job: &Job) -> Result<Statistics> {
    let sampler = job.sampler(case, job.samples).statistics(true);
    let found = each_precision!(&case.points, points => {
        let points: &[[_; 3]] = points;
        sampler.sample(points)?.statistics
    });
    Ok(found.unwrap_or_default())
}

/// FNV-1a over the indices.
pub(super) fn checksum(indices: &[usize]) -> u64 {
    indices
        .iter()
        .flat_map(|index| (*index as u64).to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
}
