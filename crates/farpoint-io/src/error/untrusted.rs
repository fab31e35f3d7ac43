//! Untrusted text from files and names: shown to people, and put into documents.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns text that a terminal shows and does not obey: line breaks and tabs become spaces, other control characters
/// and those that turn the direction of writing become escapes such as `\u{1b}`.
///
/// ```
/// assert_eq!(farpoint_io::printable("a\x1b[2J\nb"), "a\\u{1b}[2J b");
/// assert_eq!(farpoint_io::printable("Höhe"), "Höhe");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => out.push(' '),
            // Writing to a String cannot fail.
            c if is_unsafe(c) => drop(write!(out, "{}", c.escape_unicode())),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Returns true if a terminal acts on the character instead of showing it.
fn is_unsafe(c: char) -> bool {
    let is_bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || is_bidi || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns true if XML can hold the text as character data that is not escaped (`CDATA`).
pub(crate) fn fits_xml(text: &str) -> bool {
    let fits = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().all(fits) && !text.contains("]]>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            printable("\x1b]0;x\x07\u{9b}31m\x7f\0"),
            "\\u{1b}]0;x\\u{7}\\u{9b}31m\\u{7f}\\u{0}"
        );
        assert_eq!(printable("a\u{202e}b\r\n\tc\u{2028}"), "a\\u{202e}b   c ");
        let twice = printable("\x1b").into_owned();
        assert_eq!(printable(&twice), twice);
        assert!(matches!(printable("Größe \u{1f600} \\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn characters_outside_xml_are_found() {
        assert!(fits_xml("GEOGCS[\"Höhe\", ]]\t\r\n\u{1f600} <&>"));
        for invalid in ["a\0", "\u{1}", "\u{fffe}", "\u{ffff}", "a]]>b", "\x1b"] {
            assert!(!fits_xml(invalid), "{invalid:?}");
        }
    }
}
