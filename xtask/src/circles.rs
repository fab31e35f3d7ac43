//! Check for circles of modules within a crate: dependencies go one way. (Cargo sees to the crates, a test
//! of the Python package to its modules.)

use anyhow::{Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that are not directly in `crates`.
const OUTSIDE: [&str; 6] = [
    "bindings/python",
    "crates/farpoint-cuda/tests/gpu",
    "lab/baselines",
    "lab/bench",
    "lab/scenes",
    "xtask",
];

/// Each module with the modules that it uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Checks the modules of every folder, from the top of each crate, with all that is below them.
pub(crate) fn check() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for folder in crates()? {
        let source = folder.join("src");
        let mut root = String::new();
        for name in ["lib.rs", "main.rs"].map(|name| source.join(name)) {
            if name.exists() {
                root.push_str(&code(&fs::read_to_string(name)?));
            }
        }
        siblings(&source, "crate::", &exported(&root), &mut wrong)?;
    }
    ensure!(wrong.is_empty(), "circles of modules:\n  {}", wrong.join("\n  "));
    Ok(Vec::new())
}

fn crates() -> Result<Vec<PathBuf>> {
    let mut folders = OUTSIDE.map(PathBuf::from).to_vec();
    for entry in fs::read_dir("crates")? {
        folders.push(entry?.path());
    }
    folders.sort();
    Ok(folders)
}

/// Finds circles of modules of one folder, and of each folder in it; `path` is the folder's own,
/// `exported` has the module of each name that it re-exports.
fn siblings(
    folder: &Path,
    path: &str,
    exported: &BTreeMap<String, String>,
    wrong: &mut Vec<String>,
) -> Result<()> {
    let modules = modules(folder)?;
    let mut graph = Graph::new();
    for (name, files) in &modules {
        let mut used = BTreeSet::new();
        for file in files {
            uses(file, 1, path, &mut used)?;
        }
        let module = |word: String| match modules.contains_key(&word) {
            true => Some(word),
            false => exported.get(&word).filter(|module| modules.contains_key(*module)).cloned(),
        };
        let used = used.into_iter().filter_map(module).filter(|other| other != name);
        graph.insert(name.clone(), used.collect());
    }
    if let Some(circle) = circle(&graph) {
        wrong.push(format!("{}: {}", folder.display(), circle.join(" -> ")));
    }
    for (name, files) in &modules {
        for below in files.iter().filter(|file| file.is_dir()) {
            siblings(below, &format!("{path}{name}::"), &BTreeMap::new(), wrong)?;
        }
    }
    Ok(())
}

/// Returns the files and folders of each module in a folder.
fn modules(folder: &Path) -> Result<BTreeMap<String, Vec<PathBuf>>> {
    let mut modules: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !["lib", "main", "mod"].contains(&name.as_str()) {
            modules.entry(name).or_default().push(file);
        }
    }
    Ok(modules)
}

/// Adds the names that a file, or all files in a folder, use of a folder `up` modules above.
fn uses(file: &Path, up: usize, path: &str, used: &mut BTreeSet<String>) -> Result<()> {
    if file.is_dir() {
        for entry in fs::read_dir(file)? {
            let below = entry?.path();
            // What stands in `mod.rs` is the folder's own.
            let is_mod = below.file_stem().is_some_and(|name| name == "mod");
            uses(&below, if is_mod { up } else { up + 1 }, path, used)?;
        }
    } else if file.extension().is_some_and(|extension| extension == "rs") {
        let text = code(&fs::read_to_string(file)?);
        used.extend(named(&text, &"super::".repeat(up)));
        used.extend(named(&text, path));
    }
    Ok(())
}

/// Returns the first names of all paths that begin with this prefix.
fn named(text: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == ':') {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(listed(list)),
            None => names.push(word(rest)),
        }
    }
    names
}

/// Returns source without comments and unit tests.
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

/// Returns the first names of a list in braces, which may hold lists.
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

/// Returns the module of each name that the root of the crate exports: `pub use module::{A, B};`.
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

/// Returns modules that use each other in a circle, if there are any.
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
    use super::{BTreeMap, Graph, circle, code, exported, fs, named, siblings};

    #[test]
    fn what_a_module_uses() {
        let source = "use crate::{Error, fps::{run, batch}, job};\n// crate::comment\nfn f() { \
                      crate::simd::go() }\n#[cfg(test)]\nmod tests { use crate::tested; }";
        assert_eq!(named(&code(source), "crate::"), ["Error", "fps", "job", "simd"]);
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

    #[test]
    fn circles_of_files_in_a_folder_are_found() {
        let folder = std::env::temp_dir().join(format!("circles-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("room");
            fs::write(path, text).expect("room");
        };
        let found = || {
            let mut wrong = Vec::new();
            siblings(&folder, "crate::", &BTreeMap::new(), &mut wrong).expect("files");
            wrong
        };
        write("lib.rs", "mod a;\n");
        write("a/mod.rs", "mod b;\nmod c;\npub(crate) use b::B;\n");
        write("a/b.rs", "use super::c::C;\n// use super::d::D;\n");
        write("a/c.rs", "use super::{d::D, e};\n");
        write("a/d/mod.rs", "mod f;\n");
        write("a/d/f.rs", "use super::b::B;\nuse crate::a::e::E;\n");
        write("a/e.rs", "#[cfg(test)]\nmod tests {\n    use super::super::b::B;\n}\n");
        assert!(found().is_empty(), "{:?}", found());
        write("a/d/f.rs", "use super::super::b::B;\n");
        assert_eq!(found().len(), 1);
        assert!(found()[0].ends_with("b -> c -> d -> b"), "{:?}", found());
        write("a/d/f.rs", "use crate::a::b::B;\n");
        assert_eq!(found().len(), 1);
        fs::remove_dir_all(&folder).expect("it is there");
    }
}
