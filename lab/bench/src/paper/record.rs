//! Measurements of a run, as saved in its folder: a CSV per figure, and `run.json` with the machine and
//! the clouds. Plots and report are made from these files alone, in the run that measured them or later
//! (`--from`).

use super::figure::{Figure, TableRows};
use super::table::Table;
use crate::args::Which;
use anyhow::{Context as _, Result, anyhow, ensure};
use farpoint_cli::csv::csv;
use farpoint_cli::output;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;

/// A measured run.
pub(super) struct Record {
    /// Machine, version and date.
    pub(super) machine: String,
    pub(super) clouds: Vec<About>,
    pub(super) parts: Vec<Part>,
}

/// Description of a cloud.
pub(super) struct About {
    pub(super) name: String,
    pub(super) points: usize,
    /// Source of the cloud, and dropped data.
    pub(super) note: String,
}

/// A figure with its rows.
pub(super) struct Part {
    pub(super) figure: Box<dyn Figure>,
    pub(super) table: Table,
    /// Machine and date of the measurement.
    pub(super) foot: String,
}

const FILE: &str = "run.json";

impl Record {
    /// Returns whether the figure of this name was measured.
    pub(super) fn has(&self, name: &str) -> bool {
        self.parts.iter().any(|part| part.figure.name() == name)
    }

    /// Writes the machine, the clouds and every CSV.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        for part in &self.parts {
            part.write(folder)?;
        }
        let clouds: Vec<_> = self.clouds.iter().map(About::json).collect();
        let feet = self.parts.iter().map(|p| (p.figure.name().to_owned(), json!(p.foot)));
        let figures: Map<_, _> = feet.collect();
        let run = json!({ "machine": self.machine, "clouds": clouds, "figures": figures });
        output::write_file(&folder.join(FILE), format!("{run:#}\n").as_bytes())
    }

    /// Reads the output of `write`: these figures, or all that exist.
    pub(super) fn read(folder: &Path, only: &[Which]) -> Result<Self> {
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).with_context(|| {
            format!("--from {}: no {FILE} of an earlier run is there", folder.display())
        })?;
        let damaged = || anyhow!("{}: can't be read; measure again", path.display());
        let run: Value = serde_json::from_str(&text).map_err(|_| damaged())?;
        let machine = run["machine"].as_str().ok_or_else(damaged)?.to_owned();
        let clouds = run["clouds"].as_array().ok_or_else(damaged)?.iter().map(About::of);
        let clouds = clouds.collect::<Option<_>>().ok_or_else(damaged)?;
        let mut parts = Vec::new();
        for figure in super::figures(only) {
            match run["figures"][figure.name()].as_str() {
                Some(foot) => parts.push(Part::read(folder, figure, foot)?),
                None => ensure!(
                    only.is_empty(),
                    "--from {}: {} is not in this record; remove it of --only",
                    folder.display(),
                    figure.name()
                ),
            }
        }
        Ok(Self { machine, clouds, parts })
    }
}

impl About {
    fn json(&self) -> Value {
        json!({ "name": self.name, "points": self.points, "note": self.note })
    }

    fn of(value: &Value) -> Option<Self> {
        let text = |name: &str| Some(value[name].as_str()?.to_owned());
        let points = value["points"].as_u64()?.try_into().ok()?;
        Some(Self { name: text("name")?, points, note: text("note")? })
    }
}

impl Part {
    /// Writes the CSV.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let table = csv(self.table.head, &self.table.rows);
        let path = folder.join(format!("{}.csv", self.figure.name()));
        output::write_file(&path, table.as_bytes())
    }

    fn read(folder: &Path, figure: Box<dyn Figure>, foot: &str) -> Result<Self> {
        let path = folder.join(format!("{}.csv", figure.name()));
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{}: can't be read; measure again", path.display()))?;
        let mut rows = cells(&text);
        let head = figure.head();
        let found = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
        ensure!(
            found == head && rows.iter().all(|row| row.len() == head.len()),
            "{}: its columns are not those of this version ({}); measure again",
            path.display(),
            head.join(",")
        );
        Ok(Self { table: Table { head, rows }, figure, foot: foot.to_owned() })
    }
}

/// Parses the cells of a CSV file. Text in quotes may hold commas, line ends and doubled quotes.
fn cells(text: &str) -> TableRows {
    let (mut rows, mut row, mut cell) = (TableRows::new(), Vec::new(), String::new());
    let (mut quoted, mut letters) = (false, text.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            letter => cell.push(letter),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let rows: TableRows = [["1", "a, \"b\""], ["", "two\nlines"], ["x", ""]]
            .map(|row| row.map(str::to_owned).to_vec())
            .into();
        let text = csv(&["n", "s"], &rows);
        assert_eq!(cells(&text)[0], ["n", "s"]);
        assert_eq!(cells(&text)[1..], rows);
        assert!(cells("").is_empty());
    }
}
