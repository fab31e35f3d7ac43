//! Small tasks, each one command.

use crate::process::{cargo, run, target_folder, works};
use anyhow::{Context, Result};
use std::process::Command;

/// The scripts that compare farpoint with other libraries: sampling, and nearest neighbors.
const PEERS: [&str; 2] = ["lab/peers/peers.py", "lab/peers/chamfer.py"];

/// Requirements of the scripts.
const REQUIREMENTS: [&str; 2] =
    ["lab/peers/requirements.txt", "lab/peers/requirements-chamfer.txt"];

/// Rewrites the golden file from the generators and `reference`.
pub(crate) fn write_golden() -> Result<()> {
    let mut command = cargo(&["test", "--package", "farpoint", "--test", "it", "golden"]);
    run(command.args(["--", "--nocapture"]).env("FARPOINT_GOLDEN", "write"))
}

/// Runs the laboratory in release mode.
pub(crate) fn lab(args: &[String]) -> Result<()> {
    run(cargo(&["run", "--release", "--package", "farpoint-lab", "--"]).args(args))
}

/// Returns the name of a Python 3 interpreter, if there is one.
pub(crate) fn python() -> Option<&'static str> {
    ["python3", "python"].into_iter().find(|name| {
        works(Command::new(name).args(["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]))
    })
}

/// Compares with other libraries; they are installed into `.venv` at the root. The first
/// argument `chamfer` selects nearest neighbors instead of sampling.
pub(crate) fn peers(args: &[String]) -> Result<()> {
    let python = python().context("this task needs python3 (3.9 or later), and there is none")?;
    run(&mut cargo(&["build", "--release", "--package", "farpoint-cli"]))?;
    let venv = std::path::Path::new(".venv");
    let inside = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !inside.exists() {
        run(Command::new(python).args(["-m", "venv"]).arg(venv))?;
    }
    let chamfer = args.first().is_some_and(|arg| arg == "chamfer");
    let which = usize::from(chamfer);
    run(Command::new(&inside)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg(REQUIREMENTS[which]))?;
    let release = target_folder().join("release");
    let mut command = Command::new(&inside);
    command.arg(PEERS[which]).arg("--farpoint").arg(release.join("farpoint"));
    if chamfer {
        let peers = std::path::Path::new("lab/peers-rs");
        run(cargo(&["build", "--release"]).current_dir(peers))?;
        // A workspace of its own, with its own target folder unless one is set.
        let release = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(_) => release,
            None => peers.join("target/release"),
        };
        command.arg("--peers-rs").arg(release.join("peers-rs"));
    }
    run(command.args(&args[which..]))
}
