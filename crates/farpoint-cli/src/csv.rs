//! Tables as comma-separated values.

/// Formats a header and its rows.
pub fn csv<S: AsRef<str>>(head: &[S], rows: &[Vec<String>]) -> String {
    let mut text = line(head);
    rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

fn line<S: AsRef<str>>(cells: &[S]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| quoted(cell.as_ref())).collect();
    cells.join(",") + "\n"
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::csv;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let rows = vec![vec!["1".to_owned(), "a, \"b\"".to_owned()]];
        assert_eq!(csv(&["x", "y"], &rows), "x,y\n1,\"a, \"\"b\"\"\"\n");
    }
}
