//! A contender during its measurement: number of affordable samples, and runs that count.

use super::{Contender, Effort, Once, Record, Subject, Turn, checksum, checksum_from, memory};
use anyhow::Result;

/// Samples of the run that measures a linear contender's cost besides its samples.
const FEW: usize = 32;
/// Minimum number of samples of a linear contender.
const FEWEST: usize = 1024;

/// Seconds of a run above which no warm-up is needed: such runs differ little.
const SLOW: f64 = 0.5;

/// A contender, its runs so far, and the first one's indices.
pub(super) struct Running {
    /// Samples per run, and seconds of a run of few samples, with which all runs begin.
    samples: usize,
    few: usize,
    few_seconds: f64,
    /// Seconds of the runs that count, for all samples of the contender.
    seconds: Vec<f64>,
    /// Runs of any kind.
    turns: usize,
    bytes: usize,
    algorithm: &'static str,
    indices: Vec<usize>,
    checksum: u64,
}

impl Running {
    /// Runs once on each input; before, a linear contender is cut to the budget.
    pub(super) fn start(contender: &Contender<'_>, effort: Effort) -> Result<Self> {
        let (mut samples, mut few, mut few_seconds) = (contender.samples, 0, 0.0);
        if contender.linear && contender.samples > FEWEST {
            few = FEW;
            let turn = Turn { samples: few, set: 0, checked: false };
            contender.once(turn)?;
            few_seconds = contender.once(turn)?.seconds;
            let affordable = effort.budget / effort.runs as f64 / few_seconds * few as f64;
            samples = contender.samples.min((affordable as usize).max(FEWEST));
        }
        let first = Turn { samples, set: 0, checked: true };
        let (mut once, bytes) = fresh(contender, first)?;
        if samples < contender.samples {
            // For a fair comparison: few samples were timed on this thread, not on a new one.
            once = contender.once(first)?;
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
        running.note(contender, once.seconds);
        for set in 1..contender.sets {
            let once = contender.once(Turn { set, ..first })?;
            running.checksum = checksum_from(running.checksum, wide(&once.indices));
            running.turns += 1;
            running.note(contender, once.seconds);
        }
        running.warm_up(contender, effort, once.seconds)?;
        Ok(running)
    }

    /// Warms up, until a run counts. Slow contenders need none.
    fn warm_up(&mut self, contender: &Contender<'_>, effort: Effort, seconds: f64) -> Result<()> {
        if effort.warm > 0 && seconds < SLOW {
            for _ in 0..=effort.warm {
                self.seconds.clear();
                self.once(contender)?;
            }
        }
        Ok(())
    }

    pub(super) fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Records the time of a run, computed for all samples of the contender.
    fn note(&mut self, contender: &Contender<'_>, mut seconds: f64) {
        if self.samples < contender.samples {
            let each = (seconds - self.few_seconds) / (self.samples - self.few) as f64;
            seconds += each.max(0.0) * (contender.samples - self.samples) as f64;
        }
        self.seconds.push(seconds);
    }

    fn once(&mut self, contender: &Contender<'_>) -> Result<f64> {
        let set = self.turns % contender.sets;
        let once = contender.once(Turn { samples: self.samples, set, checked: false })?;
        self.turns += 1;
        self.note(contender, once.seconds);
        Ok(once.seconds)
    }

    /// Runs once more, unless there are enough runs or the budget is spent.
    pub(super) fn again(&mut self, contender: &Contender<'_>, effort: Effort) -> Result<()> {
        // Of a contender that is cut, the times are those of all samples, its runs shorter.
        let share = self.samples as f64 / contender.samples.max(1) as f64;
        let spent = self.seconds.iter().sum::<f64>() * share;
        if self.seconds.len() < effort.runs && spent < effort.budget {
            self.once(contender)?;
        }
        Ok(())
    }

    pub(super) fn record(mut self, subject: Subject<'_>, contender: &Contender<'_>) -> Record {
        self.seconds.sort_by(f64::total_cmp);
        let runs = self.seconds.len();
        Record {
            cloud: subject.name.to_owned(),
            points: subject.points,
            samples: contender.samples,
            algorithm: self.algorithm,
            requested: contender.name,
            variant: contender.variant.clone(),
            threads: contender.threads,
            seconds: [self.seconds[runs / 2], self.seconds[0], self.seconds[runs - 1]],
            runs,
            measured: self.samples,
            bytes: self.bytes,
            indices: self.indices,
            checksum: self.checksum,
        }
    }
}

/// Runs once on a thread of its own, which has kept no memory from runs before; returns the peak bytes,
/// too.
fn fresh(contender: &Contender<'_>, turn: Turn) -> Result<(Once, usize)> {
    let run = || {
        let (once, bytes) = memory::peak(|| contender.once(turn));
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
