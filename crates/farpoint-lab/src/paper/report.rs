//! From a record to what people read: plots, `report.html`, and `verdicts.md`, the tables that
//! `docs/paper.md` quotes. Nothing is measured here.

use super::claim::{Claim, Verdict};
use super::figure::{Rows, row};
use super::record::{Part, Record};
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

/// How many statements agree, differ and can't be compared, in words.
pub(super) fn summary(record: &Record) -> String {
    let claims = || record.parts.iter().flat_map(claims);
    let of = |kind: &str| claims().filter(|claim| word(&claim.verdict()) == kind).count();
    format!(
        "Of {} statements of the paper {} agree, {} differ and {} cannot be compared.",
        claims().count(),
        of(AGREES),
        of(DIFFERS),
        of(INCOMPARABLE)
    )
}

pub(super) fn claims(part: &Part) -> Vec<Claim> {
    part.figure.claims(&part.table)
}

const AGREES: &str = "agrees";
const DIFFERS: &str = "differs";
const INCOMPARABLE: &str = "cannot be compared";

/// A verdict as it is printed everywhere.
pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => AGREES,
        Verdict::Differs => DIFFERS,
        Verdict::Incomparable(_) => INCOMPARABLE,
    }
}

/// A table of some statements, the first row naming the columns.
pub(super) fn claim_rows(claims: &[Claim]) -> Rows {
    let head = row(["the paper says", "rule", "found here", "verdict", "what to know"]);
    let line = |claim: &Claim| {
        vec![
            format!("{} ({})", claim.says().trim_end_matches('.'), claim.at()),
            claim.rule(),
            claim.found(),
            word(&claim.verdict()).to_owned(),
            claim.remarks(),
        ]
    };
    std::iter::once(head).chain(claims.iter().map(line)).collect()
}

/// The tables of `docs/paper.md`.
fn verdicts(record: &Record) -> String {
    let claims: Vec<_> = record.parts.iter().flat_map(claims).collect();
    let rows = claim_rows(&claims).into_iter().map(|cells| match &cells[..] {
        [says, rule, found, verdict, remarks] if verdict != AGREES && verdict != "verdict" => {
            row([says, rule, found, format!("**{verdict}**. {remarks}").trim()])
        }
        cells => cells[..4].to_vec(),
    });
    let statements: Rows = rows.collect();
    let mut text = format!("Measured on {}. {}\n\n", record.machine, summary(record));
    markdown(&mut text, &statements);
    text.push('\n');
    markdown(&mut text, &coverage::rows(record));
    text
}

/// A table whose first row names the columns. Writing into a string can't fail.
fn markdown(text: &mut String, rows: &Rows) {
    for (k, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        if k == 0 {
            let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
        }
    }
}
