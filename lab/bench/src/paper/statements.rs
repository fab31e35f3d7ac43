//! The paper's statements with their verdicts, as rows and in numbers, for every form of the report.

use super::claim::{Claim, Verdict};
use super::figure::{TableRows, row};
use super::record::{Part, Record};

/// Describes how many statements agree, differ and can't be compared.
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

/// Returns the statements about a figure.
pub(super) fn claims(part: &Part) -> Vec<Claim> {
    part.figure.claims(&part.table)
}

pub(super) const AGREES: &str = "agrees";
const DIFFERS: &str = "differs";
const INCOMPARABLE: &str = "cannot be compared";

/// Returns the text of a verdict in all outputs.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => AGREES,
        Verdict::Differs => DIFFERS,
        Verdict::Incomparable(_) => INCOMPARABLE,
    }
}

/// Returns a table of some statements, the first row naming the columns.
pub(super) fn claim_rows(claims: &[Claim]) -> TableRows {
    let head = row(["the paper says", "rule", "found here", "verdict", "what to know"]);
    let line = |claim: &Claim| {
        vec![
            format!("{} ({})", claim.statement().trim_end_matches('.'), claim.at()),
            claim.rule(),
            claim.found(),
            word(&claim.verdict()).to_owned(),
            claim.remarks(),
        ]
    };
    std::iter::once(head).chain(claims.iter().map(line)).collect()
}
