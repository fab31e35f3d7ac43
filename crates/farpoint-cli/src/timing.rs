//! Running samplers side by side: medians, memory, and a check that all exact ones give the same
//! indices.

use crate::input::{Points, each_precision};
use crate::memory;
use anyhow::{Result, ensure};
use farpoint::{Algorithm, BadRows, RadiusOptions, Sampler, Start, Statistics};
use farpoint_generate::Kind;
use std::borrow::Cow;
use std::time::Instant;

/// A cloud to measure.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) points: Points<'static>,
}

impl Case {
    /// Rows that can be sampled.
    pub(crate) fn usable(&self) -> usize {
        self.points.len() - self.points.unusable()
    }

    /// A quarter of the rows, at least one: the amount that most parts sample.
    pub(crate) fn quarter(&self) -> usize {
        self.usable().div_ceil(4)
    }
}

/// A generated cloud and its name.
pub(crate) fn generated(kind: Kind, points: usize) -> Case {
    let name = format!("{kind}-{points}");
    Case { name, points: Points::F32(Cow::Owned(farpoint_generate::generate(kind, points, 1))) }
}

/// Runs so many samples of a cloud.
type Run<'a> = Box<dyn Fn(&Case, usize) -> Result<Once> + Sync + 'a>;

/// One way to sample a cloud.
pub(crate) struct Job<'a> {
    /// The algorithm asked for.
    pub(crate) name: &'static str,
    /// What is special about it, like "nvox=24".
    pub(crate) variant: String,
    pub(crate) samples: usize,
    pub(crate) threads: usize,
    /// Whether every sample takes equally long, so that the whole may be computed from a part.
    pub(crate) linear: bool,
    /// Whether it must choose what the other exact ones choose.
    exact: bool,
    run: Run<'a>,
}

impl<'a> Job<'a> {
    /// Any way to sample; `run` is handed the cloud and a number of samples.
    pub(crate) fn new(
        name: &'static str,
        samples: usize,
        run: impl Fn(&Case, usize) -> Result<Once> + Sync + 'a,
    ) -> Self {
        let (variant, run) = (String::new(), Box::new(run));
        Self { name, variant, samples, threads: 1, linear: false, exact: true, run }
    }

    /// An algorithm of the library.
    pub(crate) fn cpu(cpu: Cpu, samples: usize) -> Self {
        let run = move |case: &Case, samples| cpu.once(case, samples);
        let linear = matches!(cpu.algorithm, Algorithm::Naive | Algorithm::Reference);
        let job = Self::new(cpu.algorithm.name(), samples, run);
        Self { threads: cpu.threads, linear, ..job }
    }

    pub(crate) fn variant(mut self, variant: impl Into<String>) -> Self {
        self.variant = variant.into();
        self
    }

    /// It may choose what it likes.
    pub(crate) fn approximate(mut self) -> Self {
        self.exact = false;
        self
    }

    pub(crate) fn linear(mut self, linear: bool) -> Self {
        self.linear = linear;
        self
    }
}

/// An algorithm of the library and how it is to run.
#[derive(Clone, Copy)]
pub(crate) struct Cpu {
    pub(crate) algorithm: Algorithm,
    pub(crate) threads: usize,
    pub(crate) radius: RadiusOptions,
}

impl Cpu {
    pub(crate) fn new(algorithm: Algorithm, threads: usize) -> Self {
        Self { algorithm, threads, radius: RadiusOptions::default() }
    }

    fn sampler(&self, case: &Case, samples: usize) -> Sampler {
        Sampler::count(samples)
            .algorithm(self.algorithm)
            .threads(self.threads)
            .radius(self.radius)
            .bad_rows(BadRows::Skip)
            .start(Start::Index(case.points.first_usable().unwrap_or(0)))
    }

    fn once(&self, case: &Case, samples: usize) -> Result<Once> {
        let sampler = self.sampler(case, samples);
        each_precision!(&case.points, points => {
            let points: &[[_; 3]] = points;
            let start = Instant::now();
            let sample = sampler.sample(points)?;
            let seconds = start.elapsed().as_secs_f64();
            let algorithm = sample.algorithm.name();
            Ok(Once { indices: sample.indices, seconds, algorithm, bytes: None })
        })
    }

    /// What it counts.
    pub(crate) fn statistics(&self, case: &Case, samples: usize) -> Result<Statistics> {
        let sampler = self.sampler(case, samples).statistics(true);
        let found = each_precision!(&case.points, points => {
            let points: &[[_; 3]] = points;
            sampler.sample(points)?.statistics
        });
        Ok(found.unwrap_or_default())
    }
}

/// What a job took.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) cloud: String,
    pub(crate) points: usize,
    pub(crate) samples: usize,
    /// The algorithm that ran: never auto.
    pub(crate) algorithm: &'static str,
    /// The algorithm asked for.
    pub(crate) asked: &'static str,
    pub(crate) variant: String,
    pub(crate) threads: usize,
    /// Median, smallest and largest of the runs.
    pub(crate) seconds: [f64; 3],
    pub(crate) runs: usize,
    /// Samples that were really chosen; fewer than `samples` if the time was computed.
    pub(crate) measured: usize,
    /// Most bytes in use at a time beyond the input.
    pub(crate) bytes: usize,
    /// FNV-1a of the measured indices.
    pub(crate) checksum: u64,
}

impl Record {
    pub(crate) fn median(&self) -> f64 {
        self.seconds[0]
    }

    /// Whether the time was computed from a part of the samples.
    pub(crate) fn computed(&self) -> bool {
        self.measured < self.samples
    }

    /// Seconds (median, fastest, slowest), runs, samples measured and bytes, as cells of a table.
    pub(crate) fn cells(&self) -> impl Iterator<Item = String> {
        let whole = [self.runs, self.measured, self.bytes].map(|number| number.to_string());
        self.seconds.map(|seconds| format!("{seconds:.9}")).into_iter().chain(whole)
    }

    pub(crate) fn bytes_a_point(&self) -> f64 {
        self.bytes as f64 / self.points.max(1) as f64
    }
}

/// How much to measure.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) runs: usize,
    /// Seconds for one job, beyond the first run.
    pub(crate) budget: f64,
}

/// One run.
pub(crate) struct Once {
    pub(crate) indices: Vec<usize>,
    pub(crate) seconds: f64,
    /// The algorithm that ran.
    pub(crate) algorithm: &'static str,
    /// Memory, if the run knows it: a GPU's.
    pub(crate) bytes: Option<usize>,
}

/// One run on a thread of its own, which has kept no memory from runs before, and the most
/// bytes that it used at a time.
fn fresh(case: &Case, job: &Job<'_>, samples: usize) -> Result<(Once, usize)> {
    let run = || {
        let (once, bytes) = memory::most(|| (job.run)(case, samples));
        let once = once?;
        let bytes = once.bytes.unwrap_or(bytes);
        Ok((once, bytes))
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
    fn start(case: &Case, job: &Job<'_>, effort: Effort) -> Result<Self> {
        let (mut samples, mut few, mut few_seconds) = (job.samples, 0, 0.0);
        if job.linear && job.samples > FEWEST {
            few = FEW;
            (job.run)(case, few)?;
            few_seconds = (job.run)(case, few)?.seconds;
            let affordable = effort.budget / effort.runs as f64 / few_seconds * few as f64;
            samples = job.samples.min((affordable as usize).max(FEWEST));
        }
        let (mut last, bytes) = fresh(case, job, samples)?;
        if samples < job.samples {
            // Like is compared with like: few samples were timed on this thread, not on a new one.
            last = (job.run)(case, samples)?;
        }
        let mut running = Self { samples, few, few_seconds, seconds: Vec::new(), bytes, last };
        running.note(job);
        Ok(running)
    }

    /// Takes down the time of the last run, for all samples of the job.
    fn note(&mut self, job: &Job<'_>) {
        let mut seconds = self.last.seconds;
        if self.samples < job.samples {
            let each = (seconds - self.few_seconds) / (self.samples - self.few) as f64;
            seconds += each.max(0.0) * (job.samples - self.samples) as f64;
        }
        self.seconds.push(seconds);
    }

    fn again(&mut self, case: &Case, job: &Job<'_>, effort: Effort) -> Result<()> {
        let spent: f64 = self.last.seconds * self.seconds.len() as f64;
        if spent < effort.budget {
            self.last = (job.run)(case, self.samples)?;
            self.note(job);
        }
        Ok(())
    }

    fn record(mut self, case: &Case, job: &Job<'_>) -> Record {
        self.seconds.sort_by(f64::total_cmp);
        let runs = self.seconds.len();
        Record {
            cloud: case.name.clone(),
            points: case.usable(),
            samples: job.samples,
            algorithm: self.last.algorithm,
            asked: job.name,
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
pub(crate) fn measure(case: &Case, jobs: &[Job<'_>], effort: Effort) -> Result<Vec<Record>> {
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

/// Errors when an exact job gave other indices than the longest one.
fn agree(case: &Case, jobs: &[Job<'_>], running: &[Running]) -> Result<()> {
    let exact = || jobs.iter().zip(running).filter(|(job, _)| job.exact);
    let longest = exact().map(|(_, running)| &running.last.indices).max_by_key(|i| i.len());
    for (job, running) in exact() {
        let indices = &running.last.indices;
        let same = longest.is_none_or(|longest| longest[..indices.len()] == indices[..]);
        ensure!(
            same,
            "{} {} gives other indices than its rivals on {}; please report this as a bug",
            job.name,
            job.variant,
            case.name
        );
    }
    Ok(())
}

/// FNV-1a over the indices.
pub(crate) fn checksum(indices: &[usize]) -> u64 {
    checksum_of(indices.iter().map(|index| *index as u64))
}

/// FNV-1a over the bytes of numbers.
pub(crate) fn checksum_of(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
