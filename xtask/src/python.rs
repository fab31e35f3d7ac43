//! The Python package: a wheel is built, installed into a fresh environment, and tested there.
//!
//! Environments are kept under `target/python-test` and made anew only when they are damaged, since
//! PyTorch is large. It is tested on its CPU path. What is skipped is said.

use crate::process::{output, run, target_folder, works};
use crate::pytest::run_pytest;
use crate::tasks;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The oldest Python that the package supports.
const OLDEST_PYTHON: (u32, u32) = (3, 10);

/// What the tests need, and what makes more of them run where it can be installed.
/// typing-extensions is a dependency on Python 3.10 only.
const NEEDED: [&str; 3] = ["numpy", "pytest", "typing-extensions"];
const WANTED: [&str; 5] = ["tqdm", "scipy", "matplotlib", "fpsample>=1.0.2", "array-api-strict"];
/// Starts processes: the tests that need it, `test_ray*.py`, are a run of their own, which a hanging one does not
/// hold up. They use pipes, signals and `/proc`.
const RAY: &str = "ray>=2.40";

/// They take minutes.
const LIMIT: Duration = Duration::from_secs(3600);

/// They take less than a minute on two cores that do nothing else, four where ten others want them.
const RAY_LIMIT: Duration = Duration::from_secs(600);
/// `all` runs those tests of Ray, too, that take minutes.
const RAY_ALL: &str = "FARPOINT_RAY";

/// Where the tests are.
const TESTS: &str = "bindings/python/tests";

/// Checks types; another release would find other faults.
const MYPY: &str = "mypy==2.4.1";

/// Set to 0, it leaves PyTorch out, which is half a GB to fetch, once.
const TORCH: &str = "FARPOINT_TORCH";

/// The release that is tested on Linux, where the wheel names CUDA packages of a few GB: it comes
/// without them, with what it needs on the CPU.
const TORCH_ALONE: &str = "torch==2.11.0";
const TORCH_NEEDS: [&str; 6] =
    ["typing-extensions", "sympy", "networkx", "jinja2", "fsspec", "filelock"];
const TORCH_ON_THE_CPU: &str = "xtask/python/torch_on_the_cpu.py";

/// Builds, installs and tests; what was skipped, and why.
pub(crate) fn test() -> Result<Vec<String>> {
    let Some(python) = tasks::python() else {
        return Ok(vec!["python3 is not installed".into()]);
    };
    if let Some(obstacle) = too_old(python)? {
        return Ok(vec![obstacle]);
    }
    let folder = target_folder().join("python-test");
    fs::create_dir_all(&folder)?;
    let newest = Environment::open(python, &folder.join("newest"))?;
    if let Err(error) = newest.install(&[&["maturin>=1.9,<2"], &NEEDED[..]].concat()) {
        return Ok(vec![format!("the Python packages for the tests can't be fetched ({error:#})")]);
    }
    let mut skipped = newest.try_install(&WANTED);
    skipped.extend(newest.try_torch());
    let wheel = newest.build(&folder.join("wheels"))?;
    newest.install_wheel(&wheel)?;
    skipped.extend(newest.check_types()?);
    skipped.extend(newest.pytest("newest NumPy")?);
    skipped.extend(newest.pytest_ray()?);
    skipped.extend(test_lowest(python, &folder, &wheel)?);
    Ok(skipped)
}

fn too_old(python: &str) -> Result<Option<String>> {
    let code = "import sys; print(*sys.version_info[:2])";
    let found = output(Command::new(python).args(["-c", code]))?;
    let mut numbers = found.split_whitespace().map(|word| word.parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let (major, minor) = OLDEST_PYTHON;
    let text = format!("{} is Python {}.{}, not {major}.{minor}", python, version.0, version.1);
    Ok((version < OLDEST_PYTHON).then_some(text))
}

/// The tests again with the lowest NumPy that the package allows and this Python has wheels of.
/// Tests of other libraries are left out there: those want newer ones.
fn test_lowest(python: &str, folder: &Path, wheel: &Path) -> Result<Vec<String>> {
    let lowest = Environment::open(python, &folder.join("lowest"))?;
    let numpy = lowest_numpy(python)?;
    if lowest.install(&[&numpy, "pytest", "typing-extensions"]).is_err() {
        return Ok(vec![format!("the tests with {numpy}, which has no wheel for this Python")]);
    }
    lowest.install_wheel(wheel)?;
    // What it skips for want of other libraries ran with the newest.
    lowest.pytest(&numpy)?;
    Ok(Vec::new())
}

/// The lower bound in `pyproject.toml` is of the oldest Python; later ones began with later NumPy.
fn lowest_numpy(python: &str) -> Result<String> {
    let code = "import sys; print({10: '1.23.0', 11: '1.23.2', 12: '1.26.0', 13: '2.1.0', \
                14: '2.3.2'}.get(sys.version_info[1], '2.4.0'))";
    Ok(format!("numpy=={}", output(Command::new(python).args(["-c", code]))?.trim()))
}

fn tests_of_ray() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(TESTS).context(TESTS)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("test_ray") && name.ends_with(".py") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A virtual environment.
struct Environment {
    python: PathBuf,
}

impl Environment {
    /// The environment in this folder, made if it is not there or does not work.
    fn open(python: &str, folder: &Path) -> Result<Self> {
        let inside = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        let found = Self { python: inside };
        if !works(found.pip().arg("--version")) {
            run(Command::new(python).args(["-m", "venv", "--clear"]).arg(folder))?;
        }
        Ok(found)
    }

    fn pip(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-m", "pip"]);
        command
    }

    fn install(&self, packages: &[&str]) -> Result<()> {
        let quiet = ["install", "--quiet", "--disable-pip-version-check"];
        // NumPy without a wheel would be compiled for minutes.
        run(self.pip().args(quiet).arg("--only-binary=numpy").args(packages))
    }

    /// Installs what can be installed; the others, as skipped.
    fn try_install(&self, packages: &[&str]) -> Vec<String> {
        let fails = |package: &&&str| self.install(&[package]).is_err();
        let left_out = packages.iter().filter(fails);
        left_out.map(|package| format!("tests with {package}, which can't be fetched")).collect()
    }

    /// PyTorch, fetched if it is not there; the reason if it can't be.
    fn try_torch(&self) -> Option<String> {
        if std::env::var_os(TORCH).is_some_and(|value| value == "0") {
            return Some(format!("the tests with PyTorch ({TORCH} is 0)"));
        }
        if works(&mut self.import_torch()) {
            return None;
        }
        eprintln!("fetching PyTorch, once");
        let error = self.fetch_torch().err()?;
        Some(format!("the tests with PyTorch, which can't be installed ({error:#})"))
    }

    fn fetch_torch(&self) -> Result<()> {
        if cfg!(target_os = "linux") {
            self.install(&TORCH_NEEDS)?;
            self.install(&["--no-deps", TORCH_ALONE])?;
            run(Command::new(&self.python).arg(TORCH_ON_THE_CPU))?;
        } else {
            self.install(&["torch>=2.4"])?;
        }
        run(&mut self.import_torch())
    }

    fn import_torch(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-c", "import torch"]);
        command
    }

    /// Types within the package, and the stubs beside what is installed. Those of PyTorch are needed.
    fn check_types(&self) -> Result<Option<String>> {
        if !works(&mut self.import_torch()) {
            return Ok(Some("types (there is no PyTorch)".into()));
        }
        if let Err(error) = self.install(&[MYPY]) {
            return Ok(Some(format!("types, since {MYPY} can't be installed ({error:#})")));
        }
        eprintln!("mypy");
        let cache = target_folder().join("python-test/mypy");
        let mut strict = Command::new(&self.python);
        strict.args(["-m", "mypy", "--strict", "--cache-dir"]).arg(cache);
        let users = "bindings/python/tests/types_of_users.py";
        run(strict.args(["bindings/python/python/farpoint", users]))?;
        let mut stubs = Command::new(&self.python);
        stubs.args(["-m", "mypy.stubtest", "farpoint._native", "--concise", "--mypy-config-file"]);
        run(stubs.arg("pyproject.toml"))?;
        Ok(None)
    }

    /// Builds the wheel into an empty folder.
    fn build(&self, folder: &Path) -> Result<PathBuf> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let mut command = Command::new(&self.python);
        command.args(["-m", "maturin", "build", "--release", "--quiet", "--interpreter"]);
        run(command.arg(&self.python).arg("--out").arg(folder))?;
        let mut wheels = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
        wheels.next().context("maturin has left no wheel")
    }

    fn install_wheel(&self, wheel: &Path) -> Result<()> {
        run(self
            .pip()
            .args(["install", "--quiet", "--disable-pip-version-check", "--no-deps"])
            .arg("--force-reinstall")
            .arg(wheel))
    }

    /// Runs the tests, without those of Ray, passing their report on; what they skipped.
    fn pytest(&self, what: &str) -> Result<Vec<String>> {
        eprintln!("pytest with {what}");
        run_pytest(self.pytest_command().args(["--ignore-glob=*/test_ray*.py", TESTS]), LIMIT)
    }

    /// The same of the tests of Ray, where it can be installed. A hanging one ends its process, and shows where each
    /// thread is on the standard error, which is therefore not captured.
    fn pytest_ray(&self) -> Result<Vec<String>> {
        if !cfg!(target_os = "linux") {
            return Ok(vec!["the tests with Ray, which are for Linux".into()]);
        }
        if let Err(error) = self.install(&[RAY]) {
            return Ok(vec![format!("the tests with {RAY}, which can't be installed ({error:#})")]);
        }
        eprintln!("pytest with Ray");
        let all = std::env::var_os(RAY_ALL).is_some_and(|value| value == "all");
        let limit = if all { LIMIT } else { RAY_LIMIT };
        let mut command = self.pytest_command();
        run_pytest(command.arg("--capture=sys").args(tests_of_ray()?), limit)
    }

    fn pytest_command(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]);
        command.args(["-c", "pyproject.toml"]);
        command
    }
}
