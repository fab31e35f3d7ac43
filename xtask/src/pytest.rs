//! Running pytest and reading its report: what was skipped, and whether anything ran.

use crate::process::show;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Runs pytest, passing its report on, and gives the reasons for which it skipped tests. A run that takes
/// longer than the limit is ended and fails, as does one of no test.
pub(crate) fn run_pytest(command: &mut Command, limit: Duration) -> Result<Vec<String>> {
    let deadline = Instant::now() + limit;
    let mut child = command.stdout(Stdio::piped()).spawn().context("can't start pytest")?;
    let lines = lines_of(&mut child)?;
    let mut report = Report::default();
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => report.read(line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill()?;
                child.wait()?;
                bail!("{} took longer than {} s", show(command), limit.as_secs());
            }
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "{} ({status})", show(command));
    ensure!(report.passed > 0, "{} ran no test", show(command));
    Ok(report.skipped.into_iter().collect())
}

/// Its lines, read by a thread, so that waiting for one can end.
fn lines_of(child: &mut Child) -> Result<Receiver<String>> {
    let lines = BufReader::new(child.stdout.take().context("no standard output")?).lines();
    let (sender, receiver) = channel();
    thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
    Ok(receiver)
}

/// What a report said so far.
#[derive(Default)]
struct Report {
    passed: usize,
    /// Many tests are skipped for one reason.
    skipped: BTreeSet<String>,
}

impl Report {
    fn read(&mut self, line: String) {
        match line.strip_prefix("SKIPPED ").and_then(|skip| skip.split_once(": ")) {
            Some((_, reason)) => drop(self.skipped.insert(reason.to_owned())),
            None => {
                self.passed += passed(&line);
                println!("{line}");
            }
        }
    }
}

/// The number in a last line such as `1 failed, 12 passed, 3 skipped in 4.05s`.
fn passed(line: &str) -> usize {
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|word| *word == "passed");
    at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Report, passed, run_pytest};
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn reports_are_read() {
        let mut report = Report::default();
        for line in ["SKIPPED [2] a.py:3: no Open3D", "SKIPPED [1] b.py:4: no Open3D", ".."] {
            report.read(line.into());
        }
        report.read("12 passed, 3 skipped in 4.05s".into());
        assert_eq!(report.passed, 12);
        assert_eq!(report.skipped.into_iter().collect::<Vec<_>>(), ["no Open3D"]);
        assert_eq!(passed("1 failed, 12 passed in 4.05s"), 12);
        assert_eq!(passed("3 skipped in 4.05s"), 0);
    }

    #[test]
    fn a_run_of_no_test_fails_and_so_does_one_without_end() {
        let second = Duration::from_secs(1);
        assert!(run_pytest(Command::new("echo").arg("3 skipped in 4.05s"), second).is_err());
        assert!(run_pytest(Command::new("echo").arg("1 passed in 4.05s"), second).is_ok());
        let late = run_pytest(Command::new("sleep").arg("60"), second / 10).unwrap_err();
        assert!(late.to_string().contains("longer"), "{late}");
    }
}
