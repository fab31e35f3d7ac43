//! No circle of modules within a crate: who uses whom goes one way. (Cargo sees to the crates, a test
//! of the Python package to its modules.)

use anyhow::{Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each module with those that it uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Checks the modules at the top of every crate, with all that is below them.
pub(crate) fn check() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for folder in crates()? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(circle) = circle(&graph(&folder.join("src"))?) else { continue };
        wrong.push(format!("{name}: {}", circle.join(" -> ")));
    }
    ensure!(wrong.is_empty(), "circles of modules:\n  {}", wrong.join("\n  "));
    Ok(Vec::new())
}

fn crates() -> Result<Vec<PathBuf>> {
    let mut folders = vec![PathBuf::from("bindings/python"), PathBuf::from("xtask")];
    for entry in fs::read_dir("crates")? {
        folders.push(entry?.path());
    }
    folders.sort();
    Ok(folders)
}

fn graph(source: &Path) -> Result<Graph> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut root = String::new();
    for entry in fs::read_dir(source)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match name.as_str() {
            "lib" | "main" => root.push_str(&code(&fs::read_to_string(&path)?)),
            _ => read(&path, texts.entry(name).or_default())?,
        }
    }
    let exported = exported(&root);
    let graph = texts.iter().map(|(name, text)| {
        let used = used(text).filter_map(|word| match texts.contains_key(&word) {
            true => Some(word),
            false => exported.get(&word).cloned(),
        });
        (name.clone(), used.filter(|other| other != name).collect())
    });
    Ok(graph.collect())
}

/// The code of a file, or of all files in a folder.
fn read(path: &Path, text: &mut String) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            read(&entry?.path(), text)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        text.push_str(&code(&fs::read_to_string(path)?));
    }
    Ok(())
}

/// Source without comments and unit tests.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    source.lines().map(|line| line.split("//").next().unwrap_or_default()).fold(
        String::new(),
        |mut text, line| {
            text.push_str(line);
            text.push('\n');
            text
        },
    )
}

/// First names of all paths that begin with `crate::`.
fn used(text: &str) -> impl Iterator<Item = String> {
    text.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
        Some(list) => listed(list),
        None => vec![word(rest)],
    })
}

/// First names of a list in braces, which may hold lists.
fn listed(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut depth, mut begins) = (0, true);
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && depth == 0 && !letter.is_whitespace() => {
                names.push(word(&list[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

fn word(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

/// The module of each name that the root of the crate exports: `pub use module::{A, B};`.
fn exported(root: &str) -> BTreeMap<String, String> {
    let mut modules = BTreeMap::new();
    for statement in root.split("use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        let Some((module, names)) = statement.split_once("::") else { continue };
        let names = match names.strip_prefix('{') {
            Some(list) => listed(list),
            None => vec![word(names)],
        };
        modules.extend(names.into_iter().map(|name| (name, module.to_owned())));
    }
    modules
}

/// Modules that use each other in a circle, if there are any.
fn circle(graph: &Graph) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    graph.keys().find_map(|module| follow(graph, module, &mut Vec::new(), &mut done))
}

fn follow<'a>(
    graph: &'a Graph,
    module: &'a str,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    if let Some(at) = path.iter().position(|earlier| *earlier == module) {
        return Some(path[at..].iter().chain([&module]).map(|&name| name.to_owned()).collect());
    }
    if done.contains(module) {
        return None;
    }
    path.push(module);
    let found =
        graph.get(module).into_iter().flatten().find_map(|next| follow(graph, next, path, done));
    path.pop();
    done.insert(module);
    found
}

#[cfg(test)]
mod tests {
    use super::{Graph, circle, code, exported, used};

    #[test]
    fn what_a_module_uses() {
        let source = "use crate::{Error, fps::{run, batch}, job};\n// crate::comment\nfn f() { \
                      crate::simd::go() }\n#[cfg(test)]\nmod tests { use crate::tested; }";
        assert_eq!(used(&code(source)).collect::<Vec<_>>(), ["Error", "fps", "job", "simd"]);
        let names = exported("mod error;\npub use error::Error;\npub use job::{Sampler, Start};\n");
        assert_eq!((names["Error"].as_str(), names["Start"].as_str()), ("error", "job"));
    }

    #[test]
    fn circles_are_found() {
        let graph = |edges: &[(&str, &[&str])]| -> Graph {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            edges.iter().map(|(from, to)| ((*from).to_owned(), owned(to))).collect()
        };
        let tree = graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]);
        assert_eq!(circle(&tree), None);
        let round = graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]);
        assert_eq!(circle(&round).unwrap(), ["b", "c", "b"]);
    }
}
