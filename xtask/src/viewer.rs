//! `cargo xtask viewer`: the script of the page of `farpoint view`, built from `viewer` by tools
//! from npm of fixed versions, and the page tried in a browser. Cargo needs none of this.

use crate::process::{copy, program, run, target_folder, works};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "viewer";
const COMMITTED: &str = "crates/farpoint-cli/assets/view.js";
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Rewrites the committed script.
pub(crate) fn write() -> Result<()> {
    if let Some(obstacle) = obstacle() {
        anyhow::bail!("the viewer can't be built: {obstacle}");
    }
    fs::copy(bundle()?, COMMITTED).with_context(|| format!("can't write {COMMITTED}"))?;
    Ok(())
}

/// Builds the script again, compares it with the committed one, and tries the page; returns what was skipped.
pub(crate) fn check() -> Result<Vec<String>> {
    if let Some(obstacle) = obstacle() {
        return Ok(vec![format!("the viewer was not built: {obstacle}")]);
    }
    let built = bundle()?;
    let same = fs::read(&built)? == fs::read(COMMITTED)?;
    ensure!(same, "{COMMITTED} is not what {SOURCE} makes; run `cargo xtask viewer` and commit it");
    let Some(browser) =
        BROWSERS.into_iter().find(|name| works(Command::new(name).arg("--version")))
    else {
        return Ok(vec!["the page was not tried in a browser: there is no chromium".into()]);
    };
    let mut tests = Command::new("npm");
    tests.args(["run", "--silent", "test"]).current_dir(folder());
    tests.env("FARPOINT", std::path::absolute(program()?)?).env("BROWSER_PROGRAM", browser);
    run(&mut tests)?;
    Ok(Vec::new())
}

fn obstacle() -> Option<String> {
    let missing =
        ["node", "npm"].into_iter().find(|name| !works(Command::new(name).arg("--version")));
    missing.map(|name| format!("there is no {name}"))
}

fn folder() -> PathBuf {
    target_folder().join("viewer")
}

/// Checks the types and bundles the script, in a copy, so that the sources stay as they are.
fn bundle() -> Result<PathBuf> {
    let folder = folder();
    copy(Path::new(SOURCE), &folder)?;
    let npm = |args: &[&str]| run(Command::new("npm").args(args).current_dir(&folder));
    npm(&["ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"])?;
    npm(&["run", "--silent", "check"])?;
    npm(&["run", "--silent", "build", "--", "view.js"])?;
    Ok(folder.join("view.js"))
}
