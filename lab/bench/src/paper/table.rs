//! A figure's numbers: the content of its CSV, from which plot and page are made.

/// Rows with named columns.
pub(super) struct Table {
    pub(super) head: &'static [&'static str],
    pub(super) rows: Vec<Vec<String>>,
}

/// One row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    head: &'static [&'static str],
    cells: &'a [String],
}

impl Table {
    pub(super) fn new(head: &'static [&'static str]) -> Self {
        Self { head, rows: Vec::new() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Row<'_>> + Clone {
        self.rows.iter().map(|cells| Row { head: self.head, cells })
    }

    /// Returns the rows in which this column holds this text.
    pub(super) fn with<'a>(
        &'a self,
        column: &'a str,
        text: &'a str,
    ) -> impl Iterator<Item = Row<'a>> + Clone {
        self.iter().filter(move |row| row.text(column) == text)
    }

    /// Returns the distinct texts of a column, in order of appearance.
    pub(super) fn each(&self, column: &str) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for row in self.iter() {
            let text = row.text(column);
            if !found.contains(&text) {
                found.push(text);
            }
        }
        found
    }
}

impl<'a> Row<'a> {
    /// Returns a cell; empty if there is no such column.
    pub(super) fn text(&self, column: &str) -> &'a str {
        let at = self.head.iter().position(|name| *name == column);
        at.and_then(|at| self.cells.get(at)).map_or("", String::as_str)
    }

    /// Returns a cell as a number; NaN if it is not one.
    pub(super) fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(f64::NAN)
    }
}

/// Returns the smallest and largest of the finite numbers; NaN if there is none.
pub(super) fn range(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values
        .filter(|value| value.is_finite())
        .fold([f64::NAN; 2], |[low, high], value| [low.min(value), high.max(value)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_by_name() {
        let mut table = Table::new(&["cloud", "seconds"]);
        for (cloud, seconds) in [("a", "1.5"), ("b", "x"), ("a", "2")] {
            table.rows.push(vec![cloud.into(), seconds.into()]);
        }
        assert_eq!(table.each("cloud"), ["a", "b"]);
        let of_a: Vec<_> = table.with("cloud", "a").map(|row| row.number("seconds")).collect();
        assert_eq!(of_a, [1.5, 2.0]);
        assert!(table.with("cloud", "b").all(|row| row.number("seconds").is_nan()));
        assert_eq!(range(table.iter().map(|row| row.number("seconds"))), [1.5, 2.0]);
    }
}
