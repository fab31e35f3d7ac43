//! The small tasks, each one command.

use crate::process::{cargo, run, target_folder, works};
use anyhow::{Context, Result};
use std::process::Command;

/// The script that compares farpoint with other libraries.
pub(crate) const PEERS: &str = "benches/peers/peers.py";

/// Writes the golden file anew from the generators and `reference`.
pub(crate) fn write_golden() -> Result<()> {
    run(golden().env("FARPOINT_GOLDEN", "write"))
}

/// Compares the golden file with the generators, `reference` and every algorithm.
pub(crate) fn check_golden() -> Result<()> {
    run(&mut golden())
}

fn golden() -> Command {
    cargo(&["test", "--package", "farpoint", "--test", "golden", "--", "--nocapture"])
}

/// `farpoint bench` in release mode.
pub(crate) fn bench(args: &[String]) -> Result<()> {
    let mut command = cargo(&["run", "--release", "--package", "farpoint-cli", "--", "bench"]);
    run(command.args(args))
}

/// The name of a Python 3 interpreter, if there is one.
pub(crate) fn python() -> Option<&'static str> {
    ["python3", "python"].into_iter().find(|name| {
        works(Command::new(name).args(["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]))
    })
}

/// Compares with other libraries; they are installed into `.venv` at the root.
pub(crate) fn peers(args: &[String]) -> Result<()> {
    let python = python().context("this task needs python3 (3.9 or later), and there is none")?;
    run(&mut cargo(&["build", "--release", "--package", "farpoint-cli"]))?;
    let venv = std::path::Path::new(".venv");
    let inside = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !inside.exists() {
        run(Command::new(python).args(["-m", "venv"]).arg(venv))?;
    }
    run(Command::new(&inside)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg("benches/peers/requirements.txt"))?;
    let program = target_folder().join("release/farpoint");
    run(Command::new(&inside).arg(PEERS).arg("--farpoint").arg(program).args(args))
}
