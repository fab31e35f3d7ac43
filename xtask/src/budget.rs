//! The budget: upper limits of code lines, sizes and times, in `budget.toml`.

use crate::process::output;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

const FILE: &str = "budget.toml";

/// Figures by section and name.
pub(crate) struct Budget(BTreeMap<(String, String), f64>);

impl Budget {
    pub(crate) fn read() -> Result<Self> {
        Self::parse(&fs::read_to_string(FILE)?)
    }

    fn parse(text: &str) -> Result<Self> {
        let mut limits = BTreeMap::new();
        let mut section = "";
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
            } else if let Some((name, limit)) = line.split_once('=') {
                let limit = limit.trim().parse().with_context(|| format!("{FILE}: {line}"))?;
                limits.insert((section.to_owned(), name.trim().to_owned()), limit);
            }
        }
        Ok(Self(limits))
    }

    /// Prints a figure; returns the line to change if it is above its limit, or has none.
    pub(crate) fn compare(&self, section: &str, name: &str, figure: f64) -> Option<String> {
        let limit = self.0.get(&(section.to_owned(), name.to_owned()));
        let shown = if section == "lines" { format!("{figure}") } else { format!("{figure:.2}") };
        eprintln!("{section}: {name} {shown} of {}", limit.map_or("none".into(), f64::to_string));
        let line = format!("[{section}] {name} = {shown}");
        match limit {
            None => Some(format!("{FILE} has no line '{line}'")),
            Some(limit) if figure > *limit => Some(format!(
                "{name}: {shown} is above {limit}; use less, or write '{line}' into {FILE}, and why behind it"
            )),
            Some(_) => None,
        }
    }
}

/// Runs the step: counts code lines, and compares.
pub(crate) fn check() -> Result<Vec<String>> {
    let Ok(files) = output(Command::new("git").args(["ls-files"])) else {
        return Ok(vec!["code lines, which are counted in files that git knows".into()]);
    };
    let mut lines = BTreeMap::new();
    for (file, (group, count)) in files.lines().filter_map(|file| Some((file, group(file)?))) {
        // A file may be deleted and not yet committed.
        let Ok(text) = fs::read_to_string(file) else { continue };
        *lines.entry(group).or_insert(0) += count(&text);
    }
    let shipped = lines.iter().filter(|(name, _)| !UNSHIPPED.contains(&name.as_str()));
    let shipped = shipped.map(|(_, lines)| lines).sum();
    lines.insert("shipped".to_owned(), shipped);
    let budget = Budget::read()?;
    let wrong =
        lines.iter().filter_map(|(name, lines)| budget.compare("lines", name, *lines as f64));
    let wrong: Vec<_> = wrong.collect();
    ensure!(wrong.is_empty(), "more than the budget:\n  {}", wrong.join("\n  "));
    Ok(Vec::new())
}

const UNSHIPPED: [&str; 2] = ["lab", "xtask"];

type Count = fn(&str) -> usize;

/// Returns the line of the budget that a file belongs to, and how its lines are counted.
fn group(file: &str) -> Option<(String, Count)> {
    let (folder, name) = file.rsplit_once('/')?;
    let extension = name.rsplit_once('.')?.1;
    let count: Count = match extension {
        "rs" | "cu" | "cuh" | "hpp" => code,
        "py" => python,
        _ => return None,
    };
    let top = folder.split('/').next()?;
    if UNSHIPPED.contains(&top) {
        return Some((top.to_owned(), count));
    }
    let parts = || file.split('/');
    let aside = ["test", "tests", "benches", "examples", "fuzz", "lab"];
    if parts().any(|part| aside.contains(&part))
        || name.ends_with("tests.rs")
        || name.ends_with("_test.rs")
    {
        return None;
    }
    let name = match (extension, top) {
        ("cu" | "cuh", _) => "kernels",
        ("hpp", _) => "bindings/cpp",
        ("rs", "crates") => parts().nth(1)?,
        ("rs", "bindings") => "bindings/python (Rust)",
        ("py", "bindings") => "bindings/python (Python)",
        _ => return None,
    };
    Some((name.to_owned(), count))
}

/// Counts lines of Rust or C++, without unit tests, comments and blank lines.
fn code(text: &str) -> usize {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    text.lines().filter(is_code).count()
}

/// Counts lines of Python, without docstrings, comments and blank lines.
fn python(text: &str) -> usize {
    let mut count = 0;
    let mut end = None;
    for line in text.lines().map(str::trim) {
        let quotes = ["\"\"\"", "r\"\"\""].into_iter().find(|quotes| line.starts_with(quotes));
        if let Some(quotes) = end {
            end = (!line.contains(quotes)).then_some(quotes);
        } else if let Some(begin) = quotes {
            end = (!line[begin.len()..].contains("\"\"\"")).then_some("\"\"\"");
        } else if !line.is_empty() && !line.starts_with('#') {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{Budget, code, group, python};

    #[test]
    fn a_figure_above_its_line_or_without_one_is_an_error() {
        let budget = Budget::parse("[lines]\na = 5  # why\n\n[megabytes]\nb = 1.5").unwrap();
        assert_eq!(budget.compare("lines", "a", 5.0), None);
        let above = budget.compare("megabytes", "b", 1.51).unwrap();
        assert!(above.contains("[megabytes] b = 1.51"), "{above}");
        assert!(budget.compare("lines", "b", 0.0).unwrap().contains("no line"));
        assert!(Budget::parse("a = b").is_err());
    }

    #[test]
    fn lines_of_code_are_counted() {
        let rust = "//! What.\n\nfn a() {}\n/// b\nstruct B;\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
        assert_eq!(code(rust), 2);
        let text = "\"\"\"One.\n\ntwo\n\"\"\"\nimport a\n\ndef f():\n    r\"\"\"g\"\"\"\n    # h\n    return '''\n'''\n";
        assert_eq!(python(text), 4);
    }

    #[test]
    fn files_belong_to_lines() {
        let name = |file| group(file).map(|(name, _)| name);
        assert_eq!(name("crates/farpoint-io/src/lib.rs").unwrap(), "farpoint-io");
        assert_eq!(name("crates/farpoint-cuda/kernels/a/b.cuh").unwrap(), "kernels");
        assert_eq!(
            name("bindings/python/python/farpoint/a.py").unwrap(),
            "bindings/python (Python)"
        );
        assert_eq!(name("lab/bench/src/main.rs").unwrap(), "lab");
        for aside in
            ["crates/farpoint/tests/it/a.rs", "crates/a/src/b_tests.rs", "README.md", "docs/a.rs"]
        {
            assert_eq!(name(aside), None, "{aside}");
        }
    }
}
