//! Doc comments begin with a verb or a noun phrase, as those of `std` do.

use anyhow::{Result, ensure};
use std::fs;
use std::path::Path;

/// Words that begin a clause where a phrase belongs.
const CLAUSES: [&str; 5] = ["What", "Whether", "How", "Where", "Those"];

/// Folders of Rust code.
const FOLDERS: [&str; 6] = ["bindings/python", "crates", "docs", "fuzz", "lab", "xtask"];

/// Most of a hundred doc comments that may begin so.
const SHARE: usize = 2;

/// Counts the doc comments of Rust that begin with a clause.
pub(crate) fn check() -> Result<Vec<String>> {
    let (mut all, mut found) = (0, Vec::new());
    for folder in FOLDERS {
        look(Path::new(folder), &mut |path, text| {
            let openings = openings(text);
            all += openings.len();
            let clauses = openings.into_iter().filter(|(_, text)| is_clause(text));
            found.extend(clauses.map(|(line, text)| format!("{}:{line}: {text}", path.display())));
        })?;
    }
    let (count, list) = (found.len(), found.join("\n  "));
    eprintln!("{count} of {all} doc comments begin with {}", CLAUSES.join(", "));
    ensure!(all > 0, "there are no doc comments");
    ensure!(
        count * 100 <= all * SHARE,
        "more than {SHARE} % do: begin with a verb in the third person or a noun phrase\n  {list}"
    );
    Ok(Vec::new())
}

fn look(folder: &Path, with: &mut dyn FnMut(&Path, &str)) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules"].contains(&name.as_str()) {
            look(&path, with)?;
        } else if name.ends_with(".rs") {
            with(&path, &fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// First line of each doc comment, with its number.
fn openings(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut before = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark));
        if let Some(mark) = mark.filter(|_| mark != before) {
            found.push((number + 1, line[mark.len()..].trim()));
        }
        before = mark;
    }
    found
}

fn is_clause(text: &str) -> bool {
    CLAUSES.contains(&text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{is_clause, openings};

    #[test]
    fn clauses_are_found_at_the_beginning_of_doc_comments() {
        let text = "//! What it is.\n\n/// Returns it.\n/// What else.\nfn a() {}\n// Whether.\n    /// Whether so.\n";
        let found = openings(text);
        assert_eq!(found, [(1, "What it is."), (3, "Returns it."), (7, "Whether so.")]);
        let clauses: Vec<_> = found.into_iter().filter(|(_, text)| is_clause(text)).collect();
        assert_eq!(clauses, [(1, "What it is."), (7, "Whether so.")]);
        assert!(!is_clause("Whatever") && !is_clause(""));
    }
}
