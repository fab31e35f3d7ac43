//! Report of a record: plots, `report.html`, and `verdicts.md`, the tables that `docs/development/paper.md` quotes.
//! Nothing is measured here.

use super::figure::{TableRows, row};
use super::record::Record;
use super::statements::{AGREES, claim_rows, claims, summary};
use super::{coverage, html};
use anyhow::Result;
use farpoint_cli::output;
use std::fmt::Write;
use std::path::Path;

/// Writes plots, page and verdicts into a folder.
pub(super) fn write(record: &Record, folder: &Path) -> Result<()> {
    for part in &record.parts {
        for (name, sheet) in part.figure.plots(&part.table, &part.foot) {
            output::write_file(&folder.join(format!("{name}.svg")), sheet.svg()?.as_bytes())?;
        }
    }
    output::write_file(&folder.join("verdicts.md"), verdicts(record).as_bytes())?;
    output::write_file(&folder.join("report.html"), html::page(record)?.as_bytes())
}

/// Returns the tables of `docs/development/paper.md`.
fn verdicts(record: &Record) -> String {
    let claims: Vec<_> = record.parts.iter().flat_map(claims).collect();
    let rows = claim_rows(&claims).into_iter().map(|cells| match &cells[..] {
        [statement, rule, found, verdict, remarks] if verdict != AGREES && verdict != "verdict" => {
            row([statement, rule, found, format!("**{verdict}**. {remarks}").trim()])
        }
        cells => cells[..4].to_vec(),
    });
    let statements: TableRows = rows.collect();
    let mut text = format!("Measured on {}. {}\n\n", record.machine, summary(record));
    markdown(&mut text, &statements);
    text.push('\n');
    markdown(&mut text, &coverage::rows(record));
    text
}

/// Writes a table whose first row names the columns. Writing into a string can't fail.
fn markdown(text: &mut String, rows: &TableRows) {
    for (k, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        if k == 0 {
            let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
        }
    }
}
