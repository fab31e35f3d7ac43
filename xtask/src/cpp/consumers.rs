//! Other projects that use farpoint, in every way that the guide names.

use super::configure_and_build;
use crate::process::{output, run, works};
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

const CONSUMERS: &str = "bindings/cpp/tests/consumers";

pub(super) fn check(folder: &Path, prefix: &Path, skipped: &mut Vec<String>) -> Result<()> {
    // A moved installation works as well as one in its first place.
    let moved = folder.join("moved");
    if moved.exists() {
        std::fs::remove_dir_all(&moved)?;
    }
    std::fs::rename(prefix, &moved)?;
    let installed = installed(folder, &moved);
    let by_pkg_config = pkg_config(folder, &moved, skipped);
    std::fs::rename(&moved, prefix)?;
    installed?;
    by_pkg_config?;
    from_source(folder)
}

/// Tests `find_package(farpoint CONFIG)`, in C++ and in C, with the shared and the static library.
fn installed(folder: &Path, prefix: &Path) -> Result<()> {
    for project in ["installed", "c_only"] {
        let build = folder.join(project);
        let args = [format!("-DCMAKE_PREFIX_PATH={}", prefix.display())];
        configure_and_build(&Path::new(CONSUMERS).join(project), &build, &args)?;
        run_both(&build)?;
    }
    exports_its_own(&folder.join("installed/libplugin.so"))?;
    no_build_folder(folder)
}

/// Checks that a plug-in with the static library exports nothing of it: besides `main` only inline functions.
fn exports_its_own(plugin: &Path) -> Result<()> {
    let symbols = output(Command::new("nm").args(["-D", "--defined-only"]).arg(plugin))?;
    let of_library = symbols.lines().find(|line| line.contains(" T ") && !line.ends_with(" main"));
    ensure!(of_library.is_none(), "the plug-in exports {}", of_library.unwrap_or_default());
    Ok(())
}

/// Checks that a build folder is not taken for an installation.
fn no_build_folder(folder: &Path) -> Result<()> {
    let project = Path::new(CONSUMERS).join("installed");
    for variable in ["farpoint_DIR", "CMAKE_PREFIX_PATH"] {
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(&project).arg("-B").arg(folder.join("no-installation"));
        configure.arg(format!("-D{variable}={}", folder.join("build").display()));
        let found = configure.output()?;
        let words = String::from_utf8_lossy(&found.stderr);
        ensure!(
            !found.status.success() && words.contains("Could not find a package configuration"),
            "{variable} as a build folder: {words}"
        );
    }
    Ok(())
}

/// Tests `add_subdirectory` and FetchContent.
fn from_source(folder: &Path) -> Result<()> {
    let root = std::env::current_dir()?;
    for (name, fetch) in [("subdirectory", "OFF"), ("fetched", "ON")] {
        let build = folder.join(name);
        let args =
            [format!("-DFARPOINT_SOURCE={}", root.display()), format!("-DFARPOINT_FETCH={fetch}")];
        configure_and_build(&Path::new(CONSUMERS).join("subdirectory"), &build, &args)?;
        run_both(&build)?;
        let examples = build.join("farpoint/examples");
        ensure!(!examples.exists(), "farpoint builds its examples inside another project");
    }
    Ok(())
}

fn run_both(build: &Path) -> Result<()> {
    for kind in ["farpoint", "static"] {
        run(&mut Command::new(build.join(format!("with_{kind}"))))?;
    }
    Ok(())
}

/// Tests `pkg-config`, shared and static.
fn pkg_config(folder: &Path, prefix: &Path, skipped: &mut Vec<String>) -> Result<()> {
    if !works(Command::new("pkg-config").arg("--version")) {
        skipped.push("pkg-config is not installed".into());
        return Ok(());
    }
    let files = find(prefix, "farpoint.pc")?;
    let ask = |args: &[&str]| {
        output(Command::new("pkg-config").args(args).arg("farpoint").env("PKG_CONFIG_PATH", &files))
    };
    let lib = ask(&["--variable=libdir"])?;
    for (name, flags) in [("shared", ask(&["--libs"])?), ("static", ask(&["--static", "--libs"])?)]
    {
        // The linker takes the shared library where both are, unless the archive is named.
        let flags = match name {
            "static" => flags.replace("-lfarpoint", "-l:libfarpoint.a"),
            _ => flags,
        };
        let program = folder.join(format!("pkg-config-{name}"));
        let mut compile = Command::new("c++");
        compile.args(["-std=c++17", "-O1"]).arg(Path::new(CONSUMERS).join("main.cpp"));
        compile.args(ask(&["--cflags"])?.split_whitespace()).args(flags.split_whitespace());
        run(compile.arg("-o").arg(&program))?;
        run(Command::new(&program).env("LD_LIBRARY_PATH", lib.trim()))?;
    }
    Ok(())
}

/// Returns the folder below this one that holds a file of this name.
fn find(folder: &Path, name: &str) -> Result<std::path::PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)?.flatten() {
            if entry.file_name() == name {
                return Ok(folder);
            }
            if entry.path().is_dir() && !entry.path().is_symlink() {
                folders.push(entry.path());
            }
        }
    }
    None.with_context(|| format!("no {name} below {}", folder.display()))
}
