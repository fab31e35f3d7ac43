//! Amounts of memory as people write them.

use std::fmt;
use std::str::FromStr;

/// So many bytes: `512MiB`, `8GiB`, `8G`, `1e9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

/// Endings and what they stand for; a letter alone is binary, as in other tools.
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
        let advice = || "give an amount of memory such as 512MiB, 8GiB or 8G".to_owned();
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

#[cfg(test)]
mod tests {
    use super::*;

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
