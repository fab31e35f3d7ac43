//! Time limits of steps, and the CPU seconds that they take.

use anyhow::{Result, bail};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Runs a step. One that takes longer than the limit fails; on Linux every process below this one is killed, as only
/// steps start any.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    step: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(step()));
    match receiver.recv_timeout(limit) {
        Ok(result) => result,
        Err(RecvTimeoutError::Disconnected) => bail!("it panicked"),
        Err(RecvTimeoutError::Timeout) => {
            // It may start others when one fails, so that this takes several turns.
            for _ in 0..20 {
                kill(&below(std::process::id(), &processes()));
                let ended = receiver.recv_timeout(Duration::from_millis(250));
                if !matches!(ended, Err(RecvTimeoutError::Timeout)) {
                    break;
                }
            }
            bail!("took longer than {} s", limit.as_secs_f64())
        }
    }
}

/// Returns the CPU seconds of all processes that have ended and were started by this one or by those; Linux only.
pub(crate) fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    // Of children in user and system mode; a tick is 10 ms for programs on every machine.
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

/// Returns all processes with their parents; Linux only.
fn processes() -> Vec<(u32, u32)> {
    let folder = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let found = folder.filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?;
        Some((entry.file_name().to_str()?.parse().ok()?, parent.parse().ok()?))
    });
    found.collect()
}

/// Returns the descendants of a process.
fn below(process: u32, all: &[(u32, u32)]) -> Vec<u32> {
    let mut found = vec![process];
    let mut at = 0;
    while at < found.len() {
        let children = all.iter().filter(|(_, parent)| *parent == found[at]);
        found.extend(children.map(|(id, _)| *id).collect::<Vec<_>>());
        at += 1;
    }
    found.split_off(1)
}

fn kill(processes: &[u32]) {
    let ids: Vec<_> = processes.iter().map(u32::to_string).collect();
    // The shell has it built in.
    let mut kill = Command::new("sh");
    kill.args(["-c", "kill -9 \"$@\"", "kill"]).args(ids);
    _ = kill.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::{below, cpu_seconds, processes, within};
    use crate::process::{output, run};
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn what_is_below_a_process() {
        let all = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 2)];
        assert_eq!(below(2, &all), [3, 6, 4]);
        assert_eq!(below(5, &all), []);
    }

    /// The step runs in a process of its own, whose children are killed.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_step_without_end_is_killed_with_what_it_started() {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--ignored", "--exact", "limits::tests::a_step_without_end"]);
        let begin = Instant::now();
        output(&mut alone).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    #[ignore = "run by another test"]
    fn a_step_without_end() {
        let step = || run(Command::new("sh").args(["-c", "sleep 300 & sleep 300; true"]));
        let late = within(Duration::from_millis(500), step).unwrap_err();
        assert!(late.to_string().starts_with("took longer than 0.5 s"), "{late}");
        assert!(below(std::process::id(), &processes()).is_empty());
    }

    #[test]
    fn a_step_in_time_is_left_alone() {
        assert_eq!(within(Duration::from_secs(60), || Ok(7)).unwrap(), 7);
        assert!(within::<()>(Duration::from_secs(60), || panic!("no step")).is_err());
        assert!(cpu_seconds().is_some() || !cfg!(target_os = "linux"));
    }
}
