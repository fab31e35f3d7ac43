//! Numbers in texts: also NaN and infinity as other compilers print them, and values that are missing.

/// Spellings of a missing value, besides an empty one.
const MISSING: [&str; 9] = ["-", "na", "n/a", "#na", "#n/a", "<na>", "null", "none", "nil"];

/// Parses a number; NaN and infinity also as C libraries print them: `-nan(ind)`, `nan(0x7ff)`, `1.#QNAN`, `-1.#INF00`.
pub(crate) fn number(token: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(token).ok()?;
    text.parse().ok().or_else(|| special(text))
}

/// Like [`number`]; NaN for a value that is missing: an empty one, `NA`, `null`, `-`.
pub(crate) fn value(token: &[u8]) -> Option<f64> {
    let missing = || MISSING.iter().any(|word| token.eq_ignore_ascii_case(word.as_bytes()));
    number(token).or_else(|| (token.is_empty() || missing()).then_some(f64::NAN))
}

fn special(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let plain = text.strip_prefix(['-', '+']).unwrap_or(&text);
    if let Some(rest) = plain.strip_prefix("nan") {
        let payload = rest.starts_with('(') && rest.ends_with(')');
        return (payload || matches!(rest, "q" | "s")).then_some(f64::NAN);
    }
    // Windows rounds the letters, too: `1.#J` is `1.#INF` or `1.#IND` with two digits.
    let rest = plain.strip_prefix("1.#").or(plain.strip_prefix("1,#"))?;
    let infinite = rest.starts_with("inf");
    let known = infinite
        || ["ind", "qnan", "snan", "nan", "j", "r", "io", "q", "s"]
            .iter()
            .any(|word| rest.trim_end_matches('0') == *word);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    known.then_some(if infinite { sign * f64::INFINITY } else { f64::NAN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_compilers_write_nan_and_infinity() {
        for text in ["nan", "-NaN", "-nan(ind)", "nan(snan)", "nan(0x8000000000000)", "NaNQ"] {
            assert!(number(text.as_bytes()).is_some_and(f64::is_nan), "{text}");
        }
        for text in ["1.#QNAN", "-1.#IND", "1.#IND00", "-1.#SNAN", "1.#J", "1,#QNAN", "1.#R"] {
            assert!(number(text.as_bytes()).is_some_and(f64::is_nan), "{text}");
        }
        for text in ["inf", "+Infinity", "INF", "1.#INF", "1.#INF00"] {
            assert_eq!(number(text.as_bytes()), Some(f64::INFINITY), "{text}");
        }
        assert_eq!(number(b"-1.#INF"), Some(f64::NEG_INFINITY));
        assert_eq!(number(b"-1.5e3"), Some(-1500.0));
    }

    #[test]
    fn missing_values_are_no_words() {
        for text in ["", "-", "NA", "n/a", "null", "NULL", "None", "#N/A", "<NA>"] {
            assert!(number(text.as_bytes()).is_none(), "{text}");
            assert!(value(text.as_bytes()).is_some_and(f64::is_nan), "{text}");
        }
        for text in ["nancy", "nano", "1.#", "1.#TREE", "--", "ground", "1.2.3", "n"] {
            assert_eq!(value(text.as_bytes()), None, "{text}");
        }
    }
}
