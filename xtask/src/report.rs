//! Running tests and reading their report: skipped tests, and the number that ran.

use crate::process::show;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Set to 1, tests of Rust draw many cases.
pub(crate) const THOROUGH: &str = "FARPOINT_THOROUGH";

/// Runs `cargo test` or pytest, passing its report on, and returns the reasons for which tests were skipped: the lines
/// `skipped: ...` that tests of Rust print, and those of pytest with `-rs`. A run of no test is a failure.
pub(crate) fn run_tests(command: &mut Command) -> Result<Vec<String>> {
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("can't start: {}", show(command)))?;
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
    Ok(report.skipped.into_iter().collect())
}

/// State of a report.
#[derive(Default)]
struct Report {
    passed: usize,
    /// Many tests are skipped for one reason.
    skipped: BTreeSet<String>,
    /// Set within the output of tests of Rust that passed.
    inside_successes: bool,
}

impl Report {
    /// Reads a line; returns the part to pass on.
    fn read(&mut self, line: &str) -> Option<String> {
        self.inside_successes = match line {
            "successes:" => true,
            "failures:" => false,
            _ => self.inside_successes && !line.starts_with("test result:"),
        };
        if let Some((_, reason)) =
            line.strip_prefix("SKIPPED ").and_then(|skip| skip.split_once(": "))
        {
            self.skipped.insert(reason.to_owned());
            return None;
        }
        if let Some(what) = line.trim_start().strip_prefix("skipped: ") {
            self.skipped.insert(what.to_owned());
            return Some(format!("skipped: {what}"));
        }
        if self.inside_successes {
            return None;
        }
        self.passed += passed(line);
        Some(line.to_owned())
    }
}

/// Returns the number in a last line such as `test result: ok. 12 passed; 0 failed` or `1 failed, 12 passed in 4.05s`.
fn passed(line: &str) -> usize {
    if !line.starts_with("test result: ok.") && !line.contains(" in ") {
        return 0;
    }
    let words: Vec<&str> =
        line.split([' ', ',', ';', '=']).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|word| *word == "passed");
    at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Report, passed, run_tests};
    use std::process::Command;

    #[test]
    fn reports_of_cargo_are_read() {
        let mut report = Report::default();
        let lines = "running 2 tests\ntest a ... ok\nsuccesses:\n---- a stdout ----\nskipped: x (y)\n\
                     noise of 7 passed\n\ntest result: ok. 2 passed; 0 failed\ntest result: ok. 3 passed; 0 failed";
        let passed_on: Vec<_> = lines.lines().filter_map(|line| report.read(line)).collect();
        assert_eq!((report.passed, report.skipped.len()), (5, 1));
        assert!(!passed_on.iter().any(|line| line.contains("noise")), "{passed_on:?}");
        assert!(passed_on.iter().any(|line| line == "skipped: x (y)"));
    }

    #[test]
    fn reports_of_pytest_are_read() {
        let mut report = Report::default();
        for line in ["SKIPPED [2] a.py:3: no Open3D", "SKIPPED [1] b.py:4: no Open3D", ".."] {
            report.read(line);
        }
        report.read("12 passed, 3 skipped in 4.05s");
        assert_eq!(report.passed, 12);
        assert_eq!(report.skipped.into_iter().collect::<Vec<_>>(), ["no Open3D"]);
        assert_eq!(passed("=== 1 failed, 12 passed in 4.05s ==="), 12);
        assert_eq!(passed("3 skipped in 4.05s"), 0);
    }

    #[test]
    fn a_run_of_no_test_fails() {
        let report_of = |text: &str| run_tests(Command::new("echo").arg(text));
        for nothing in ["test result: ok. 0 passed; 0 failed", "3 skipped in 4.05s", ""] {
            assert!(report_of(nothing).is_err(), "{nothing}");
        }
        assert!(report_of("test result: ok. 1 passed; 0 failed").unwrap().is_empty());
        assert!(report_of("1 passed in 4.05s").is_ok());
    }
}
