//! Virtual environments of Python under `target`.

use crate::process::{run, target_folder, works};
use crate::tasks;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A virtual environment.
pub(crate) struct Venv {
    folder: PathBuf,
}

impl Venv {
    /// Opens the environment `target/NAME`, created if it is missing or damaged; the reason if it can't be.
    pub(crate) fn open(name: &str) -> Result<Self> {
        let python = tasks::python().context("python3 is not installed")?;
        let venv = Self { folder: target_folder().join(name) };
        if !works(venv.tool("python").args(["-m", "pip", "--version"])) {
            run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&venv.folder))?;
        }
        Ok(venv)
    }

    /// Opens an environment with the packages of a file of requirements.
    pub(crate) fn with(name: &str, requirements: &Path) -> Result<Self> {
        let venv = Self::open(name)?;
        let installed = venv.folder.join("requirements.txt");
        let expected = fs::read(requirements)?;
        if !fs::read(&installed).is_ok_and(|found| found == expected) {
            venv.install(&["-r".as_ref(), requirements.as_os_str()])?;
            // Last, so that an installation that was interrupted starts again.
            fs::write(installed, expected)?;
        }
        Ok(venv)
    }

    pub(crate) fn install<S: AsRef<std::ffi::OsStr>>(&self, what: &[S]) -> Result<()> {
        let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        // NumPy without a wheel would be compiled for minutes.
        run(self.tool("python").args(quiet).arg("--only-binary=numpy").args(what))
    }

    /// Returns a program of the environment.
    pub(crate) fn tool(&self, name: &str) -> Command {
        let (folder, suffix) = if cfg!(windows) { ("Scripts", ".exe") } else { ("bin", "") };
        Command::new(self.folder.join(folder).join(format!("{name}{suffix}")))
    }
}
