//! Texts without a header whose first column numbers or labels the points, as in surveyors' PNEZD
//! (point, northing, easting, elevation, description). Taken as x it would be silently wrong.

use super::lines::parse;
use crate::error::Fault;
use crate::table::{Split, Tokens};

/// The fewest lines that show anything.
const FEWEST: usize = 3;

/// Refuses lines whose first of at least four columns does not look like x.
pub(super) fn refuse<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    columns: usize,
) -> Result<(), Fault> {
    if columns < 4 || !looks_labeled(lines, columns) {
        return Ok(());
    }
    let what = "there is no header, and the first column looks like a number or label of the point";
    Err(Fault::new(what).fix(advice()))
}

/// The error for a line that starts with a name and goes on with numbers.
pub(super) fn named(line: &[u8]) -> Fault {
    let label = Tokens::new(line, Split::Any).next().unwrap_or_default();
    let label: String = String::from_utf8_lossy(label).chars().take(24).collect();
    let what =
        format!("there is no header, and the first column is a name, '{}'", label.escape_debug());
    Fault::new(what).fix(advice())
}

fn advice() -> String {
    "give the columns of x, y and z by --xyz (in Python: xyz=): 2,3,4; or 3,2,4 if northing comes before \
     easting; or 1,2,3 if the first is x"
        .into()
}

/// Whole numbers without a decimal point in the first column that count the lines, or stand beside
/// three columns with decimals, or before a description at the end.
fn looks_labeled<'a>(lines: impl Iterator<Item = &'a [u8]>, columns: usize) -> bool {
    let (mut count, mut first, mut counts_up) = (0, 0, true);
    let (mut decimals, mut described) = ([false; 3], columns > 4);
    for line in lines {
        let mut tokens = Tokens::new(line, Split::Any).take(columns);
        let Some(label) = tokens.next().and_then(whole) else { return false };
        if count == 0 {
            first = label;
        }
        counts_up &= label.checked_sub(first) == Some(count);
        for decimal in &mut decimals {
            *decimal |= tokens.next().is_some_and(|t| parse(t).is_some() && whole(t).is_none());
        }
        described &= tokens.last().is_some_and(|t| parse(t).is_none());
        count += 1;
    }
    count >= FEWEST as i64 && (counts_up || described || decimals == [true; 3])
}

/// A number of digits alone.
fn whole(token: &[u8]) -> Option<i64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}
