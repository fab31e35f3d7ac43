//! Python tools in a virtual environment under `target`, installed from a file of pinned versions.

use crate::process::{run, target_folder, works};
use crate::tasks;
use anyhow::{Result, anyhow};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A virtual environment with what a file of requirements names.
pub(crate) struct Venv {
    folder: PathBuf,
}

impl Venv {
    /// The environment `target/NAME`, made or completed where needed; the reason if it can't be.
    pub(crate) fn with(name: &str, requirements: &Path) -> Result<Self> {
        let python = tasks::python().ok_or_else(|| anyhow!("python3 is not installed"))?;
        let venv = Self { folder: target_folder().join(name) };
        let installed = venv.folder.join("requirements.txt");
        let wanted = fs::read(requirements)?;
        let current = fs::read(&installed).is_ok_and(|there| there == wanted);
        if current && works(venv.tool("python").arg("--version")) {
            return Ok(venv);
        }
        run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&venv.folder))?;
        venv.install(&["-r".as_ref(), requirements.as_os_str()])?;
        // Last, so that an installation that was interrupted starts again.
        fs::write(installed, wanted)?;
        Ok(venv)
    }

    pub(crate) fn install(&self, what: &[&std::ffi::OsStr]) -> Result<()> {
        let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(self.tool("python").args(quiet).args(what))
    }

    /// A program of the environment.
    pub(crate) fn tool(&self, name: &str) -> Command {
        let (folder, suffix) = if cfg!(windows) { ("Scripts", ".exe") } else { ("bin", "") };
        Command::new(self.folder.join(folder).join(format!("{name}{suffix}")))
    }
}
