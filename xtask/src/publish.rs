//! The packages for crates.io: their required contents, and publishing them in order.

use crate::documents;
use crate::process::{cargo, output, run, target_folder, works, workspace_version};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Published crates, each after its dependencies.
pub(crate) const CRATES: [&str; 8] = [
    "farpoint-generate",
    "farpoint-io",
    "farpoint",
    "farpoint-cuda",
    "farpoint-tiles",
    "farpoint-pipeline",
    "farpoint-cli",
    "farpoint-capi",
];

/// Fields that each manifest must have, in addition to those of the workspace.
const FIELDS: [&str; 6] =
    ["description", "categories", "keywords", "documentation", "readme", "include"];

/// Files that each package must hold.
const FILES: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The registry takes no larger package than 10 MiB; a tenth is left to spare.
const LARGEST: u64 = (10 << 20) / 10 * 9;

/// The README that PyPI shows.
const README_OF_PYTHON: &str = "bindings/python/README.md";

/// Runs `cargo xtask publish [--dry-run]`: packages of all crates, each built as its users will build
/// it; without `--dry-run` those that the registry lacks are uploaded, from a commit with the
/// version's tag only.
pub(crate) fn task(args: &[String]) -> Result<()> {
    let dry = match args {
        [] => false,
        [only] if only == "--dry-run" => true,
        _ => bail!("'publish' takes --dry-run or nothing, not {args:?}"),
    };
    check()?;
    let version = workspace_version()?;
    let mut command = cargo(&["publish", "--locked"]);
    let mut names = CRATES.to_vec();
    if dry {
        command.args(["--dry-run", "--allow-dirty"]);
    } else {
        let tag = format!("v{version}");
        let tags = output(Command::new("git").args(["tag", "--points-at", "HEAD"]))?;
        ensure!(tags.lines().any(|line| line == tag), "this commit has no tag '{tag}'");
        // cargo uploads nothing if one of them is there, so that a run after a failure goes on.
        names.retain(|name| !published(name, &version));
    }
    if names.is_empty() {
        println!("{version} of all crates is on the registry");
        return Ok(());
    }
    for name in &names {
        command.args(["--package", name]);
    }
    run(&mut command)?;
    sizes(&names)
}

/// Returns whether the registry has this version of a crate. If it can't be reached, cargo will say so.
fn published(name: &str, version: &str) -> bool {
    let package = format!("{name}@{version}");
    let is_published = works(&mut cargo(&["info", "--quiet", "--registry", "crates-io", &package]));
    if is_published {
        println!("{package} is on the registry");
    }
    is_published
}

/// Checks manifests, and the files of the packages. Nothing is built.
pub(crate) fn check() -> Result<Vec<String>> {
    let mut wrong = unlisted()?;
    let version = workspace_version()?;
    let workspace = fs::read_to_string("Cargo.toml")?;
    for name in CRATES {
        let pin = format!("\n{name} = {{ version = \"={version}\"");
        if !workspace.contains(&pin) {
            wrong.push(format!("Cargo.toml does not pin {name} to ={version}"));
        }
        let manifest = fs::read_to_string(Path::new("crates").join(name).join("Cargo.toml"))?;
        wrong.extend(problems_of_manifest(&manifest).map(|problem| format!("{name}: {problem}")));
        wrong.extend(
            problems_of_files(name)?.into_iter().map(|problem| format!("{name}: {problem}")),
        );
    }
    wrong.extend(problems_of_readme(Path::new(README_OF_PYTHON))?);
    ensure!(wrong.is_empty(), "packages are not ready:\n  {}", wrong.join("\n  "));
    Ok(Vec::new())
}

/// Returns crates that would be published but are not in the list above.
fn unlisted() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for entry in fs::read_dir("crates")? {
        let folder = entry?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let private = fs::read_to_string(folder.join("Cargo.toml"))?.contains("\npublish = false");
        if private == CRATES.contains(&name.as_str()) {
            wrong
                .push(format!("{name}: set 'publish = false', or list it in xtask/src/publish.rs"));
        }
    }
    Ok(wrong)
}

fn problems_of_manifest(manifest: &str) -> impl Iterator<Item = String> {
    let package = manifest.split("\n[").next().unwrap_or_default();
    let value = |field: &str| {
        package.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(" = "))
    };
    let missing = FIELDS.iter().filter(|field| value(field).is_none());
    let missing: Vec<_> = missing.map(|field| format!("no '{field}' in Cargo.toml")).collect();
    let keywords: Vec<_> = value("keywords").unwrap_or_default().split('"').collect();
    let keywords: Vec<_> = keywords.into_iter().skip(1).step_by(2).collect();
    // The registry's limits, which cargo does not know.
    let allowed = keywords.len() <= 5 && keywords.iter().all(|word| word.len() <= 20);
    let keywords = (!allowed).then(|| "more than 5 keywords, or a long one".to_owned());
    missing.into_iter().chain(keywords)
}

/// Returns the faults in the files of a package.
fn problems_of_files(name: &str) -> Result<Vec<String>> {
    let list = output(&mut cargo(&["package", "--list", "--allow-dirty", "--package", name]))?;
    let files: Vec<&str> = list.lines().collect();
    let folder = Path::new("crates").join(name);
    let mut wrong: Vec<String> = FILES
        .iter()
        .filter(|file| !files.contains(file))
        .map(|file| format!("the package has no {file}"))
        .collect();
    wrong.extend(problems_of_readme(&folder.join("README.md"))?);
    for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if fs::read(folder.join(license)).ok() != fs::read(license).ok() {
            wrong.push(format!("{license} is not that of the repository"));
        }
    }
    for file in files.iter().filter(|file| file.ends_with(".rs")) {
        let source = fs::read_to_string(folder.join(file))?;
        let at = Path::new(file).parent().unwrap_or(Path::new(""));
        wrong.extend(
            included(&source)
                .filter(|path| !files.iter().any(|file| normal(&at.join(path)) == Path::new(file)))
                .map(|path| format!("{file} includes '{path}', which is not in the package")),
        );
    }
    Ok(wrong)
}

/// Returns links of a README that lead nowhere on the pages of a registry, which know no other file of the repository.
fn problems_of_readme(readme: &Path) -> Result<Vec<String>> {
    let text = documents::without_blocks(&fs::read_to_string(readme)?);
    let problem = |link| format!("{}: '{link}' is no link on a registry's page", readme.display());
    Ok(documents::links(&text).map(problem).collect())
}

/// Returns the files that Rust source includes as text or bytes.
fn included(source: &str) -> impl Iterator<Item = &str> {
    ["include_str!(\"", "include_bytes!(\""]
        .into_iter()
        .flat_map(move |call| source.split(call).skip(1).filter_map(|rest| rest.split('"').next()))
}

/// Returns the path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir
                if matches!(normal.components().next_back(), Some(Component::Normal(_))) =>
            {
                normal.pop();
            }
            // Above the package: kept, so that it equals no file of it.
            part => normal.push(part),
        }
    }
    normal
}

/// Prints the sizes of the packages.
fn sizes(names: &[&str]) -> Result<()> {
    let version = workspace_version()?;
    for name in names {
        let file = target_folder().join(format!("package/{name}-{version}.crate"));
        let size = fs::metadata(&file).with_context(|| format!("no {}", file.display()))?.len();
        println!("{name:<20} {:>7.1} KB", size as f64 / 1e3);
        ensure!(
            size <= LARGEST,
            "{name}: more than {LARGEST} bytes, nine tenths of what the registry takes"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{included, normal, problems_of_manifest, problems_of_readme};
    use std::path::Path;

    #[test]
    fn manifests() {
        let good = "[package]\ndescription = \"a\"\ncategories = []\nkeywords = [\"a\"]\n\
                    documentation = \"d\"\nreadme = \"r\"\ninclude = []\n\n[dependencies]\n";
        assert_eq!(problems_of_manifest(good).count(), 0);
        let invalid = good.replace("[\"a\"]", "[\"a-word-of-21-letters-\"]").replace("readme", "x");
        assert_eq!(problems_of_manifest(&invalid).count(), 2);
        // A field of another table is none of the package's.
        let moved = good.replace("readme = \"r\"\n", "") + "readme = \"r\"\n";
        assert_eq!(problems_of_manifest(&moved).count(), 1);
    }

    #[test]
    fn links_of_readmes() {
        let file = std::env::temp_dir().join(format!("farpoint-readme-{}.md", std::process::id()));
        std::fs::write(&file, "[a](docs/a.md) [b](https://x.y)\n```\n[c](c)\n```\n![d](d.png)\n")
            .unwrap();
        let problems = problems_of_readme(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(problems.len(), 2, "{problems:?}");
    }

    #[test]
    fn included_files() {
        let source = "a(include_str!(\"x.cu\")); b(include_bytes!(\"../y\"))";
        assert_eq!(included(source).collect::<Vec<_>>(), ["x.cu", "../y"]);
        assert_eq!(normal(Path::new("src/fps/../../y")), Path::new("y"));
        assert_eq!(normal(Path::new("src/../../../README.md")), Path::new("../../README.md"));
    }
}
