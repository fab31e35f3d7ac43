//! Output of the command, read by third-party software: laspy, plyfile, pypcd4, NumPy, mcap and
//! rosbags; copclib and LASzip where there are packages; where there is npm @mcap/core, copc, laz-perf and
//! with Chromium iTowns; and where they are installed Open3D and PCL's tools.

use crate::process::{program, run, target_folder, works};
use crate::report::run_tests;
use crate::venv::Venv;
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TESTS: &str = "crates/farpoint-cli/tests/readers";
const REQUIREMENTS: &str = "crates/farpoint-cli/tests/readers/requirements.txt";
/// Separate from the others, as there are not packages of them for every system.
const OF_COPC: &str = "crates/farpoint-cli/tests/readers/requirements-copc.txt";

const PACKAGE: &str = "crates/farpoint-cli/tests/readers/package.json";
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Set to 1, installs Open3D, which takes 600 MB with its requirements.
const WITH_OPEN3D: &str = "FARPOINT_OPEN3D";
/// Linux has one without GPU support.
const OPEN3D: &str = match cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    true => "open3d-cpu==0.20.0",
    false => "open3d==0.20.0",
};

/// Runs the tests; returns what was skipped, and why.
pub(crate) fn check() -> Result<Vec<String>> {
    let venv = match Venv::with("readers", Path::new(REQUIREMENTS)) {
        Ok(venv) => venv,
        Err(error) => return Ok(vec![format!("the readers can't be installed ({error:#})")]),
    };
    let mut skipped = Vec::new();
    let failed = venv.install(&["-r", OF_COPC]).err();
    skipped.extend(failed.map(|error| format!("readers of COPC can't be installed ({error:#})")));
    let required = std::env::var_os(WITH_OPEN3D).is_some_and(|value| value == "1");
    if required && !works(venv.tool("python").args(["-c", "import open3d"])) {
        let failed = venv.install(&[OPEN3D]).err();
        skipped.extend(failed.map(|error| format!("{OPEN3D} can't be installed ({error:#})")));
    }
    let node = node();
    skipped
        .extend(node.as_ref().err().map(|error| format!("@mcap/core, copc, iTowns ({error:#})")));
    let mut pytest = venv.tool("python");
    pytest.args(["-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]);
    pytest.args(["-c", "pyproject.toml", TESTS]);
    pytest.env("FARPOINT", program()?);
    node.into_iter().for_each(|folder| _ = pytest.env("FARPOINT_NODE", folder));
    skipped.extend(run_tests(&mut pytest)?);
    Ok(skipped)
}

/// Returns the folder of packages that npm installs; the reason if it can't be.
fn node() -> Result<PathBuf> {
    ensure!(works(Command::new(NPM).arg("--version")), "npm is not installed");
    let folder = target_folder().join("readers-node");
    let (expected, installed) = (fs::read(PACKAGE)?, folder.join("package.json"));
    let done = folder.join("done");
    if done.exists() && fs::read(&installed).is_ok_and(|found| found == expected) {
        return Ok(folder);
    }
    fs::create_dir_all(&folder)?;
    fs::write(&installed, expected)?;
    let quiet = ["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"];
    run(Command::new(NPM).args(quiet).arg("--prefix").arg(&folder))?;
    // Last, so that an installation that was interrupted starts again.
    fs::write(done, [])?;
    Ok(folder)
}
