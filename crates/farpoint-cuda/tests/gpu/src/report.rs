//! Record of a run: what libtest does not report, above all the number of comparisons.

use crate::machine::Machine;
use crate::tally::Tally;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::Path;

/// A test that ran to its end.
pub(crate) struct Line {
    pub(crate) group: String,
    pub(crate) part: &'static str,
    pub(crate) tally: Tally,
    pub(crate) seconds: f64,
}

/// All completed tests.
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) command: String,
    pub(crate) lines: Vec<Line>,
    /// Tests that failed without completing.
    pub(crate) panicked: usize,
    pub(crate) seconds: f64,
}

impl Line {
    fn word(&self) -> &'static str {
        let Tally { runs, failed, refusals, .. } = &self.tally;
        match (failed, runs, refusals.len()) {
            (1.., _, _) => "FAIL",
            (0, 0, 1..) => "not supported",
            _ => "ok",
        }
    }
}

impl Report {
    pub(crate) fn new(command: String) -> Self {
        Self { machine: Machine::detect(), command, lines: Vec::new(), panicked: 0, seconds: 0.0 }
    }

    /// Counts the tests with this outcome.
    fn count(&self, word: &str) -> usize {
        self.lines.iter().filter(|line| line.word() == word).count()
    }

    /// Counts the tests that failed on completion.
    pub(crate) fn failed(&self) -> usize {
        self.count("FAIL")
    }

    /// Summarizes the run in one line.
    pub(crate) fn summary(&self) -> String {
        let comparisons: usize = self.lines.iter().map(|line| line.tally.runs).sum();
        format!(
            "{} checks with {comparisons} comparisons: {} ok, {} failed, {} not supported, in \
             {:.0} s",
            self.lines.len() + self.panicked,
            self.count("ok"),
            self.failed() + self.panicked,
            self.count("not supported"),
            self.seconds
        )
    }

    /// Writes a record in Markdown.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        write_file(path, &self.markdown())
    }

    fn markdown(&self) -> String {
        let (machine, command, summary) = (&self.machine, &self.command, self.summary());
        let mut text = format!("# Tests on a GPU\n\n{machine}\n\n`{command}`\n\n**{summary}**\n\n");
        for Line { group, part, tally, .. } in &self.lines {
            if let Some(failure) = tally.failure() {
                let _ = writeln!(text, "```text\n{group}, {part}: {failure}\n```\n");
            }
        }
        text.push_str("| checks | results (comparisons) | seconds | |\n|---|---|---:|---|\n");
        for lines in self.lines.chunk_by(|a, b| a.group == b.group) {
            let result =
                |line: &Line| format!("{} {} ({})", line.part, line.word(), line.tally.runs);
            let results: Vec<_> = lines.iter().map(result).collect();
            let seconds: f64 = lines.iter().map(|line| line.seconds).sum();
            let remarks = |line: &Line| {
                let Tally { notes, refusals, .. } = &line.tally;
                let refusals = refusals.iter().map(|text| format!("{}: {text}", line.part));
                notes.iter().cloned().chain(refusals).collect::<Vec<_>>()
            };
            let notes: Vec<_> = lines.iter().flat_map(remarks).collect();
            let (group, results, notes) = (&lines[0].group, results.join(", "), notes.join("; "));
            let _ = writeln!(text, "| {group} | {} | {seconds:.2} | {notes} |", results.trim());
        }
        text
    }
}

/// Writes a file, and creates its folder if necessary.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text).with_context(|| format!("can't write {}", path.display()))
}
