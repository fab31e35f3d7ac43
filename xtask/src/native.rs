//! The C interface: its header is up to date with the source, the shared library exports what the header
//! declares and nothing else, the interface is the committed one, and the test programs in C pass.

mod abi;
mod header;
mod programs;

use crate::process::{cargo, run, target_folder, works};
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the crate.
const CRATE: &str = "crates/farpoint-capi";

/// Name that programs ask the loader for.
pub(crate) const SONAME: &str = concat!(
    "libfarpoint.so.",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR")
);

/// Runs the checks; returns what was skipped, and why.
pub(crate) fn check() -> Result<Vec<String>> {
    let mut skipped = Vec::new();
    header::check(&mut skipped)?;
    if !cfg!(target_os = "linux") {
        skipped.push("the shared library is looked at on Linux only".into());
        return Ok(skipped);
    }
    let folder = library()?;
    abi::check(&folder, &mut skipped)?;
    programs::check(&folder, &mut skipped)?;
    cargo_c(&folder, &mut skipped)?;
    Ok(skipped)
}

/// Checks `cargo cinstall`, which packagers use: library, header and the pkg-config file are in the usual places.
fn cargo_c(folder: &Path, skipped: &mut Vec<String>) -> Result<()> {
    if !works(&mut cargo(&["capi", "--version"])) {
        skipped.push("cargo-c, which packagers use, is not installed".into());
        return Ok(());
    }
    let to = std::path::absolute(folder.join("cargo-c"))?;
    let mut install = cargo(&["cinstall", "--package", "farpoint-capi", "--prefix", "/usr"]);
    run(install.args(["--libdir", "/usr/lib", "--destdir"]).arg(&to))?;
    let library = format!("lib/{SONAME}");
    for file in [&*library, "lib/pkgconfig/farpoint.pc", "include/farpoint/farpoint.h"] {
        ensure!(to.join("usr").join(file).exists(), "cargo cinstall made no {file}");
    }
    Ok(())
}

/// Writes the header and the description of the interface anew.
pub(crate) fn write() -> Result<()> {
    header::write()?;
    abi::write(&library()?)
}

/// Builds the shared library as CMake does (`bindings/cpp/cmake/library.cmake`), so that it is
/// compiled once; returns its folder, by the names that linker and loader look for.
pub(crate) fn library() -> Result<PathBuf> {
    let mut command = cargo(&["rustc", "--release", "--package", "farpoint-capi", "--lib"]);
    run(command.args(["--crate-type", "cdylib", "--crate-type", "staticlib"]))?;
    let folder = target_folder().join("native");
    fs::create_dir_all(&folder)?;
    let built = target_folder().join("release/libfarpoint_capi.so");
    ensure!(built.exists(), "cargo made no {}", built.display());
    fs::copy(built, folder.join(SONAME))?;
    fs::copy(folder.join(SONAME), folder.join("libfarpoint.so"))?;
    Ok(folder)
}

/// Returns the folder that programs include from.
fn include() -> PathBuf {
    Path::new(CRATE).join("include")
}

/// Returns the committed header.
fn header_file() -> PathBuf {
    include().join("farpoint/farpoint.h")
}

/// Returns the C compiler.
fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".into())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_recorded_interface_is_of_this_version() {
        let types =
            std::fs::read_to_string("../crates/farpoint-capi/abi/x86_64-linux.abi").unwrap();
        assert!(types.contains(&format!("soname='{}'", super::SONAME)));
    }
}
