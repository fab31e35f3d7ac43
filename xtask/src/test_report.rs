//! Running `cargo test` and reading its report: what was skipped, and whether anything ran.

use crate::process::show;
use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs tests, passing their report on, and collects the lines `skipped: ...` that tests
/// print when something they need is absent. (Output of passing tests is otherwise left out.)
/// A run of no test is a failure.
pub(crate) fn run_tests(command: &mut Command) -> Result<Vec<String>> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("can't start cargo")?;
    let lines = BufReader::new(child.stdout.take().context("no standard output")?).lines();
    let mut report = Report::default();
    for line in lines {
        if let Some(line) = report.read(&line?) {
            println!("{line}");
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{} ({status})", show(command));
    }
    ensure!(report.passed > 0, "{} ran no test", show(command));
    report.skipped.sort();
    report.skipped.dedup();
    Ok(report.skipped)
}

/// What a report said so far.
#[derive(Default)]
struct Report {
    passed: usize,
    skipped: Vec<String>,
    inside_successes: bool,
}

impl Report {
    /// Reads a line; what of it is to be passed on.
    fn read(&mut self, line: &str) -> Option<String> {
        self.inside_successes = match line {
            "successes:" => true,
            "failures:" => false,
            _ => self.inside_successes && !line.starts_with("test result:"),
        };
        if let Some(passed) = line.strip_prefix("test result: ok. ") {
            self.passed += passed.split(' ').next().map_or(0, |word| word.parse().unwrap_or(0));
        }
        if let Some(what) = line.trim_start().strip_prefix("skipped: ") {
            self.skipped.push(what.to_owned());
            return Some(format!("skipped: {what}"));
        }
        (!self.inside_successes).then(|| line.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, run_tests};
    use std::process::Command;

    #[test]
    fn reports_are_read() {
        let mut report = Report::default();
        let lines = "running 2 tests\ntest a ... ok\nsuccesses:\n---- a stdout ----\nskipped: x (y)\n\
                     noise\n\ntest result: ok. 2 passed; 0 failed\ntest result: ok. 3 passed; 0 failed";
        let passed_on: Vec<_> = lines.lines().filter_map(|line| report.read(line)).collect();
        assert_eq!((report.passed, report.skipped.len()), (5, 1));
        assert!(!passed_on.iter().any(|line| line.contains("noise")), "{passed_on:?}");
        assert!(passed_on.iter().any(|line| line == "skipped: x (y)"));
    }

    #[test]
    fn a_run_of_no_test_fails() {
        let says = |text: &str| run_tests(Command::new("echo").arg(text));
        assert!(says("test result: ok. 0 passed; 0 failed").is_err());
        assert!(says("").is_err());
        assert!(says("test result: ok. 1 passed; 0 failed").unwrap().is_empty());
    }
}
