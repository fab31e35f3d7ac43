//! Clouds in host memory, and the library's algorithms as contenders.

use super::{Contender, Once, Subject, Turn};
use anyhow::Result;
use farpoint::{Algorithm, Amount, Cpu, NonFinite, Sampler, Start, Statistics};
use farpoint_baselines as baselines;
use farpoint_cli::each_precision;
use farpoint_cli::input::Points;
use farpoint_generate::Kind;
use std::borrow::Cow;
use std::time::Instant;

/// A cloud to measure.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) points: Points<'static>,
}

impl Case {
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject { name: &self.name, points: self.usable() }
    }

    /// Number of rows that can be sampled.
    pub(crate) fn usable(&self) -> usize {
        self.points.len() - self.points.unusable()
    }

    /// Returns a quarter of the rows, at least one: the amount that most parts sample.
    pub(crate) fn quarter(&self) -> usize {
        self.usable().div_ceil(4)
    }
}

/// Generates a cloud and its name.
pub(crate) fn generated(kind: Kind, points: usize) -> Case {
    let name = format!("{kind}-{points}");
    Case { name, points: Points::F32(Cow::Owned(farpoint_generate::generate(kind, points, 1))) }
}

/// An algorithm of the library on this many threads of the CPU.
#[derive(Clone, Copy)]
pub(crate) struct OnCpu {
    pub(crate) algorithm: Algorithm,
    pub(crate) threads: usize,
}

impl OnCpu {
    /// Returns it as a contender, sampling this cloud.
    pub(crate) fn contender(self, case: &Case, samples: usize) -> Contender<'_> {
        let linear = matches!(self.algorithm, Algorithm::Naive | Algorithm::Reference);
        let run = move |turn: Turn| self.once(case, turn.samples);
        Contender::new(self.algorithm.name(), samples, run).threads(self.threads).linear(linear)
    }

    fn cpu(&self) -> Cpu {
        Cpu::new().threads(self.threads)
    }

    fn sampler(&self, case: &Case, samples: usize) -> Sampler {
        Sampler::count(samples)
            .algorithm(self.algorithm)
            .non_finite(NonFinite::Skip)
            .start(Start::Index(case.points.first_usable().unwrap_or(0)))
    }

    fn once(&self, case: &Case, samples: usize) -> Result<Once> {
        let (cpu, sampler) = (self.cpu(), self.sampler(case, samples));
        each_precision!(&case.points, points => {
            let points: &[[_; 3]] = points;
            let start = Instant::now();
            let sample = sampler.on(&cpu).sample(points)?;
            let seconds = start.elapsed().as_secs_f64();
            let algorithm = sample.algorithm.name();
            Ok(Once { indices: sample.indices, seconds, algorithm, bytes: None })
        })
    }

    /// Runs it with counters and returns them.
    pub(crate) fn statistics(&self, case: &Case, samples: usize) -> Result<Statistics> {
        let (cpu, sampler) = (self.cpu(), self.sampler(case, samples).statistics(true));
        let found = each_precision!(&case.points, points => {
            let points: &[[_; 3]] = points;
            sampler.on(&cpu).sample(points)?.statistics
        });
        Ok(found.unwrap_or_default())
    }
}

/// Returns a baseline on one thread as a contender, sampling this cloud.
pub(crate) fn baseline(case: &Case, method: baselines::Method, samples: usize) -> Contender<'_> {
    Contender::new(method.name(), samples, move |turn: Turn| {
        let mut job = baselines::Job::new(method, Amount::Count(turn.samples));
        (job.threads, job.non_finite) = (Some(1), NonFinite::Skip);
        each_precision!(&case.points, points => {
            let points: &[[_; 3]] = points;
            let start = Instant::now();
            let indices = baselines::sample(&job, points)?.indices;
            let seconds = start.elapsed().as_secs_f64();
            Ok(Once { indices, seconds, algorithm: method.name(), bytes: None })
        })
    })
}

/// Repeats a run for at least `patience` seconds; returns the indices and the mean time of one.
pub(crate) fn repeated(
    algorithm: &'static str,
    patience: f64,
    run: impl Fn() -> Result<Vec<usize>>,
) -> Result<Once> {
    let (start, mut repeats) = (Instant::now(), 0);
    loop {
        let indices = run()?;
        repeats += 1;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= patience {
            let seconds = seconds / f64::from(repeats);
            return Ok(Once { indices, seconds, algorithm, bytes: None });
        }
    }
}
