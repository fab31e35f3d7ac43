//! Tables on stdout, CSV and SVG in the output folder.

use super::Bench;
use crate::plot::Sheet;
use crate::timing::Record;
use anyhow::Result;
use farpoint_cli::csv::csv;
use farpoint_cli::output::{self, number, seconds};

const COLUMNS: [&str; 20] = [
    "part",
    "cloud",
    "points",
    "samples",
    "asked",
    "algorithm",
    "variant",
    "threads",
    "seconds",
    "fastest",
    "slowest",
    "runs",
    "samples_measured",
    "peak_bytes",
    "bytes_per_point",
    "checksum",
    "cpu",
    "cores",
    "simd",
    "date",
];

impl Bench<'_> {
    /// Prints a heading and a table; the first row names the columns.
    pub(super) fn table(&self, title: &str, rows: &[Vec<String>]) -> Result<()> {
        output::print(&format!("\n{title}\n{}", output::table(rows)))
    }

    /// Writes `part.csv`, one line per record.
    pub(super) fn csv(&self, part: &str, records: &[Record]) -> Result<()> {
        let lines: Vec<_> = records.iter().map(|record| self.line(part, record)).collect();
        self.rows(part, &COLUMNS, &lines)
    }

    fn line(&self, part: &str, record: &Record) -> Vec<String> {
        let mut cells = vec![
            part.to_owned(),
            record.cloud.clone(),
            record.points.to_string(),
            record.samples.to_string(),
            record.requested.to_string(),
            record.algorithm.to_string(),
            record.variant.clone(),
            record.threads.to_string(),
        ];
        cells.extend(record.cells());
        cells.extend([
            format!("{:.1}", record.bytes_per_point()),
            format!("{:016x}", record.checksum),
            self.machine.cpu.clone(),
            self.machine.cores.to_string(),
            self.machine.simd.to_string(),
            self.machine.date.clone(),
        ]);
        cells
    }

    /// Writes any table as `part.csv`.
    pub(super) fn rows(&self, part: &str, head: &[&str], rows: &[Vec<String>]) -> Result<()> {
        let Some(folder) = &self.args.output else { return Ok(()) };
        output::write_file(&folder.join(format!("{part}.csv")), csv(head, rows).as_bytes())
    }

    /// Writes `name.svg`.
    pub(super) fn plot(&self, name: &str, plot: &Sheet) -> Result<()> {
        match &self.args.output {
            Some(folder) => {
                output::write_file(&folder.join(format!("{name}.svg")), plot.svg()?.as_bytes())
            }
            None => Ok(()),
        }
    }
}

/// Formats the median time, marked if it was computed.
pub(super) fn time(record: &Record) -> String {
    format!("{}{}", seconds(record.median()), if record.computed() { "*" } else { "" })
}

/// Formats the speed-up over a baseline.
pub(super) fn times(base: &Record, record: &Record) -> String {
    let mark = if base.computed() || record.computed() { "*" } else { "" };
    format!("{}x{mark}", number(base.median() / record.median()))
}

/// A row of a table.
pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}
