//! The lines of a text file and the numbers in them.

use crate::cloud::number;
pub(super) use crate::cloud::number::number as parse;
use crate::cloud::table::{Split, Tokens};
use crate::error::{ParseError, Place};
use std::ops::Range;

/// Spreadsheets put these bytes in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns whether the bytes look like lines of numbers; decides for files with an unknown extension.
pub(crate) fn looks_like_points(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    let whole = head.len() == bytes.len();
    let text = head.iter().all(|&b| b >= 32 || matches!(b, b'\t' | b'\n' | b'\r'));
    let mut lines: Vec<&[u8]> = head.split(|&b| b == b'\n' || b == b'\r').collect();
    if !whole {
        lines.pop();
    }
    text && lines.iter().any(|line| !is_comment(line) && is_point(line))
}

fn is_point(line: &[u8]) -> bool {
    numbers(line) >= 3 || is_labeled(line) || has_decimal_commas(line)
}

pub(super) fn is_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"#") || line.starts_with(b"//")
}

/// Returns the number of leading values that are numbers.
pub(super) fn numbers(line: &[u8]) -> usize {
    Tokens::new(line, Split::Any).take_while(|t| parse(t).is_some()).count()
}

/// Returns whether three numbers follow a first value that is none.
pub(super) fn is_labeled(line: &[u8]) -> bool {
    let mut tokens = Tokens::new(line, Split::Any);
    let label = tokens.next().is_some_and(|t| parse(t).is_none());
    label && tokens.take(3).filter(|t| parse(t).is_some()).count() == 3
}

pub(super) fn whole_number(line: &[u8]) -> Option<usize> {
    std::str::from_utf8(line.trim_ascii()).ok()?.parse().ok()
}

pub(super) fn words(line: &[u8], split: Split) -> Vec<String> {
    Tokens::new(line, split).map(|t| String::from_utf8_lossy(t).into_owned()).collect()
}

/// Returns the ranges of the lines, without line ends and byte order mark.
pub(super) fn spans(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let start = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    spans_within(bytes, start..bytes.len())
}

/// Returns the lines of a range that starts with one.
pub(super) fn spans_within(
    bytes: &[u8],
    range: Range<usize>,
) -> impl Iterator<Item = (usize, usize)> {
    let mut start = range.start;
    bytes[range].split(|&b| b == b'\n').map(move |line| {
        let span = (start, start + line.len() - usize::from(line.ends_with(b"\r")));
        start += line.len() + 1;
        span
    })
}

/// Returns x, y and z of a line, from these columns; NaN for a missing value.
pub(super) fn point(line: &[u8], axes: [usize; 3]) -> Option<[f64; 3]> {
    let mut point = [None; 3];
    let last = axes.iter().max().map_or(0, |last| last + 1);
    for (i, token) in Tokens::new(line, Split::Any).take(last).enumerate() {
        if let Some(axis) = axes.iter().position(|&a| a == i) {
            point[axis] = number::value(token);
        }
    }
    let [x, y, z] = point;
    Some([x?, y?, z?])
}

/// Refuses a line within which another point follows a lone carriage return.
pub(super) fn check_returns(line: &[u8], at: impl Fn() -> Place) -> Result<(), ParseError> {
    let hides = |line: &[u8]| line.split(|&b| b == b'\r').skip(1).any(|part| numbers(part) >= 3);
    if !line.contains(&b'\r') || !hides(line) {
        return Ok(());
    }
    let what =
        "a point follows after a carriage return alone, where other lines end with a line feed";
    Err(ParseError::new(what).at(at()).fix("end all lines alike"))
}

pub(super) fn bad_line(number: usize, line: &[u8], axes: [usize; 3]) -> ParseError {
    let shown: String = String::from_utf8_lossy(line).chars().take(40).collect();
    let what = match axes {
        [0, 1, 2] => format!("'{shown}' does not start with x, y and z"),
        axes => {
            let [x, y, z] = axes.map(|a| a + 1);
            format!("'{shown}' has no numbers in the columns {x}, {y} and {z}")
        }
    };
    ParseError::new(what).at(Place::Line(number)).fix(match has_decimal_commas(line) {
        true => DECIMAL_COMMAS,
        false => "put one point on each line, a header in the first line only, comments after '#'",
    })
}

/// Advice for numbers such as `1,5`.
pub(super) const DECIMAL_COMMAS: &str =
    "write numbers with a decimal point; these commas may separate values, or thousands";

/// Returns whether a line has three numbers as soon as commas are decimal points.
pub(super) fn has_decimal_commas(line: &[u8]) -> bool {
    let pointed: Vec<u8> = line.iter().map(|&b| if b == b',' { b'.' } else { b }).collect();
    line.contains(&b',') && (numbers(&pointed) >= 3 || is_labeled(&pointed))
}
