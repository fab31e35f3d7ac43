//! The header: made by cbindgen, whose version decides on every line.

use super::{CRATE, header_file};
use crate::process::{cargo, output, run, target_folder, works};
use anyhow::{Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The version that the committed header was made by. Older ones do not know `#[unsafe(no_mangle)]`.
const CBINDGEN: &str = "0.29.4";

/// Makes the header anew and compares.
pub(super) fn check(skipped: &mut Vec<String>) -> Result<()> {
    let Some(cbindgen) = cbindgen()? else {
        skipped
            .push(format!("the header was not made anew: cbindgen {CBINDGEN} can't be installed"));
        return Ok(());
    };
    let made = make(&cbindgen)?;
    let committed = fs::read_to_string(header_file())?;
    if made == committed {
        return Ok(());
    }
    let other = made.lines().zip(committed.lines()).position(|(new, old)| new != old);
    let line = other.unwrap_or_else(|| made.lines().count().min(committed.lines().count()));
    bail!(
        "{} is not what cbindgen makes of the source (line {}: '{}'); run `cargo xtask header`",
        header_file().display(),
        line + 1,
        made.lines().nth(line).unwrap_or_default()
    );
}

/// Writes the header.
pub(super) fn write() -> Result<()> {
    match cbindgen()? {
        Some(cbindgen) => Ok(fs::write(header_file(), make(&cbindgen)?)?),
        None => bail!("cbindgen {CBINDGEN} can't be installed"),
    }
}

fn make(cbindgen: &PathBuf) -> Result<String> {
    let mut command = Command::new(cbindgen);
    command.arg("--quiet").args(["--config", "cbindgen.toml", "--crate", "farpoint-capi", "."]);
    output(command.current_dir(CRATE))
}

/// The program, installed into the target folder if it is not there.
fn cbindgen() -> Result<Option<PathBuf>> {
    let root = std::path::absolute(target_folder().join("tools"))?;
    let program = root.join("bin/cbindgen");
    let there = || {
        let mut command = Command::new(&program);
        output(command.arg("--version")).is_ok_and(|version| version.trim().ends_with(CBINDGEN))
    };
    if program.exists() && there() {
        return Ok(Some(program));
    }
    // Of the registry's index, as packages are fetched; `cargo search` asks its web site.
    let known = format!("cbindgen@{CBINDGEN}");
    if !works(&mut cargo(&["info", "--quiet", "--registry", "crates-io", &known])) {
        return Ok(None);
    }
    let mut install = cargo(&["install", "--quiet", "--locked", "cbindgen", "--version", CBINDGEN]);
    // Built once, apart from everything else.
    let build = root.join("build");
    run(install.arg("--root").arg(&root).env("CARGO_TARGET_DIR", &build))?;
    fs::remove_dir_all(build)?;
    Ok(Some(program))
}
