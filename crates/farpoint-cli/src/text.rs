//! Numbers and tables for people.

use farpoint_io::printable;
pub use farpoint_pipeline::text::{count, number};

/// Formats lines of a name and a value each. Control characters in values, which may come from files, are escaped.
pub(crate) fn lines<N: AsRef<str>>(rows: &[(N, String)], width: usize) -> String {
    let line =
        |(name, value): &(N, String)| format!("{:<width$}  {}\n", name.as_ref(), printable(value));
    rows.iter().map(line).collect()
}

/// Formats rows as aligned columns: the first left, the others right. Safe for a terminal, too.
pub fn table(rows: &[Vec<String>]) -> String {
    let shown: Vec<Vec<_>> =
        rows.iter().map(|row| row.iter().map(|cell| printable(cell)).collect()).collect();
    let columns = shown.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        shown.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &shown {
        let cells: Vec<_> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Formats a duration.
pub fn seconds(value: f64) -> String {
    match value {
        v if v < 1e-3 => format!("{:.1} us", v * 1e6),
        v if v < 1.0 => format!("{:.2} ms", v * 1e3),
        v => format!("{} s", number(v)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0usize), "0");
        assert_eq!(count(123usize), "123");
        assert_eq!(count(1_234_567usize), "1,234,567");
        assert_eq!(number(0.0), "0.000");
        assert_eq!(number(0.012_345), "0.01235");
        assert_eq!(number(12.345), "12.35");
        assert_eq!(number(123_456.0), "123456");
        assert_eq!(number(f64::INFINITY), "inf");
    }

    #[test]
    fn tables_align() {
        let rows = [vec!["a".into(), "1".into()], vec!["bcd".into(), "234".into()]];
        assert_eq!(table(&rows), "a      1\nbcd  234\n");
        assert_eq!(lines(&[("a", "1\n\x1b2".to_owned())], 4), "a     1 \\u{1b}2\n");
    }
}
