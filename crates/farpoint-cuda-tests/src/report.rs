//! What the checks found: lines on the terminal, a record in Markdown or JSON.

use crate::machine::Machine;
use crate::tally::Tally;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fmt::{self, Write};
use std::path::Path;

/// How a check ended.
pub(crate) struct Outcome {
    tally: Tally,
    seconds: f64,
}

/// A check and its end.
pub(crate) struct Line {
    pub(crate) group: String,
    pub(crate) part: &'static str,
    pub(crate) outcome: Outcome,
}

/// All of it.
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) command: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) seconds: f64,
}

impl Outcome {
    pub(crate) fn new(tally: Tally, seconds: f64) -> Self {
        Self { tally, seconds }
    }

    fn word(&self) -> &'static str {
        let Tally { runs, failed, refusals, .. } = &self.tally;
        match (failed, runs, refusals.len()) {
            (1.., _, _) => "FAIL",
            (0, 0, 1..) => "not supported",
            _ => "ok",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { runs, failed, failures, notes, refusals, .. } = &self.tally;
        write!(f, "{:<4} {:>7.2} s {runs:>5} runs", self.word(), self.seconds)?;
        for note in notes {
            write!(f, "; {note}")?;
        }
        for text in refusals {
            write!(f, "\n     not supported: {text}")?;
        }
        for failure in failures {
            write!(f, "\n     {failure}")?;
        }
        match failed - failures.len() {
            0 => Ok(()),
            more => write!(f, "\n     and {more} more"),
        }
    }
}

impl Report {
    pub(crate) fn new(command: String) -> Self {
        Self { machine: Machine::here(), command, lines: Vec::new(), seconds: 0.0 }
    }

    pub(crate) fn passed(&self) -> bool {
        self.lines.iter().all(|line| line.outcome.word() != "FAIL")
    }

    /// Checks that ended so.
    fn count(&self, word: &str) -> usize {
        self.lines.iter().filter(|line| line.outcome.word() == word).count()
    }

    /// One line that says it all.
    pub(crate) fn summary(&self) -> String {
        let comparisons: usize = self.lines.iter().map(|line| line.outcome.tally.runs).sum();
        format!(
            "{} checks with {comparisons} comparisons: {} ok, {} failed, {} not supported, in \
             {:.0} s",
            self.lines.len(),
            self.count("ok"),
            self.count("FAIL"),
            self.count("not supported"),
            self.seconds
        )
    }

    /// Writes a record; the file's name says in which format.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let json = path.extension().is_some_and(|extension| extension == "json");
        let text = if json { format!("{:#}\n", self.json()) } else { self.markdown() };
        write_file(path, &text)
    }

    fn json(&self) -> Value {
        let line = |line: &Line| {
            let Tally { runs, failed, failures, notes, refusals, .. } = &line.outcome.tally;
            json!({
                "group": line.group, "part": line.part, "result": line.outcome.word(),
                "seconds": line.outcome.seconds, "runs": runs, "failed": failed,
                "failures": failures, "notes": notes, "not_supported": refusals,
            })
        };
        json!({
            "machine": self.machine.json(),
            "command": self.command,
            "passed": self.passed(),
            "summary": self.summary(),
            "checks": self.lines.iter().map(line).collect::<Vec<_>>(),
        })
    }

    fn markdown(&self) -> String {
        let mut text = format!(
            "# Tests on a GPU\n\n{}\n\n`{}`\n\n**{}**\n\n",
            self.machine,
            self.command,
            self.summary()
        );
        let wrong = self.lines.iter().filter(|line| line.outcome.word() != "ok");
        for line in wrong {
            let _ =
                writeln!(text, "```text\n{}, {}: {}\n```\n", line.group, line.part, line.outcome);
        }
        text.push_str("| checks | results (comparisons) | seconds | |\n|---|---|---:|---|\n");
        for lines in self.lines.chunk_by(|a, b| a.group == b.group) {
            let result = |line: &Line| {
                let Outcome { tally, .. } = &line.outcome;
                format!("{} {} ({})", line.part, line.outcome.word(), tally.runs)
            };
            let results: Vec<_> = lines.iter().map(result).collect();
            let seconds: f64 = lines.iter().map(|line| line.outcome.seconds).sum();
            let remarks = |line: &Line| {
                let Tally { notes, refusals, .. } = &line.outcome.tally;
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

/// Writes a file, its folder too.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text).with_context(|| format!("can't write {}", path.display()))
}
