//! Harness for all times, on the CPU and on a GPU: contenders for the same work run interleaved; each
//! yields a median with its range, memory and a checksum, and all exact ones must agree.

mod contender;
mod cpu;
mod memory;
mod running;

pub(crate) use contender::{Contender, Once, Turn};
pub(crate) use cpu::{Case, OnCpu, baseline, generated, repeated};
pub(crate) use memory::Counted;

use anyhow::{Result, ensure};
use running::Running;

/// Subject of a measurement: a cloud, or a batch of clouds.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) name: &'a str,
    pub(crate) points: usize,
}

/// Effort of a measurement.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Warm-up runs. Without them the first run counts.
    pub(crate) warm: usize,
    /// Number of runs of which the median is taken.
    pub(crate) runs: usize,
    /// Seconds for one contender, beyond the first run.
    pub(crate) budget: f64,
}

/// Measurements of a contender.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) cloud: String,
    pub(crate) points: usize,
    pub(crate) samples: usize,
    /// The algorithm that ran: never auto.
    pub(crate) algorithm: &'static str,
    /// The algorithm that was requested.
    pub(crate) requested: &'static str,
    pub(crate) variant: String,
    pub(crate) threads: usize,
    /// Median, smallest and largest time of the runs.
    pub(crate) seconds: [f64; 3],
    pub(crate) runs: usize,
    /// Number of samples actually chosen; fewer than `samples` if the time was computed.
    pub(crate) measured: usize,
    /// Peak bytes in use beyond the input (on a GPU: of scratch memory, or as reported by the run).
    pub(crate) bytes: usize,
    /// The chosen indices, of the first input.
    pub(crate) indices: Vec<usize>,
    /// FNV-1a of the measured indices, of all inputs.
    pub(crate) checksum: u64,
}

impl Record {
    pub(crate) fn median(&self) -> f64 {
        self.seconds[0]
    }

    /// Returns whether the time was computed from a part of the samples.
    pub(crate) fn computed(&self) -> bool {
        self.measured < self.samples
    }

    /// Seconds (median, fastest, slowest), runs, samples measured and bytes, as cells of a table.
    pub(crate) fn cells(&self) -> impl Iterator<Item = String> {
        let whole = [self.runs, self.measured, self.bytes].map(|number| number.to_string());
        self.seconds.map(|seconds| format!("{seconds:.9}")).into_iter().chain(whole)
    }

    pub(crate) fn bytes_per_point(&self) -> f64 {
        self.bytes as f64 / self.points.max(1) as f64
    }
}

/// Runs the contenders in turn, so that all meet the same machine, and checks them against each other.
pub(crate) fn measure(
    subject: Subject<'_>,
    contenders: &[Contender<'_>],
    effort: Effort,
) -> Result<Vec<Record>> {
    let mut running = Vec::with_capacity(contenders.len());
    for contender in contenders {
        running.push(Running::start(contender, effort)?);
    }
    agree(subject, contenders, &running)?;
    for _ in 1..effort.runs {
        for (running, contender) in running.iter_mut().zip(contenders) {
            running.again(contender, effort)?;
        }
    }
    Ok(running
        .into_iter()
        .zip(contenders)
        .map(|(running, contender)| running.record(subject, contender))
        .collect())
}

/// Runs one contender alone, for machines whose caches other contenders would empty.
pub(crate) fn measure_alone(
    subject: Subject<'_>,
    contender: &Contender<'_>,
    effort: Effort,
) -> Result<Record> {
    let mut running = Running::start(contender, effort)?;
    for _ in 1..effort.runs {
        running.again(contender, effort)?;
    }
    Ok(running.record(subject, contender))
}

/// Returns an error if an exact contender's indices differ from the longest one's.
fn agree(subject: Subject<'_>, contenders: &[Contender<'_>], running: &[Running]) -> Result<()> {
    let exact = || contenders.iter().zip(running).filter(|(contender, _)| contender.exact);
    let longest = exact().map(|(_, running)| running.indices()).max_by_key(|i| i.len());
    for (contender, running) in exact() {
        let indices = running.indices();
        let same = longest.is_none_or(|longest| longest[..indices.len()] == *indices);
        ensure!(
            same,
            "{} {} gives other indices than its rivals on {}; please report this as a bug",
            contender.name,
            contender.variant,
            subject.name
        );
    }
    Ok(())
}

/// FNV-1a over the bytes of numbers.
pub(crate) fn checksum(numbers: impl Iterator<Item = u64>) -> u64 {
    checksum_from(0xcbf2_9ce4_8422_2325, numbers)
}

/// Continues an FNV-1a checksum.
fn checksum_from(hash: u64, numbers: impl Iterator<Item = u64>) -> u64 {
    numbers
        .flat_map(u64::to_le_bytes)
        .fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EFFORT: Effort = Effort { warm: 0, runs: 5, budget: 1.0 };
    const SUBJECT: Subject<'_> = Subject { name: "a cloud", points: 10 };

    /// A contender that takes `seconds` per sample and chooses the first rows.
    fn contender(name: &'static str, samples: usize, seconds: f64) -> Contender<'static> {
        Contender::new(name, samples, move |turn| {
            let indices = (0..turn.samples).collect();
            let seconds = 0.001 + seconds * turn.samples as f64;
            Ok(Once { indices, seconds, algorithm: name, bytes: Some(7) })
        })
    }

    #[test]
    fn exact_contenders_must_agree() {
        let other = Contender::new("b", 4, |turn| {
            let indices = (0..turn.samples).rev().collect();
            Ok(Once { indices, seconds: 0.1, algorithm: "b", bytes: None })
        });
        let contenders = [contender("a", 9, 0.0), other];
        let error = measure(SUBJECT, &contenders, EFFORT).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("b  gives other indices")));
        let [first, second] = contenders;
        assert!(measure(SUBJECT, &[first, second.approximate()], EFFORT).is_ok());
    }

    #[test]
    fn linear_contenders_are_cut_and_computed() {
        let records =
            measure(SUBJECT, &[contender("a", 1_000_000, 1e-5).linear(true)], EFFORT).unwrap();
        let record = &records[0];
        assert!(record.computed() && record.measured >= 1024, "{}", record.measured);
        assert!((record.median() - 10.001).abs() < 1e-6, "{}", record.median());
        assert_eq!((record.bytes, record.indices.len()), (7, record.measured));
        let whole = measure_alone(SUBJECT, &contender("a", 1_000_000, 1e-5), EFFORT).unwrap();
        assert!(!whole.computed() && whole.runs == 1, "one run is all its budget");
    }

    #[test]
    fn every_input_is_checked_once() {
        let checked = std::sync::Mutex::new(Vec::new());
        let contender = Contender::new("a", 2, |turn| {
            if turn.checked {
                checked.lock().unwrap().push(turn.set);
            }
            let indices = if turn.checked { vec![turn.set; 2] } else { Vec::new() };
            Ok(Once { indices, seconds: 0.001, algorithm: "a", bytes: None })
        });
        let effort = Effort { warm: 2, ..EFFORT };
        let record = measure_alone(SUBJECT, &contender.sets(3), effort).unwrap();
        assert_eq!((record.runs, record.indices), (5, vec![0, 0]));
        assert_eq!(record.checksum, super::checksum([0, 0, 1, 1, 2, 2].into_iter()));
        assert_eq!(*checked.lock().unwrap(), [0, 1, 2]);
    }
}
