//! Checks with other toolchains and targets than the installed one: the oldest Rust that the crates
//! declare, WebAssembly, and the public interface compared with the last release.

use crate::process::{cargo, of_workspace, output, run, target_folder, works};
use crate::publish::CRATES;
use anyhow::Result;
use std::process::Command;

type Skipped = Vec<String>;

const WASM: &str = "wasm32-unknown-unknown";

/// Checks that the published crates, and the Python package, compile with the oldest Rust that they declare.
pub(crate) fn oldest_rust() -> Result<Skipped> {
    let version = &of_workspace("rust-version")?;
    let is_installed =
        || works(Command::new("rustup").args(["run", version, "cargo", "--version"]));
    if !is_installed() {
        let mut install = Command::new("rustup");
        install.args(["toolchain", "install", version, "--profile", "minimal", "--no-self-update"]);
        works(&mut install);
    }
    if !is_installed() {
        return Ok(vec![format!("Rust {version} is not installed, and rustup can't install it")]);
    }
    let folder = target_folder().join("msrv");
    let mut check = Command::new("rustup");
    check.args(["run", version, "cargo", "check", "--locked", "--package", "farpoint-python"]);
    for name in CRATES {
        check.args(["--package", name]);
    }
    // Set by the cargo that runs this; it would hide the toolchain.
    check.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    run(check.env("CARGO_INCREMENTAL", "0").env("CARGO_TARGET_DIR", &folder))?;
    // Used by this step alone, on a disk that may be small.
    if std::env::var_os("CI").is_some() {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(Vec::new())
}

/// Checks that the library compiles for WebAssembly, which has neither threads nor a clock.
pub(crate) fn wasm() -> Result<Skipped> {
    let is_installed = || {
        let libraries =
            output(Command::new("rustc").args(["--print", "target-libdir", "--target", WASM]));
        libraries.is_ok_and(|folder| std::path::Path::new(folder.trim()).is_dir())
    };
    if !is_installed() {
        works(Command::new("rustup").args(["target", "add", WASM]));
    }
    if !is_installed() {
        return Ok(vec![format!(
            "the target {WASM} is not installed, and rustup can't install it"
        )]);
    }
    let command = ["check", "--package", "farpoint", "--no-default-features", "--target", WASM];
    run(&mut cargo(&command))?;
    Ok(Vec::new())
}

/// Checks that no change of the public interface breaks users without a change of the version.
pub(crate) fn semver() -> Result<Skipped> {
    let tags = output(Command::new("git").args(["tag", "--list", "v*", "--sort=-version:refname"]));
    let Some(release) = tags.ok().and_then(|tags| tags.lines().next().map(str::to_owned)) else {
        return Ok(vec!["the public interface: there is no release to compare it with".into()]);
    };
    if !works(&mut cargo(&["semver-checks", "--version"])) {
        return Ok(vec!["the public interface: cargo-semver-checks is not installed".into()]);
    }
    // The command line program has no library.
    let mut command = cargo(&["semver-checks", "--baseline-rev", &release]);
    for name in CRATES.iter().filter(|name| **name != "farpoint-cli") {
        command.args(["--package", name]);
    }
    run(&mut command)?;
    Ok(Vec::new())
}
