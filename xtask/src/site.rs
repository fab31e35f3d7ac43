//! The documentation site: the documents of the repository, a page per command from its help,
//! the Python package's docstrings, and rustdoc's pages of the crates.
//!
//! Pages are collected in `target/site/source` at their places in the repository, so that links
//! between them hold in both; `docs/site/mkdocs.yml` gives them an order.

mod help;

use crate::documents;
use crate::process::{cargo, copy, output, program, run, target_folder};
use crate::venv::Venv;
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const REQUIREMENTS: &str = "docs/site/requirements.txt";
const CONFIGURATION: &str = "docs/site/mkdocs.yml";
const PYTHON: &str = "bindings/python/python";
const SEGMENTATION: &str = "lab/segmentation";

/// Copied files and folders, each to the same place.
const SOURCES: [&str; 14] = [
    "README.md",
    "ARCHITECTURE.md",
    "BENCHMARKS.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "lab/records",
    "lab/baselines/README.md",
    "lab/segmentation/README.md",
    "lab/segmentation/prediction.png",
    "lab/segmentation/scenes.png",
    "bindings/python/README.md",
    "docs",
];

/// The crates with a public interface.
const LIBRARIES: [&str; 4] = ["farpoint", "farpoint-cuda", "farpoint-io", "farpoint-generate"];

/// Runs `cargo xtask site`: builds the site; fails where the step of the tests would skip it.
pub(crate) fn task() -> Result<()> {
    build(&tools()?)
}

/// Runs the step of the tests: the site builds without a warning, and no link is broken.
pub(crate) fn check() -> Result<Vec<String>> {
    match tools() {
        Ok(venv) => build(&venv).map(|()| Vec::new()),
        Err(error) => Ok(vec![format!("MkDocs can't be installed ({error:#})")]),
    }
}

fn tools() -> Result<Venv> {
    Venv::with("site/tools", Path::new(REQUIREMENTS))
}

fn build(venv: &Venv) -> Result<()> {
    let site = target_folder().join("site");
    let (source, html) = (site.join("source"), site.join("html"));
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    for name in SOURCES {
        copy(Path::new(name), &source.join(name))?;
    }
    // Links that registries show hold there; within the site they lead to its own pages.
    let python = source.join("bindings/python/README.md");
    let mut text = fs::read_to_string(&python)?;
    for start in documents::ON_THE_WEB {
        text = text.replace(start, "](../../");
    }
    fs::write(python, text)?;
    // Files that are no pages: the crate that tests the examples, and files copied elsewhere.
    fs::remove_dir_all(source.join("docs/site"))?;
    fs::remove_file(source.join("docs/Cargo.toml"))?;
    fs::remove_file(source.join("docs/examples.rs"))?;
    copy("docs/site/reference".as_ref(), &source.join("reference"))?;
    copy("docs/site/site.css".as_ref(), &source.join("site.css"))?;
    let program = program()?;
    commands(&program, &source.join("reference/commands"))?;
    let mut mkdocs = venv.tool("mkdocs");
    mkdocs.args(["build", "--strict", "--config-file", CONFIGURATION, "--site-dir"]);
    mkdocs.arg(&html).env("FARPOINT_SITE_SOURCE", &source);
    // A note on what may follow MkDocs, printed in colors at each build.
    mkdocs.env("NO_MKDOCS_2_WARNING", "1");
    mkdocs.env("FARPOINT_PYTHON_SOURCE", fs::canonicalize(PYTHON)?);
    run(mkdocs.env("FARPOINT_SEGMENTATION_SOURCE", fs::canonicalize(SEGMENTATION)?))?;
    copy(&rustdoc()?, &html.join("rust"))?;
    let mut check = venv.tool("python");
    check.args(["docs/site/check.py".as_ref(), html.as_os_str()]);
    check.arg(Path::new(PYTHON).join("farpoint")).arg(algorithms(&program)?.join(","));
    run(&mut check)?;
    eprintln!("the site: {}", html.join("index.html").display());
    Ok(())
}

/// Writes a page of each command, and one that lists them.
fn commands(program: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let help = |args: &[&str]| output(Command::new(program).args(args).env("COLUMNS", "100"));
    let all = help(&["--help"])?;
    let names = help::commands(&all);
    ensure!(names.len() > 3, "'farpoint --help' lists {} commands", names.len());
    fs::write(folder.join("index.md"), help::index(&all))?;
    for name in names {
        let page = help::page(&format!("farpoint {name}"), &help(&[name, "--help"])?);
        fs::write(folder.join(format!("{name}.md")), page)?;
    }
    Ok(())
}

/// Returns the names that `farpoint sample --algorithm` takes, by its own message.
fn algorithms(program: &Path) -> Result<Vec<String>> {
    let args = ["sample", "-", "-n", "1", "--algorithm", "none-of-them"];
    let output = Command::new(program).args(args).stdin(std::process::Stdio::null()).output()?;
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let names = help::choices(&message);
    ensure!(
        names.len() > 5,
        "'farpoint sample --algorithm none-of-them' names no others: {message}"
    );
    Ok(names)
}

/// Builds the documentation of the libraries for their users; returns the folder.
fn rustdoc() -> Result<PathBuf> {
    let folder = target_folder().join("doc");
    // It may hold that of private items and of other crates, which the search would list.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut command = cargo(&["doc", "--quiet", "--no-deps"]);
    for name in LIBRARIES {
        command.args(["--package", name]);
    }
    run(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(folder)
}
