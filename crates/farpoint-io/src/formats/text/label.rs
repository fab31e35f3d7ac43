//! Texts without a header whose first column numbers or labels the points, as in surveyors' PNEZD
//! (point, northing, easting, elevation, description). Taken as x it would be silently wrong.

use super::lines::parse;
use crate::cloud::table::{Split, Tokens};
use crate::error::ParseError;

/// The fewest lines that are conclusive.
const MIN_LINES: usize = 3;

/// Refuses lines whose first of at least four columns does not look like x.
pub(super) fn refuse<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    columns: usize,
) -> Result<(), ParseError> {
    let mut labels = Labels::new(columns);
    // The first line mostly shows that it is none.
    lines.take_while(|line| labels.add(line)).for_each(drop);
    labels.refuse()
}

/// Returns the error for a line of a name followed by numbers.
pub(super) fn named(line: &[u8]) -> ParseError {
    let label = Tokens::new(line, Split::Any).next().unwrap_or_default();
    let label: String = String::from_utf8_lossy(label).chars().take(24).collect();
    let what = format!("there is no header, and the first column is a name, '{label}'");
    ParseError::new(what).fix(advice())
}

fn advice() -> String {
    "set the columns of x, y and z with `xyz`: 2,3,4; or 3,2,4 if northing comes before \
     easting; or 1,2,3 if the first is x"
        .into()
}

/// Facts about the first column in the lines of a text file without a header.
pub(super) struct Labels {
    columns: usize,
    count: i64,
    first: i64,
    counts_up: bool,
    decimals: [bool; 3],
    described: bool,
    /// True if all were whole numbers so far.
    whole: bool,
}

impl Labels {
    pub(super) fn new(columns: usize) -> Labels {
        let (decimals, described, whole) = ([false; 3], columns > 4, columns >= 4);
        Labels { columns, count: 0, first: 0, counts_up: true, decimals, described, whole }
    }

    /// Adds the next line; returns whether more can matter.
    pub(super) fn add(&mut self, line: &[u8]) -> bool {
        if !self.whole {
            return false;
        }
        let mut tokens = Tokens::new(line, Split::Any).take(self.columns);
        let Some(label) = tokens.next().and_then(whole) else {
            self.whole = false;
            return false;
        };
        if self.count == 0 {
            self.first = label;
        }
        self.counts_up &= label.checked_sub(self.first) == Some(self.count);
        for decimal in &mut self.decimals {
            *decimal |= tokens.next().is_some_and(|t| parse(t).is_some() && whole(t).is_none());
        }
        self.described &= tokens.last().is_some_and(|t| parse(t).is_none());
        self.count += 1;
        true
    }

    /// Refuses whole numbers without a decimal point in the first column that count the lines, or precede three
    /// columns with decimals, or a description at the end.
    pub(super) fn refuse(&self) -> Result<(), ParseError> {
        let labels = self.counts_up || self.described || self.decimals == [true; 3];
        if !(self.whole && self.count >= MIN_LINES as i64 && labels) {
            return Ok(());
        }
        let what =
            "there is no header, and the first column looks like a number or label of the point";
        Err(ParseError::new(what).fix(advice()))
    }
}

/// Parses a number of digits alone.
fn whole(token: &[u8]) -> Option<i64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}
