//! `THIRD-PARTY.txt`: the licenses of the packages that are linked into the command, the Python
//! module and the C library, which must accompany copies of these.

use crate::process::{cargo, output};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const FILE: &str = "THIRD-PARTY.txt";

const HEAD: &str = "\
The command, the Python module and the C library of farpoint contain the packages below, and the standard library of Rust
(MIT OR Apache-2.0, https://www.rust-lang.org). Where there is a choice of licenses, the permissive one without conditions on
patents is taken. Written by `cargo xtask licenses`.
";

/// Prefixes of the names of license files.
const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// Folders of packages that are not compiled.
const NOT_COMPILED: [&str; 5] = ["contrib", "doc", "examples", "programs", "tests"];

/// Terms without a file in the package, by the beginning of the package's name.
const APART: [(&str, &str); 1] = [(
    "noto-sans-mono-bitmap ",
    "Glyphs: Copyright 2022 The Noto Project Authors (https://github.com/notofonts/latin-greek-cyrillic), under the SIL Open\n\
     Font License, Version 1.1 (https://openfontlicense.org).",
)];

/// Writes the file anew.
pub(crate) fn write() -> Result<()> {
    fs::write(FILE, text()?)?;
    Ok(())
}

/// Checks that the committed file is of the packages in `Cargo.lock`.
pub(crate) fn check() -> Result<()> {
    let committed = fs::read_to_string(FILE).unwrap_or_default();
    ensure!(committed == text()?, "{FILE} is of other packages: run `cargo xtask licenses`");
    Ok(())
}

fn text() -> Result<String> {
    let folders = folders()?;
    let mut without = String::new();
    let mut texts: BTreeMap<String, (Vec<String>, String)> = BTreeMap::new();
    for line in packages()?.lines() {
        let (package, license) = line.split_once('|').context("cargo tree's format")?;
        let mut words = package.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if name.starts_with("farpoint") {
            continue;
        }
        let package = format!("{name} {}", version.trim_start_matches('v'));
        let folder = folders
            .get(&package.replace(' ', "-"))
            .with_context(|| format!("no source of {package}"))?;
        let mut found = Vec::new();
        collect(folder, &mut found)?;
        let apart = APART.iter().filter(|(start, _)| package.starts_with(start));
        let found =
            chosen(found, license).into_iter().chain(apart.map(|(_, text)| (*text).to_owned()));
        let before = without.len();
        without += &format!("{package}: {}\n", license.replace('|', ", "));
        for text in found {
            without.truncate(before);
            let same = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            let packages = &mut texts.entry(same).or_insert((Vec::new(), text)).0;
            if !packages.contains(&package) {
                packages.push(package.clone());
            }
        }
    }
    let mut all: Vec<_> = texts.into_values().collect();
    all.push((vec!["three.js (the page of `farpoint view`)".into()], of_page()?));
    all.sort();
    let rule = "-".repeat(80);
    let texts: String = all
        .iter()
        .map(|(packages, text)| format!("\n{rule}\n{}\n\n{text}\n", packages.join(", ")))
        .collect();
    Ok(format!("{HEAD}{texts}\n{rule}\nPackages without a file of their license:\n\n{without}"))
}

/// Returns the license at the head of the page's script.
fn of_page() -> Result<String> {
    let script = fs::read_to_string("crates/farpoint-cli/assets/view.js")?;
    let head = script.split_once("\n\n").and_then(|(_, rest)| rest.split_once("\n*/"));
    Ok(head.context("view.js does not begin with a license")?.0.to_owned())
}

/// Returns the packages on all systems, with license and repository.
fn packages() -> Result<String> {
    let mut tree = cargo(&["tree", "--locked", "--all-features", "--target", "all", "--no-dedupe"]);
    tree.args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}|{l}|{r}"]);
    let list =
        output(tree.args(["-p", "farpoint-cli", "-p", "farpoint-python", "-p", "farpoint-capi"]))?;
    let mut lines: Vec<_> = list.lines().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    lines.dedup();
    Ok(lines.join("\n"))
}

/// Returns the source folder of each package, by its name and version.
fn folders() -> Result<BTreeMap<String, PathBuf>> {
    let about =
        output(&mut cargo(&["metadata", "--format-version", "1", "--locked", "--all-features"]))?;
    let manifests =
        about.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let folders = manifests
        .filter_map(|path| Some(Path::new(&path.replace("\\\\", "\\")).parent()?.to_owned()));
    Ok(folders
        .filter_map(|folder| Some((folder.file_name()?.to_str()?.to_owned(), folder)))
        .collect())
}

/// Collects the texts of licenses in a folder and in compiled ones below it.
fn collect(folder: &Path, texts: &mut Vec<String>) -> Result<()> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_dir() {
            if !NOT_COMPILED.contains(&name.as_str()) {
                collect(&path, texts)?;
            }
        } else if NAMES.iter().any(|start| name.starts_with(start)) && !name.ends_with(".rs") {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let lines: Vec<_> = text.lines().map(str::trim_end).collect();
            texts.push(lines.join("\n").trim_matches('\n').to_owned());
        }
    }
    Ok(())
}

/// Returns the texts without those of other licenses that may be chosen.
fn chosen(mut texts: Vec<String>, license: &str) -> Vec<String> {
    texts.retain(|text| !text.contains("GNU GENERAL PUBLIC LICENSE"));
    let apache = |text: &String| text.contains("Apache License") && text.len() > 5000;
    if license.contains("MIT")
        && !license.contains(" AND ")
        && texts.iter().any(|text| !apache(text))
    {
        texts.retain(|text| !apache(text));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn of_several_licenses_one_is_chosen() {
        let apache = format!("Apache License\n{}", "terms ".repeat(1000));
        let texts =
            || vec![apache.clone(), "MIT License".into(), "GNU GENERAL PUBLIC LICENSE".into()];
        assert_eq!(chosen(texts(), "MIT OR Apache-2.0"), ["MIT License"]);
        assert_eq!(chosen(texts(), "Apache-2.0"), [apache.as_str(), "MIT License"]);
        // Nothing else is there.
        assert_eq!(chosen(vec![apache.clone()], "MIT OR Apache-2.0"), [apache.as_str()]);
        // Both hold.
        assert_eq!(chosen(texts(), "MIT AND Apache-2.0").len(), 2);
    }
}
