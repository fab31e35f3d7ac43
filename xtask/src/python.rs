//! The Python package: a wheel is built, installed into a fresh environment, and tested there.
//!
//! Environments are kept under `target/python-test` and created anew only when they are damaged, since
//! PyTorch is large. It is tested on its CPU path. Skipped tests are reported.

use crate::budget::Budget;
use crate::process::{
    build_as_tests, copy, files, output, run, target_folder, works, workspace_version,
};
use crate::report::run_tests;
use crate::tasks;
use crate::venv::Venv;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest Python that the package supports.
const OLDEST_PYTHON: &str = "(3, 10)";

/// Requirements of the tests, and packages that make more of them run where they can be installed.
/// typing-extensions is a dependency on Python 3.10 only.
const NEEDED: [&str; 3] = ["numpy", "pytest", "typing-extensions"];
const WANTED: [&str; 8] = [
    "tqdm",
    "scipy",
    "matplotlib",
    "fpsample>=1.0.2",
    "array-api-strict",
    "torch_geometric>=2.8",
    "small_gicp>=1.0",
    "kiss-icp>=1.3",
];
/// Starts processes: the tests that need it, `test_ray*.py`, are a run of their own, so that a hanging one does not
/// hold up the others. They use pipes, signals and `/proc`.
const RAY: &str = "ray>=2.40";

/// Checks that Ray works at all, which needs shared memory, ports and a start in time.
const RAY_STARTS: &str = "\
import faulthandler; faulthandler.dump_traceback_later(120, exit=True)
import ray
ray.init(num_cpus=1, include_dashboard=False)
assert ray.get(ray.remote(lambda: 7).remote(), timeout=60) == 7
ray.shutdown()
";
/// Prints how long the import takes, as a multiple of NumPy's, which it contains: the best of several processes.
const IMPORTS: &str = "\
import subprocess, sys
code = 'import time; a = time.perf_counter(); import numpy; b = time.perf_counter(); import farpoint; \
print((time.perf_counter() - b) / (b - a))'
print(min(float(subprocess.check_output([sys.executable, '-c', code])) for _ in range(9)))
";
/// Checks that the wheel has the licenses of its contents.
const HOLDS_NOTICES: &str = "\
import importlib.metadata
names = {path.name for path in importlib.metadata.files('farpoint')}
assert {'LICENSE-MIT', 'LICENSE-APACHE', 'THIRD-PARTY.txt'} <= names, names
";
/// Folder of the package.
const PACKAGE: &str = "bindings/python/python/farpoint";

/// Folder of the tests.
const TESTS: &str = "bindings/python/tests";

/// The networks of the laboratory, a package of its own, and its tests.
const SEGMENTATION: &str = "./lab/segmentation";
const SEGMENTATION_TYPES: &str = "lab/segmentation/farpoint_segmentation";
const SEGMENTATION_TESTS: &str = "lab/segmentation/tests";

/// Tests of a quick run: results and files with NumPy alone. Processes, signals and imports are tested with all others.
const CORE: &str = "approximate arguments batches cloud_sample files match messages one_file operators readme reference rows sample";
/// Tests of reading and creating arrays.
const ARRAYS: &str = "arguments batches compat_arrays device match operators rows sample";

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

/// Runs the tests of NumPy alone, with a wheel from the build of the Rust tests; returns what was skipped, and why.
pub(crate) fn test_core() -> Result<Vec<String>> {
    if !cfg!(target_os = "linux") {
        return Ok(vec!["outside Linux maturin has to link the module (python-all)".into()]);
    }
    let venv = match prepare("core", &NEEDED) {
        Ok(venv) => venv,
        Err(obstacle) => return Ok(vec![format!("{obstacle:#}")]),
    };
    install_wheel(&venv, &pack(&venv)?)?;
    let import = output(venv.tool("python").args(["-c", IMPORTS]))?.trim().parse()?;
    if let Some(problem) = Budget::read()?.compare("work", "import", import) {
        bail!(problem);
    }
    pytest(&venv, "NumPy alone", &files_of(CORE))
}

/// Builds, installs and tests as users have it; returns what was skipped, and why.
pub(crate) fn test_all() -> Result<Vec<String>> {
    let venv = match builder() {
        Ok(venv) => venv,
        Err(obstacle) => return Ok(vec![format!("{obstacle:#}")]),
    };
    let wheel = build(&venv)?;
    let mut skipped = try_install(&venv, &WANTED);
    skipped.extend(try_torch(&venv));
    install_wheel(&venv, &wheel)?;
    run(venv.tool("python").args(["-c", HOLDS_NOTICES]))?;
    skipped.extend(check_types(&venv)?);
    let mut all: Vec<_> = ["--ignore-glob=*/test_ray*.py", TESTS].map(PathBuf::from).into();
    all.extend(side_by_side(&venv));
    skipped.extend(pytest(&venv, "newest NumPy", &all)?);
    skipped.extend(pytest_segmentation(&venv)?);
    skipped.extend(pytest_ray(&venv)?);
    skipped.extend(test_lowest(&wheel)?);
    Ok(skipped)
}

/// Returns an environment with the build tools of the wheel; an error is the reason why it can't be built here.
pub(crate) fn builder() -> Result<Venv> {
    prepare("newest", &[&["maturin>=1.9,<2"], &NEEDED[..]].concat())
}

/// Returns an environment with these packages; an error is the reason why there is none.
fn prepare(name: &str, packages: &[&str]) -> Result<Venv> {
    let venv = Venv::open(&format!("python-test/{name}"))?;
    let code = format!("import sys; assert sys.version_info >= {OLDEST_PYTHON}");
    ensure!(works(venv.tool("python").args(["-c", &code])), "Python is older than {OLDEST_PYTHON}");
    venv.install(packages).context("the Python packages for the tests can't be fetched")?;
    Ok(venv)
}

/// Returns the folder of everything.
fn folder() -> PathBuf {
    target_folder().join("python-test")
}

fn files_of(names: &str) -> Vec<PathBuf> {
    names.split(' ').map(|name| Path::new(TESTS).join(format!("test_{name}.py"))).collect()
}

/// Tests arrays again with the lowest NumPy that the package allows and this Python has wheels of.
fn test_lowest(wheel: &Path) -> Result<Vec<String>> {
    let numpy = lowest_numpy(tasks::python().context("there is no python3")?)?;
    let Ok(venv) = prepare("lowest", &[&numpy, "pytest", "typing-extensions"]) else {
        return Ok(vec![format!("the tests with {numpy}, which has no wheel for this Python")]);
    };
    install_wheel(&venv, wheel)?;
    // Tests skipped for want of other libraries ran with the newest.
    pytest(&venv, &numpy, &files_of(ARRAYS))?;
    Ok(Vec::new())
}

/// Returns the lower bound in `pyproject.toml`, which is of the oldest Python; later ones began with later NumPy.
fn lowest_numpy(python: &str) -> Result<String> {
    let code = "import sys; print({10: '1.23.0', 11: '1.23.2', 12: '1.26.0', 13: '2.1.0', \
                14: '2.3.2'}.get(sys.version_info[1], '2.4.0'))";
    Ok(format!("numpy=={}", output(Command::new(python).args(["-c", code]))?.trim()))
}

/// Installs each package that can be installed; returns the others, as skipped.
fn try_install(venv: &Venv, packages: &[&str]) -> Vec<String> {
    let fails = |package: &&&str| venv.install(&[*package]).is_err();
    let left_out = packages.iter().filter(fails);
    left_out.map(|package| format!("tests with {package}, which can't be fetched")).collect()
}

/// Installs PyTorch; returns the reason if it can't be.
fn try_torch(venv: &Venv) -> Option<String> {
    if std::env::var_os(TORCH).is_some_and(|value| value == "0") {
        return Some(format!("the tests with PyTorch ({TORCH} is 0)"));
    }
    if works(&mut import_torch(venv)) {
        return None;
    }
    eprintln!("fetching PyTorch, once");
    let error = fetch_torch(venv).err()?;
    Some(format!("the tests with PyTorch, which can't be installed ({error:#})"))
}

fn fetch_torch(venv: &Venv) -> Result<()> {
    if cfg!(target_os = "linux") {
        venv.install(&TORCH_NEEDS)?;
        venv.install(&["--no-deps", TORCH_ALONE])?;
        run(venv.tool("python").arg(TORCH_ON_THE_CPU))?;
    } else {
        venv.install(&["torch>=2.4"])?;
    }
    run(&mut import_torch(venv))
}

fn import_torch(venv: &Venv) -> Command {
    let mut command = venv.tool("python");
    command.args(["-c", "import torch"]);
    command
}

/// Checks types within the package, and the stubs beside the installed ones. Those of PyTorch are needed.
fn check_types(venv: &Venv) -> Result<Option<String>> {
    if !works(&mut import_torch(venv)) {
        return Ok(Some("types (there is no PyTorch)".into()));
    }
    if let Err(error) = venv.install(&[MYPY]) {
        return Ok(Some(format!("types, since {MYPY} can't be installed ({error:#})")));
    }
    eprintln!("mypy");
    let cache = target_folder().join("python-test/mypy");
    let mut strict = venv.tool("python");
    strict.args(["-m", "mypy", "--strict", "--cache-dir"]).arg(cache);
    let users = "bindings/python/tests/types_of_users.py";
    run(strict.args(["bindings/python/python/farpoint", SEGMENTATION_TYPES, users]))?;
    let mut stubs = venv.tool("python");
    stubs.args(["-m", "mypy.stubtest", "farpoint._native", "--concise", "--mypy-config-file"]);
    run(stubs.arg("pyproject.toml"))?;
    Ok(None)
}

/// Builds the wheel as users have it.
pub(crate) fn build(venv: &Venv) -> Result<PathBuf> {
    let folder = &folder().join("wheels");
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let mut command = venv.tool("python");
    command
        .args("-m maturin build --release --quiet --compression-level 9 --interpreter".split(' '));
    run(command.arg(venv.tool("python").get_program()).arg("--out").arg(folder))?;
    files(folder, |name| name.ends_with(".whl"))?.pop().context("maturin has left no wheel")
}

/// Packs a wheel as maturin does, of the module that is compiled together with the workspace's tests: maturin would
/// compile all crates again, with other features.
fn pack(venv: &Venv) -> Result<PathBuf> {
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
    let mut zip = venv.tool("python");
    zip.args(["-m", "zipfile", "-c"]).arg(&wheel).arg("farpoint").arg(about);
    run(zip.current_dir(folder))?;
    Ok(wheel)
}

fn install_wheel(venv: &Venv, wheel: &Path) -> Result<()> {
    venv.install(&["--no-deps".as_ref(), "--force-reinstall".as_ref(), wheel.as_os_str()])
}

/// Returns arguments of pytest that run the files of tests in a process per core, if what does so can be installed.
fn side_by_side(venv: &Venv) -> Vec<PathBuf> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match cores > 1 && venv.install(&["pytest-xdist"]).is_ok() {
        true => vec!["--dist=loadfile".into(), format!("--numprocesses={cores}").into()],
        false => Vec::new(),
    }
}

/// Runs tests, passing their report on; returns what they skipped.
fn pytest(venv: &Venv, what: &str, args: &[PathBuf]) -> Result<Vec<String>> {
    eprintln!("pytest with {what}");
    let mut command = venv.tool("python");
    command.args(["-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]);
    for (variable, name) in [("FARPOINT_BASELINES", "baselines"), ("FARPOINT_SCENES", "scenes")] {
        command.env(variable, target_folder().join(format!("debug/libfarpoint_{name}.so")));
    }
    run_tests(command.args(["-c", "pyproject.toml"]).args(args))
}

/// Runs the tests of the networks, whose package is installed beside; it has no further requirements.
fn pytest_segmentation(venv: &Venv) -> Result<Vec<String>> {
    if let Err(error) = venv.install(&["--no-deps", "--force-reinstall", SEGMENTATION]) {
        return Ok(vec![format!("the tests of {SEGMENTATION}, which can't be built ({error:#})")]);
    }
    // The baselines that they are compared with, and the generated scenes.
    build_as_tests(&["--lib"])?;
    pytest(venv, "the segmentation networks", &[PathBuf::from(SEGMENTATION_TESTS)])
}

/// Runs the tests of Ray, where it can be installed. A hanging one ends its process, and shows the position of each
/// thread on the standard error, which is therefore not captured.
fn pytest_ray(venv: &Venv) -> Result<Vec<String>> {
    if !cfg!(target_os = "linux") {
        return Ok(vec!["the tests with Ray, which are for Linux".into()]);
    }
    if let Err(error) = venv.install(&[RAY]) {
        return Ok(vec![format!("the tests with {RAY}, which can't be installed ({error:#})")]);
    }
    if !works(venv.tool("python").args(["-c", RAY_STARTS])) {
        return Ok(vec!["the tests with Ray, which can't start a task here in two minutes".into()]);
    }
    let mut args = files(Path::new(TESTS), |name| name.starts_with("test_ray"))?;
    args.push("--capture=sys".into());
    pytest(venv, "Ray", &args)
}
