//! Calls that need all of the card, several at once: from up to five threads on streams of their own, with priorities,
//! behind a kernel that fills the card, and from three processes. None may wait for another forever, and each must
//! return the CPU's result.

use crate::calls::{Call, WAITING, Work};
use crate::clouds::Cloud;
use crate::resident::{Expected, Resident};
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::{Context, Result};
use farpoint::{Algorithm, Sampler};
use farpoint_cuda::{Gpu, Stream};
use farpoint_generate::Kind;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// Rows of the clouds: enough for all blocks of a card.
const ROWS: usize = 150_000;

/// Stream priorities, by thread: the least and the most urgent among them.
const PRIORITIES: [i32; 5] = [0, -5, -1, 0, -2];

/// Calls of each thread.
const ROUNDS: usize = 5;

/// Concurrent processes, and the time limit of all of them, with opening the card and compilation by
/// the driver.
const PROCESSES: usize = 3;
const LIMIT: Duration = Duration::from_secs(100);

/// Names of concurrent calls: two to four of one kind, and all kinds.
fn sets(part: &str) -> Vec<Vec<&str>> {
    let mut sets: Vec<_> = (2..=4).map(|calls| vec![part; calls]).collect();
    sets.push(WAITING.to_vec());
    sets
}

pub(crate) fn groups() -> Vec<Group> {
    vec![threads(), processes()]
}

/// Input of the calls, and a filler of the card before them.
struct Works {
    works: Vec<Work>,
    filler: Expected<f32>,
}

/// Clouds, rows and samples of the filler: two blocks for each multiprocessor of a large card, some
/// milliseconds each.
const FILLER: [usize; 3] = [264, 2_048, 512];

impl Works {
    fn new() -> Result<Self> {
        let works = WAITING.iter().map(|name| Work::new(name, ROWS, 11)).collect::<Result<_>>()?;
        let [clouds, rows, samples] = FILLER;
        let clouds: Vec<_> =
            (0..clouds as u64).map(|seed| Cloud::of(Kind::Room, rows, seed)).collect();
        Ok(Self { works, filler: Expected::new(&clouds, samples)? })
    }

    fn of(&self, name: &str) -> &Work {
        let index = WAITING.iter().position(|kernel| *kernel == name).expect("a kernel that waits");
        &self.works[index]
    }

    /// Runs calls concurrently, each from a thread of its own.
    fn run(&self, device: &Gpu, set: &[&str], tally: &mut Tally) -> Result<()> {
        let stream = Stream::new(device)?;
        let sampler = Sampler::count(FILLER[2]).algorithm(Algorithm::Naive);
        let mut filler =
            Resident::new(&stream, [FILLER[0], FILLER[1], 3], FILLER[2], Some(&sampler))?;
        filler.write(&self.filler.data)?;
        // One more than the callers, for the thread that queues the filler.
        let barrier = Barrier::new(set.len() + 1);
        let begin = Instant::now();
        let filler_result = thread::scope(|scope| -> Result<_> {
            let callers: Vec<_> = set
                .iter()
                .zip(PRIORITIES)
                .map(|(name, priority)| {
                    let barrier = &barrier;
                    scope.spawn(move || self.calls(device, name, priority, set, barrier))
                })
                .collect();
            let mut filler_result = Ok(());
            for _ in 0..ROUNDS {
                // The callers wait for it: it continues whatever happened.
                filler_result =
                    filler_result.and_then(|()| filler.enqueue(device, &stream, &sampler));
                barrier.wait();
            }
            for caller in callers {
                tally.add(caller.join().map_err(|_| anyhow::anyhow!("a caller panicked"))?);
            }
            Ok(filler_result)
        })?;
        tally.take("the filler", filler_result);
        tally.check(format!("the filler beside {}", set.join(", ")), filler.compare(&self.filler)?);
        let seconds = begin.elapsed().as_secs_f64();
        tally.is(format!("{}: {seconds:.1} s", set.join(", ")), begin.elapsed() < LIMIT);
        Ok(())
    }

    /// The calls of one thread; the barrier is reached in every round, whatever fails.
    fn calls(
        &self,
        device: &Gpu,
        name: &str,
        priority: i32,
        set: &[&str],
        barrier: &Barrier,
    ) -> Tally {
        let mut tally = Tally::default();
        let call_and_stream = Stream::with_priority(device, priority)
            .and_then(|stream| Ok((Call::new(name, &stream, self.of(name))?, stream)));
        let call_and_stream = tally.take(name, call_and_stream);
        for round in 0..ROUNDS {
            let label = format!("{name} beside {}, round {round}", set.join(", "));
            barrier.wait();
            let Some((call, stream)) = &call_and_stream else { continue };
            let result = call.enqueue(device, stream).and_then(|()| {
                stream.synchronize()?;
                call.compare()
            });
            match result {
                Ok(same) => tally.check(label, same),
                Err(error) => tally.error(label, &error),
            }
        }
        tally
    }
}

/// From threads.
fn threads() -> Group {
    Group::new("two to four calls at once, from threads", WAITING, || {
        let works = Works::new()?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            sets(part).iter().try_for_each(|set| works.run(device, set, tally))
        })
    })
    .heavy()
}

/// Runs as one of several processes: calls of all kinds, from a thread each.
pub(crate) fn run_as_process() -> Result<bool> {
    let works = Works::new()?;
    let device = Gpu::new(0)?;
    let mut tally = Tally::default();
    for _ in 0..2 {
        works.run(&device, WAITING, &mut tally)?;
    }
    println!("{} comparisons, {} failed", tally.runs, tally.failed);
    tally.failures.iter().for_each(|failure| println!("{failure}"));
    Ok(tally.failed == 0 && tally.runs > 0)
}

/// From three processes.
fn processes() -> Group {
    Group::new("calls at once, from three processes", &[""], || {
        Ok(|_: &Gpu, _: &str, tally: &mut Tally| {
            let program = std::env::current_exe()?;
            let start = || {
                let mut command = Command::new(&program);
                command.arg("concurrent").stdout(Stdio::piped()).stderr(Stdio::piped());
                Ok(Running(command.spawn().context("the program does not start itself")?))
            };
            let processes = (0..PROCESSES).map(|_| start()).collect::<Result<Vec<_>>>()?;
            let deadline = Instant::now() + LIMIT;
            for (index, process) in processes.into_iter().enumerate() {
                tally.check(format!("process {index}"), process.end(deadline)?);
            }
            Ok(())
        })
    })
}

/// A process that ends with its owner.
struct Running(Child);

impl Running {
    /// Waits until the process has ended, or kills it at the deadline; its output is the reason of a failure.
    fn end(mut self, deadline: Instant) -> Result<Result<(), String>> {
        let status = loop {
            match self.0.try_wait()? {
                Some(status) => break Some(status),
                None if Instant::now() >= deadline => break None,
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        if status.is_some_and(|status| status.success()) {
            return Ok(Ok(()));
        }
        let _ = self.0.kill();
        let mut output = String::new();
        if let Some(mut pipe) = self.0.stdout.take() {
            let _ = pipe.read_to_string(&mut output);
        }
        if let Some(mut pipe) = self.0.stderr.take() {
            let _ = pipe.read_to_string(&mut output);
        }
        let status_text =
            status.map_or_else(|| "not finished in time".into(), |status| status.to_string());
        Ok(Err(format!("{status_text}: {}", output.trim())))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Running {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running(command.spawn().unwrap())
    }

    #[test]
    fn failing_and_hanging_processes_are_failures() {
        let deadline = || Instant::now() + Duration::from_millis(300);
        assert_eq!(shell("exit 0").end(deadline() + LIMIT).unwrap(), Ok(()));
        let failed = shell("echo wrong; exit 3").end(deadline() + LIMIT).unwrap().unwrap_err();
        assert!(failed.contains('3') && failed.contains("wrong"), "{failed}");
        let hanging = shell("exec sleep 1000").end(deadline()).unwrap().unwrap_err();
        assert!(hanging.contains("not finished"), "{hanging}");
    }

    #[test]
    fn two_three_and_four_calls_are_concurrent() {
        for part in WAITING {
            let sizes: Vec<_> = sets(part).iter().map(Vec::len).collect();
            assert_eq!(sizes, [2, 3, 4, WAITING.len()]);
            assert!(sizes.iter().all(|size| *size <= PRIORITIES.len()));
        }
    }
}
