//! Summary of a run over many files.

use crate::args::Report;
use crate::output::{count, seconds};
use crate::report;
use crate::text::lines;
use anyhow::Result;
use farpoint_pipeline::{MANIFEST, Row};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Numbers of files by outcome.
pub(super) struct Summary<'a> {
    rows: &'a [Option<Row>],
    manifest: PathBuf,
    done: usize,
    skipped: usize,
    pub(super) failed: usize,
    not_tried: usize,
    seconds: f64,
}

impl<'a> Summary<'a> {
    /// Summarizes a run; `remaining` are the files that needed work when it began.
    pub(super) fn new(
        rows: &'a [Option<Row>],
        remaining: &[usize],
        out: &Path,
        seconds: f64,
    ) -> Self {
        let succeeded = |row: &&Option<Row>| row.as_ref().is_some_and(|row| row.result.is_ok());
        let done = remaining.iter().map(|&k| &rows[k]).filter(succeeded).count();
        let failed = rows.iter().flatten().filter(|row| row.result.is_err()).count();
        Self {
            rows,
            manifest: out.join(MANIFEST),
            done,
            skipped: rows.iter().filter(succeeded).count() - done,
            failed,
            not_tried: rows.iter().filter(|row| row.is_none()).count(),
            seconds,
        }
    }

    /// Returns the points and samples of all finished files.
    fn points(&self) -> (u64, u64) {
        let done = self.rows.iter().flatten().filter_map(|row| row.result.as_ref().ok());
        done.fold((0, 0), |(points, samples), done| (points + done.points, samples + done.samples))
    }

    /// Prints the table, or the JSON object if requested.
    pub(super) fn print(&self, options: &Report) -> Result<()> {
        let (points, samples) = self.points();
        let errors = self.rows.iter().flatten().filter_map(|row| {
            let error = row.result.as_ref().err()?;
            Some(json!({ "input": row.input, "error": error }))
        });
        let object = json!({
            "files": self.rows.len(),
            "done": self.done,
            "skipped": self.skipped,
            "failed": self.failed,
            "not_tried": self.not_tried,
            "points": points,
            "samples": samples,
            "seconds": self.seconds,
            "manifest": self.manifest.display().to_string(),
            "errors": errors.collect::<Vec<_>>(),
        });
        report::print(options, object, &self.table(points, samples), false)
    }

    fn table(&self, points: u64, samples: u64) -> String {
        let rows = [
            ("files", count(self.rows.len())),
            ("done", count(self.done)),
            ("already done", count(self.skipped)),
            ("failed", count(self.failed)),
            ("not tried", count(self.not_tried)),
            ("points", count(points)),
            ("samples", count(samples)),
            ("time", seconds(self.seconds)),
            ("manifest", self.manifest.display().to_string()),
        ];
        lines(&rows, 20)
    }
}
