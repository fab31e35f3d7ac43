//! Whole numbers in a file: rows of a cloud, or a mask over them.

use crate::error::{Error, ParseError, Place};
use crate::format::Format;
use crate::{bytes::load, bytes::memory, formats::npy};
use std::fs::File;
use std::path::Path;

/// Reads whole numbers from a file: an array `(n,)` of integers or bool in NPY, or text with numbers separated by
/// blanks, commas or lines. Text after `#` on a line is a comment.
///
/// # Errors
/// [`Error::Read`] if the file cannot be read, [`Error::Malformed`] if it has other content.
pub fn read_numbers(path: &Path) -> Result<Vec<i64>, Error> {
    let name = path.display().to_string();
    let fail = |source| Error::Read { name: name.clone(), source };
    let mut file = File::open(path).map_err(fail)?;
    let length = file.metadata().map_err(fail)?.len();
    memory::require(&name, length)?;
    let bytes = load::read_all(&mut file, length, &name, &|_| Ok(()))?;
    let (found, format) = match bytes.starts_with(b"\x93NUMPY") {
        true => (npy::numbers(&bytes), Format::Npy),
        false => (text(&bytes), Format::Text),
    };
    found.map_err(|error| error.named(&name, format))
}

fn text(bytes: &[u8]) -> Result<Vec<i64>, ParseError> {
    let mut found = Vec::new();
    for (k, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
        let wrong = |word: &str| {
            let word: String = word.chars().take(30).collect();
            let what = format!("'{word}' is not a whole number");
            ParseError::new(what)
                .at(Place::Line(k + 1))
                .fix("use whole numbers, or an array in NPY")
        };
        let line = std::str::from_utf8(line).map_err(|_| wrong("\u{fffd}"))?;
        let words = line.split(|c: char| c.is_whitespace() || c == ',');
        for word in words.filter(|word| !word.is_empty()) {
            found.push(word.parse().map_err(|_| wrong(word))?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_text() {
        assert_eq!(text(b"1 2,3\n# none\n -4 # four\r\n\n").unwrap(), [1, 2, 3, -4]);
        assert!(text(b"").unwrap().is_empty());
        for (wrong, line) in [("1\n2.5", 2), ("one", 1), ("1\n\n99999999999999999999", 3)] {
            let error = text(wrong.as_bytes()).unwrap_err();
            assert_eq!(error.at, Some(Place::Line(line)), "{wrong}");
        }
        assert!(text(b"1 \xff").is_err());
    }

    #[test]
    fn numbers_of_arrays() {
        let header = |kind: &str, shape: &str| {
            let mut text =
                format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
            text.push_str(&" ".repeat(117 - text.len()));
            text.push('\n');
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text.bytes());
            bytes
        };
        let of =
            |kind, shape, values: &[u8]| npy::numbers(&[&header(kind, shape), values].concat());
        assert_eq!(of("<i4", "(2,)", &[1, 0, 0, 0, 255, 255, 255, 255]).unwrap(), [1, -1]);
        assert_eq!(of(">u2", "(2,)", &[1, 0, 0, 7]).unwrap(), [256, 7]);
        assert_eq!(of("|b1", "(3,)", &[1, 0, 1]).unwrap(), [1, 0, 1]);
        assert!(of("<u8", "(1,)", &[255; 8]).is_err());
        assert!(of("<f4", "(1,)", &[0; 4]).is_err());
        assert!(of("<i4", "(1, 1)", &[0; 4]).is_err());
        assert!(of("<i4", "(2,)", &[0; 7]).is_err());
        assert!(npy::numbers(b"\x93NUMPY").is_err());
    }
}
