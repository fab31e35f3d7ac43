//! Numbers as people write them: lengths with a unit, fractions in percent, counts with separators, amounts of memory.

use std::fmt;
use std::str::FromStr;

/// A count: `10000`, `10,000`, `10_000`, `10k`, `1.5M`, `1e4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) usize);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = |expected: &str| format!("use {expected} such as 10000, 10,000, 10k or 1e4");
        let (digits, thousands) = match text.as_bytes().last() {
            Some(b'k' | b'K') => (&text[..text.len() - 1], 3),
            Some(b'M') => (&text[..text.len() - 1], 6),
            _ => (text, 0),
        };
        let plain = ungrouped(digits).ok_or_else(|| advice("a whole number"))?;
        if let (Ok(count), 0) = (plain.parse(), thousands) {
            return Ok(Self(count));
        }
        let number = plain.parse::<f64>().map_err(|_| advice("a whole number"))?;
        let number = number * 10f64.powi(thousands);
        if number > 0.0 && number < 1.0 {
            return Err(format!("use a whole number, or --ratio {text} for a fraction"));
        }
        // Beyond 2^53 a double is no longer every whole number.
        let is_whole = number.fract() == 0.0 && (0.0..=9e15).contains(&number);
        is_whole
            .then_some(Self(number as usize))
            .ok_or_else(|| advice("a whole number of at least 0,"))
    }
}

/// Returns the digits without `_` and without commas, which must stand before groups of three.
fn ungrouped(text: &str) -> Option<String> {
    let starts = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    let (first, rest) = text.split_once(',').unwrap_or((text, ""));
    let grouped = |part: &str| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let groups = match text.contains(',') {
        true => (1..=3).contains(&first.len()) && rest.split(',').all(grouped),
        false => true,
    };
    (starts && groups && !text.ends_with('_')).then(|| text.replace(['_', ','], ""))
}

/// A fraction: `0.25` or `25%`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio(pub(crate) f64);

impl FromStr for Ratio {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = || "use a fraction such as 0.25 or 25%".to_owned();
        match text.strip_suffix('%') {
            Some(percent) => Ok(Self(percent.trim().parse::<f64>().map_err(|_| advice())? / 100.0)),
            None => text.parse().map(Self).map_err(|_| advice()),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number of bytes: `512MiB`, `8GiB`, `8G`, `1e9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

/// Units and their bytes; a letter alone is binary, as in other tools.
const UNITS: [(&str, f64); 15] = [
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("k", 1024.0),
    ("K", 1024.0),
    ("M", 1_048_576.0),
    ("G", 1_073_741_824.0),
    ("T", 1_099_511_627_776.0),
    ("B", 1.0),
];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = || "use an amount of memory such as 512MiB, 8GiB or 8G".to_owned();
        let unit = UNITS.into_iter().find(|(ending, _)| text.ends_with(ending));
        let (ending, bytes) = unit.unwrap_or(("", 1.0));
        let number: f64 =
            text[..text.len() - ending.len()].trim_end().parse().map_err(|_| advice())?;
        let size = number * bytes;
        if (1.0..=1e18).contains(&size) { Ok(Self(size as u64)) } else { Err(advice()) }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

pub(crate) use farpoint_pipeline::Length;

/// Size of the cells of a grid: `5cm`, or one for each axis, `0.2,0.2,0.1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CellSize(pub(crate) [Length; 3]);

impl FromStr for CellSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lengths: Vec<Length> = text
            .split(',')
            .map(|part| part.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|error| format!("{error}, or three of them: 0.2,0.2,0.1"))?;
        match lengths[..] {
            [all] => Ok(Self([all; 3])),
            [x, y, z] => Ok(Self([x, y, z])),
            _ => Err(format!("{} lengths; use one, or three: 0.2,0.2,0.1", lengths.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for text in ["10000", "10,000", "10_000", "10k", "10K", "1e4", "0.01M", "1E4", "+10000"] {
            assert_eq!(text.parse(), Ok(Count(10_000)), "{text}");
        }
        assert_eq!("1.5M".parse(), Ok(Count(1_500_000)));
        assert_eq!("9007199254740993".parse(), Ok(Count(9_007_199_254_740_993)));
        for text in
            ["many", "-5", "", "k", "1,00", "10,00", ",100", "1.5", "inf", "nan", "1_", "-1k"]
        {
            let error = text.parse::<Count>().unwrap_err();
            assert!(error.starts_with("use") && error.contains("10,000"), "{error}");
        }
        assert!("0.25".parse::<Count>().unwrap_err().contains("--ratio 0.25"));
    }

    #[test]
    fn ratios() {
        assert_eq!("10%".parse(), Ok(Ratio(0.1)));
        assert_eq!("12.5 %".parse(), Ok(Ratio(0.125)));
        assert_eq!("0.25".parse(), Ok(Ratio(0.25)));
        assert_eq!("150%".parse(), Ok(Ratio(1.5)));
        assert!("a quarter".parse::<Ratio>().unwrap_err().contains("25%"));
        assert!("%".parse::<Ratio>().is_err());
    }

    #[test]
    fn cells() {
        let meters =
            |text: &str| text.parse::<CellSize>().map(|CellSize(size)| size.map(Length::in_meters));
        assert_eq!(meters("5cm"), Ok([0.05; 3]));
        assert_eq!(meters("0.2,20cm, 0.1"), Ok([0.2, 0.2, 0.1]));
        assert!(meters("0.2,0.1").unwrap_err().starts_with("2 lengths; use one, or three"));
        for text in ["", "0.2,,0.1", "1,2,three"] {
            assert!(meters(text).unwrap_err().contains("0.05, 5cm"), "{text}");
        }
    }

    #[test]
    fn sizes() {
        for text in ["1GiB", "1G", "1024MiB", "1024 MiB", "1073741824", "1073741824B", "0.5T"] {
            let size = text.parse::<Size>().unwrap().0;
            assert_eq!(size >> if text == "0.5T" { 39 } else { 30 }, 1, "{text}");
        }
        assert_eq!("2MB".parse(), Ok(Size(2_000_000)));
        assert_eq!("1e3".parse(), Ok(Size(1000)));
        for text in ["", "GiB", "-1G", "0", "nan", "inf", "1 X", "1e30"] {
            assert!(text.parse::<Size>().unwrap_err().contains("8GiB"), "{text}");
        }
    }
}
