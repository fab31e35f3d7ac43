//! The Python package: a wheel is built, installed into a fresh environment, and tested there.
//!
//! Environments are kept under `target/python-test` and made anew only when they are damaged, since
//! PyTorch is large. It is tested on its CPU path. What is skipped is said.

use crate::process::{build_as_tests, copy, output, run, target_folder, works, workspace_version};
use crate::report::run_tests;
use crate::tasks;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest Python that the package supports.
const OLDEST_PYTHON: (u32, u32) = (3, 10);

/// What the tests need, and what makes more of them run where it can be installed.
/// typing-extensions is a dependency on Python 3.10 only.
const NEEDED: [&str; 3] = ["numpy", "pytest", "typing-extensions"];
const WANTED: [&str; 5] = ["tqdm", "scipy", "matplotlib", "fpsample>=1.0.2", "array-api-strict"];
/// Starts processes: the tests that need it, `test_ray*.py`, are a run of their own, which a hanging one does not
/// hold up. They use pipes, signals and `/proc`.
const RAY: &str = "ray>=2.40";

/// Whether Ray works at all, which needs shared memory, ports and a start in time.
const RAY_STARTS: &str = "\
import faulthandler; faulthandler.dump_traceback_later(120, exit=True)
import ray
ray.init(num_cpus=1, include_dashboard=False)
assert ray.get(ray.remote(lambda: 7).remote(), timeout=60) == 7
ray.shutdown()
";
/// Where the package is.
const PACKAGE: &str = "bindings/python/python/farpoint";

/// Where the tests are.
const TESTS: &str = "bindings/python/tests";

/// Tests that need NumPy and nothing else, or leave out what does.
const CORE: [&str; 18] = [
    "approximate",
    "arguments",
    "batches",
    "cloud_sample",
    "compat_arrays",
    "device",
    "files",
    "floors",
    "interrupt",
    "many_files",
    "match",
    "one_file",
    "operators",
    "processes",
    "progress",
    "readme",
    "rows",
    "sample",
];
/// Those that show how arrays are read and made.
const ARRAYS: [&str; 8] =
    ["arguments", "batches", "compat_arrays", "device", "match", "operators", "rows", "sample"];

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

/// The tests of NumPy alone, with a wheel of what the tests of Rust were compiled with; what was skipped, and why.
pub(crate) fn test_core() -> Result<Vec<String>> {
    if !cfg!(target_os = "linux") {
        return Ok(vec!["outside Linux maturin has to link the module (python-all)".into()]);
    }
    let core = match prepare("core", &NEEDED)? {
        Ok(core) => core,
        Err(obstacle) => return Ok(vec![obstacle]),
    };
    core.install_wheel(&core.pack()?)?;
    core.pytest("NumPy alone", &files_of(&CORE))
}

/// Builds, installs and tests as users have it; what was skipped, and why.
pub(crate) fn test_all() -> Result<Vec<String>> {
    let (newest, wheel) = match release_wheel()? {
        Ok(found) => found,
        Err(obstacle) => return Ok(vec![obstacle]),
    };
    let mut skipped = newest.try_install(&WANTED);
    skipped.extend(newest.try_torch());
    newest.install_wheel(&wheel)?;
    skipped.extend(newest.check_types()?);
    let all = ["--ignore-glob=*/test_ray*.py", TESTS].map(PathBuf::from);
    skipped.extend(newest.pytest("newest NumPy", &all)?);
    skipped.extend(newest.pytest_ray()?);
    skipped.extend(test_lowest(&wheel)?);
    Ok(skipped)
}

/// The wheel as users have it, and the environment that it was built in; the reason if it can't be built here.
pub(crate) fn release_wheel() -> Result<Result<(Environment, PathBuf), String>> {
    let newest = match prepare("newest", &[&["maturin>=1.9,<2"], &NEEDED[..]].concat())? {
        Ok(newest) => newest,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    let wheel = newest.build(&folder().join("wheels"))?;
    Ok(Ok((newest, wheel)))
}

/// An environment with these packages; the reason if it can't be had.
fn prepare(name: &str, packages: &[&str]) -> Result<Result<Environment, String>> {
    let Some(python) = tasks::python() else {
        return Ok(Err("python3 is not installed".into()));
    };
    if let Some(obstacle) = too_old(python)? {
        return Ok(Err(obstacle));
    }
    fs::create_dir_all(folder())?;
    let environment = Environment::open(python, &folder().join(name))?;
    let installed = environment.install(packages);
    Ok(installed
        .map(|()| environment)
        .map_err(|error| format!("the Python packages for the tests can't be fetched ({error:#})")))
}

/// Where everything lies.
fn folder() -> PathBuf {
    target_folder().join("python-test")
}

fn files_of(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| Path::new(TESTS).join(format!("test_{name}.py"))).collect()
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

/// Tests of arrays again with the lowest NumPy that the package allows and this Python has wheels of.
fn test_lowest(wheel: &Path) -> Result<Vec<String>> {
    let numpy = lowest_numpy(tasks::python().context("there is no python3")?)?;
    let Ok(lowest) = prepare("lowest", &[&numpy, "pytest", "typing-extensions"])? else {
        return Ok(vec![format!("the tests with {numpy}, which has no wheel for this Python")]);
    };
    lowest.install_wheel(wheel)?;
    // What it skips for want of other libraries ran with the newest.
    lowest.pytest(&numpy, &files_of(&ARRAYS))?;
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
pub(crate) struct Environment {
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

    /// Packs a wheel as maturin does, of the module that is compiled together with the workspace's tests: maturin would
    /// compile all crates again, with other features.
    fn pack(&self) -> Result<PathBuf> {
        let module = build_as_tests(&["--lib"])?.join("lib_native.so");
        let folder = folder().join("wheel");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let name = format!("farpoint-{}", workspace_version()?);
        let about = folder.join(format!("{name}.dist-info"));
        copy(Path::new(PACKAGE), &folder.join("farpoint"))?;
        fs::copy(module, folder.join("farpoint/_native.abi3.so"))?;
        fs::create_dir_all(&about)?;
        let lines = format!("Metadata-Version: 2.1\nName: {}\n", name.replace('-', "\nVersion: "));
        fs::write(about.join("METADATA"), lines)?;
        let lines = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n";
        fs::write(about.join("WHEEL"), lines)?;
        fs::write(about.join("RECORD"), "")?;
        let wheel = folder.join(format!("{name}-py3-none-any.whl"));
        let mut zip = Command::new(&self.python);
        zip.args(["-m", "zipfile", "-c"]).arg(&wheel).arg("farpoint").arg(about);
        run(zip.current_dir(folder))?;
        Ok(wheel)
    }

    fn install_wheel(&self, wheel: &Path) -> Result<()> {
        run(self
            .pip()
            .args(["install", "--quiet", "--disable-pip-version-check", "--no-deps"])
            .arg("--force-reinstall")
            .arg(wheel))
    }

    /// Runs tests, passing their report on; what they skipped.
    fn pytest(&self, what: &str, args: &[PathBuf]) -> Result<Vec<String>> {
        eprintln!("pytest with {what}");
        let mut command = Command::new(&self.python);
        command.args(["-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]);
        run_tests(command.args(["-c", "pyproject.toml"]).args(args))
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
        if !works(Command::new(&self.python).args(["-c", RAY_STARTS])) {
            return Ok(vec![
                "the tests with Ray, which can't start a task here in two minutes".into(),
            ]);
        }
        let args = ["--capture=sys".into()].into_iter().chain(tests_of_ray()?);
        self.pytest("Ray", &args.collect::<Vec<_>>())
    }
}
