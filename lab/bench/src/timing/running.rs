//! A job while it is measured: how many samples are affordable, which runs count.

use super::{Effort, Job, Once, Record, Subject, Turn, checksum, checksum_from, memory};
use anyhow::Result;

/// Samples of the run that shows what a linear job costs besides its samples.
const FEW: usize = 32;
/// A linear job is never cut to fewer samples.
const FEWEST: usize = 1024;

/// Runs that take longer need no warming up: they differ little.
const SLOW: f64 = 0.5;

/// A job, its runs so far, and what the first one chose.
pub(super) struct Running {
    /// Samples of a run, and seconds of a run of few samples, with which all runs begin.
    samples: usize,
    few: usize,
    few_seconds: f64,
    /// Seconds of the runs that count, for all samples of the job.
    seconds: Vec<f64>,
    /// Runs of any kind.
    turns: usize,
    bytes: usize,
    algorithm: &'static str,
    indices: Vec<usize>,
    checksum: u64,
}

impl Running {
    /// The first run on each input; a linear job is cut to the budget before.
    pub(super) fn start(job: &Job<'_>, effort: Effort) -> Result<Self> {
        let (mut samples, mut few, mut few_seconds) = (job.samples, 0, 0.0);
        if job.linear && job.samples > FEWEST {
            few = FEW;
            let turn = Turn { samples: few, set: 0, checked: false };
            job.once(turn)?;
            few_seconds = job.once(turn)?.seconds;
            let affordable = effort.budget / effort.runs as f64 / few_seconds * few as f64;
            samples = job.samples.min((affordable as usize).max(FEWEST));
        }
        let first = Turn { samples, set: 0, checked: true };
        let (mut once, bytes) = fresh(job, first)?;
        if samples < job.samples {
            // Like is compared with like: few samples were timed on this thread, not on a new one.
            once = job.once(first)?;
        }
        let mut running = Self {
            samples,
            few,
            few_seconds,
            seconds: Vec::new(),
            turns: 1,
            bytes,
            algorithm: once.algorithm,
            checksum: checksum(wide(&once.indices)),
            indices: std::mem::take(&mut once.indices),
        };
        running.note(job, once.seconds);
        for set in 1..job.sets {
            let once = job.once(Turn { set, ..first })?;
            running.checksum = checksum_from(running.checksum, wide(&once.indices));
            running.turns += 1;
            running.note(job, once.seconds);
        }
        running.warm_up(job, effort, once.seconds)?;
        Ok(running)
    }

    /// Runs that don't count, after which one does. Slow jobs need none.
    fn warm_up(&mut self, job: &Job<'_>, effort: Effort, seconds: f64) -> Result<()> {
        if effort.warm > 0 && seconds < SLOW {
            for _ in 0..=effort.warm {
                self.seconds.clear();
                self.once(job)?;
            }
        }
        Ok(())
    }

    pub(super) fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Keeps the time of a run, computed for all samples of the job.
    fn note(&mut self, job: &Job<'_>, mut seconds: f64) {
        if self.samples < job.samples {
            let each = (seconds - self.few_seconds) / (self.samples - self.few) as f64;
            seconds += each.max(0.0) * (job.samples - self.samples) as f64;
        }
        self.seconds.push(seconds);
    }

    fn once(&mut self, job: &Job<'_>) -> Result<f64> {
        let set = self.turns % job.sets;
        let once = job.once(Turn { samples: self.samples, set, checked: false })?;
        self.turns += 1;
        self.note(job, once.seconds);
        Ok(once.seconds)
    }

    /// One run more, unless there are enough or the budget is spent.
    pub(super) fn again(&mut self, job: &Job<'_>, effort: Effort) -> Result<()> {
        // Of a job that is cut, the times are those of all samples, its runs shorter.
        let share = self.samples as f64 / job.samples.max(1) as f64;
        let spent = self.seconds.iter().sum::<f64>() * share;
        if self.seconds.len() < effort.runs && spent < effort.budget {
            self.once(job)?;
        }
        Ok(())
    }

    pub(super) fn record(mut self, subject: Subject<'_>, job: &Job<'_>) -> Record {
        self.seconds.sort_by(f64::total_cmp);
        let runs = self.seconds.len();
        Record {
            cloud: subject.name.to_owned(),
            points: subject.points,
            samples: job.samples,
            algorithm: self.algorithm,
            requested: job.name,
            variant: job.variant.clone(),
            threads: job.threads,
            seconds: [self.seconds[runs / 2], self.seconds[0], self.seconds[runs - 1]],
            runs,
            measured: self.samples,
            bytes: self.bytes,
            indices: self.indices,
            checksum: self.checksum,
        }
    }
}

/// One run on a thread of its own, which has kept no memory from runs before, and the most
/// bytes that it used at a time.
fn fresh(job: &Job<'_>, turn: Turn) -> Result<(Once, usize)> {
    let run = || {
        let (once, bytes) = memory::most(|| job.once(turn));
        let once = once?;
        let bytes = once.bytes.unwrap_or(bytes);
        Ok((once, bytes))
    };
    std::thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn wide(indices: &[usize]) -> impl Iterator<Item = u64> {
    indices.iter().map(|&index| index as u64)
}
