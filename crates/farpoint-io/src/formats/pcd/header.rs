//! The header of PCD, versions 0.5 to 0.7. (The crate that reads PCD parses it by regular expressions, whose
//! engine took a twentieth of the build.)

use crate::cloud::column::NumberType;
use crate::cloud::header::DataKind;
use crate::error::ParseError;
use std::collections::{HashMap, HashSet};
use std::str::FromStr;

/// A field of the points.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: NumberType,
    pub(super) count: u64,
}

/// The entries of a header.
pub(super) struct Meta {
    pub(super) width: u64,
    pub(super) height: u64,
    pub(super) points: u64,
    pub(super) data: DataKind,
    pub(super) fields: Vec<Field>,
    /// Names of fields without a value, which are not there (as in PCL).
    pub(super) empty: Vec<String>,
}

impl Meta {
    /// Parses the lines of a header. Entries may come in any order; of a repeated one the last counts, and
    /// unknown ones are skipped.
    pub(super) fn parse(lines: &[Vec<u8>]) -> Result<Self, ParseError> {
        let text: Vec<_> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
        let mut entries = Entries(HashMap::new());
        for line in &text {
            let mut words = line.split('#').next().unwrap_or_default().split_ascii_whitespace();
            if let Some(key) = words.next() {
                entries.0.insert(key.to_ascii_uppercase(), words.collect());
            }
        }
        let version = match entries.one("VERSION")? {
            "0.7" | ".7" => 7,
            "0.6" | ".6" => 6,
            "0.5" | ".5" => 5,
            other => return Err(header_error(format!("version {other:?} is not 0.5, 0.6 or 0.7"))),
        };
        let data = match entries.one("DATA")? {
            "ascii" => DataKind::Ascii,
            "binary" => DataKind::Binary,
            "binary_compressed" if version == 7 => DataKind::BinaryCompressed,
            other => {
                return Err(header_error(format!(
                    "DATA {other:?} of version 0.{version} is unknown"
                )));
            }
        };
        if let Some(pose) = entries.0.get("VIEWPOINT")
            && (pose.len() != 7 || pose.iter().any(|word| word.parse::<f64>().is_err()))
        {
            return Err(header_error("VIEWPOINT is not seven numbers".into()));
        }
        let (fields, empty): (Vec<_>, Vec<_>) =
            entries.fields()?.into_iter().partition(|field| field.count > 0);
        Ok(Self {
            width: entries.number("WIDTH")?,
            height: entries.number("HEIGHT")?,
            points: entries.number("POINTS")?,
            data,
            fields,
            empty: empty.into_iter().map(|field| field.name).collect(),
        })
    }
}

/// The words of each entry, by its name in capitals.
struct Entries<'a>(HashMap<String, Vec<&'a str>>);

impl<'a> Entries<'a> {
    fn words(&self, key: &str) -> Result<&[&'a str], ParseError> {
        let words = self.0.get(key).ok_or_else(|| header_error(format!("there is no {key}")))?;
        if words.is_empty() { Err(header_error(format!("{key} is empty"))) } else { Ok(words) }
    }

    fn one(&self, key: &str) -> Result<&'a str, ParseError> {
        match self.words(key)? {
            [word] => Ok(word),
            words => Err(header_error(format!("{key} has {} values instead of one", words.len()))),
        }
    }

    fn number(&self, key: &str) -> Result<u64, ParseError> {
        number(key, self.one(key)?)
    }

    fn fields(&self) -> Result<Vec<Field>, ParseError> {
        // COLUMNS is its name in versions before 0.7.
        let key = if self.0.contains_key("FIELDS") { "FIELDS" } else { "COLUMNS" };
        let names = self.words(key)?;
        let mut taken = HashSet::new();
        // Padding may repeat.
        if let Some(again) = names.iter().find(|name| **name != "_" && !taken.insert(**name)) {
            return Err(header_error(format!("there are two fields {again:?}")));
        }
        let (sizes, types) = (self.words("SIZE")?, self.words("TYPE")?);
        let ones = vec!["1"; names.len()];
        let counts = if self.0.contains_key("COUNT") { self.words("COUNT")? } else { &ones };
        for (key, words) in [("SIZE", sizes), ("TYPE", types), ("COUNT", counts)] {
            if words.len() != names.len() {
                let (words, names) = (words.len(), names.len());
                return Err(header_error(format!("{key} has {words} values for {names} fields")));
            }
        }
        let field = |at: usize| {
            let count = number("COUNT", counts[at])?;
            Ok(Field { name: names[at].into(), kind: kind(types[at], sizes[at])?, count })
        };
        (0..names.len()).map(field).collect()
    }
}

fn number<N: FromStr>(key: &str, word: &str) -> Result<N, ParseError> {
    word.parse().map_err(|_| header_error(format!("{key} {word:?} is not a whole number")))
}

fn kind(letter: &str, size: &str) -> Result<NumberType, ParseError> {
    Ok(match (letter, number::<u64>("SIZE", size)?) {
        ("U", 1) => NumberType::U8,
        ("U", 2) => NumberType::U16,
        ("U", 4) => NumberType::U32,
        ("U", 8) => NumberType::U64,
        ("I", 1) => NumberType::I8,
        ("I", 2) => NumberType::I16,
        ("I", 4) => NumberType::I32,
        ("I", 8) => NumberType::I64,
        ("F", 4) => NumberType::F32,
        ("F", 8) => NumberType::F64,
        (letter, size) => {
            return Err(header_error(format!(
                "fields of TYPE {letter:?} and SIZE {size} are unknown"
            )));
        }
    })
}

fn header_error(what: String) -> ParseError {
    ParseError::new(format!("header: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Meta, ParseError> {
        Meta::parse(&text.lines().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>())
    }

    const GOOD: &str = "# .PCD\nVERSION .7\nfields x y _ _\nSIZE 4 8 1 2\nTYPE F F U I\nCOUNT 1 0 3 1\n\
                        WIDTH 2 # two\nHEIGHT 3\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 6\nCOLOR red\nDATA binary";

    #[test]
    fn headers_are_read() {
        let meta = parse(GOOD).unwrap();
        assert_eq!((meta.width, meta.height, meta.points), (2, 3, 6));
        assert_eq!(meta.data, DataKind::Binary);
        let fields: Vec<_> = meta.fields.iter().map(|f| (&*f.name, f.kind, f.count)).collect();
        let expected =
            [("x", NumberType::F32, 1), ("_", NumberType::U8, 3), ("_", NumberType::I16, 1)];
        assert_eq!(fields, expected);
        assert_eq!(meta.empty, ["y"]);
        assert!(parse(&GOOD.replace("COUNT 1 0 3 1\n", "")).is_ok_and(|m| m.fields[2].count == 1));
        assert!(parse(&GOOD.replace("fields", "COLUMNS")).is_ok());
    }

    #[test]
    fn damaged_headers_are_refused() {
        for (good, damaged) in [
            ("VERSION .7\n", ""),
            ("VERSION .7", "VERSION 0.8"),
            ("VERSION .7", "VERSION"),
            ("x y", "x x"),
            ("x y", "x"),
            ("SIZE 4", "SIZE 3"),
            ("SIZE 4", "SIZE four"),
            ("TYPE F", "TYPE f"),
            ("COUNT 1", "COUNT -1"),
            ("WIDTH 2", "WIDTH 2 3"),
            ("WIDTH 2", "WIDTH"),
            ("POINTS 6", "POINTS 99999999999999999999"),
            ("0 0 0 1", "0 0 0"),
            ("0 0 0 1", "0 0 0 q"),
            ("binary", "text"),
        ] {
            assert!(parse(&GOOD.replacen(good, damaged, 1)).is_err(), "{damaged}");
        }
        let old = GOOD.replace(".7", "0.6");
        assert!(parse(&old).is_ok());
        assert!(parse(&old.replace("binary", "binary_compressed")).is_err());
    }
}
