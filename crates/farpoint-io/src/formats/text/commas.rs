//! Decimal commas, which become points where they are no separators.

use super::lines::{has_decimal_commas, is_comment, is_labeled, numbers, spans};
use std::borrow::Cow;

/// The most lines that are looked at.
const CHECKED_LINES: usize = 1000;

/// Returns whether numbers have decimal commas: a line has no numbers otherwise, and one of the commas cannot
/// separate thousands.
pub(super) fn are_decimal(bytes: &[u8]) -> bool {
    let lines = spans(bytes).map(|(start, end)| &bytes[start..end]);
    let lines = lines.filter(|line| !is_comment(line)).take(CHECKED_LINES);
    let mut found = false;
    for line in lines.filter(|line| line.contains(&b',')) {
        if numbers(line) >= 3 || is_labeled(line) {
            return false;
        }
        let mut tokens = line.split(|b| *b == b';' || b.is_ascii_whitespace());
        found |= has_decimal_commas(line) && tokens.any(is_decimal);
    }
    found
}

/// Returns whether a number has a comma that is decimal, unlike that of `1,250`.
fn is_decimal(token: &[u8]) -> bool {
    let token = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    let Some(comma) = token.iter().position(|&b| b == b',') else { return false };
    let (whole, fraction) = (&token[..comma], &token[comma + 1..]);
    let digits = fraction.iter().position(|b| !b.is_ascii_digit()).unwrap_or(fraction.len());
    let plain = whole.iter().all(u8::is_ascii_digit) && !fraction[digits..].contains(&b',');
    plain && digits > 0 && (digits != 3 || !(1..=3).contains(&whole.len()) || whole[0] == b'0')
}

/// Replaces commas before digits by points.
pub(super) fn with_points(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let mut bytes = bytes.into_owned();
    for at in 1..bytes.len() {
        if bytes[at - 1] == b',' && bytes[at].is_ascii_digit() {
            bytes[at - 1] = b'.';
        }
    }
    Cow::Owned(bytes)
}
