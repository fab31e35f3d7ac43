//! Configuration by CMake before anything is compiled: another machine's compiler, an old cargo, sources from the web.

use super::cmake;
use crate::documents;
use crate::process::{of_workspace, output, run};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

pub(super) fn check(folder: &Path) -> Result<()> {
    let folder = folder.join("configure");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    other_machine(&folder)?;
    fetched(&folder)?;
    if cfg!(unix) { old_cargo(&folder) } else { Ok(()) }
}

/// Configures the repository; returns true on success, and the output of CMake.
fn configure(source: &Path, build: &Path, args: &[String]) -> Result<(bool, String)> {
    let mut command = cmake();
    command.arg("-S").arg(source).arg("-B").arg(build).arg("-DFARPOINT_EXAMPLES=OFF").args(args);
    let ended = command.output().context("can't start cmake")?;
    let text = [ended.stdout, ended.stderr].concat();
    // Messages are broken into lines where it suits CMake.
    let words: Vec<_> =
        String::from_utf8_lossy(&text).split_whitespace().map(str::to_owned).collect();
    Ok((ended.status.success(), words.join(" ")))
}

/// Checks that a toolchain file's machine is that of cargo, or that the error says Rust can't compile for it.
fn other_machine(folder: &Path) -> Result<()> {
    let other = if cfg!(target_arch = "aarch64") { "x86_64" } else { "aarch64" };
    let triple = format!("{other}-unknown-linux-gnu");
    let toolchain = folder.join("toolchain.cmake");
    // Nothing is compiled for it, so that any compiler will do.
    let lines = [
        "SYSTEM_NAME Linux".into(),
        format!("SYSTEM_PROCESSOR {other}"),
        "C_COMPILER cc".into(),
        "CXX_COMPILER c++".into(),
    ];
    fs::write(&toolchain, lines.map(|line| format!("set(CMAKE_{line})\n")).concat())?;
    let args = [format!("-DCMAKE_TOOLCHAIN_FILE={}", toolchain.display())];
    let build = folder.join("other");
    let (well, text) = configure(Path::new("."), &build, &args)?;
    let std =
        output(Command::new("rustc").args(["--print", "target-libdir", "--target", &triple]))?;
    if Path::new(std.trim()).exists() {
        ensure!(well, "not compiled for {triple}: {text}");
        is_built_for(&triple, &build, &text)?;
    } else {
        ensure!(
            !well && text.contains(&format!("rustup target add {triple}")),
            "no word on {triple}: {text}"
        );
    }
    if cfg!(windows) {
        return Ok(());
    }
    // As if Rust's standard library for it was there, which only a build would notice.
    let rustc = folder.join("rustc");
    let answers = "#!/bin/sh\ncase \"$*\" in *target-libdir*) echo /;; \
                   *) echo 'native-static-libs: -lc' >&2;; esac\n";
    fs::write(&rustc, answers)?;
    run(Command::new("chmod").arg("+x").arg(&rustc))?;
    let build = folder.join("other-with-std");
    let args = [args[0].clone(), format!("-DFARPOINT_RUSTC={}", rustc.display())];
    let (well, text) = configure(Path::new("."), &build, &args)?;
    ensure!(well, "not configured for {triple}: {text}");
    is_built_for(&triple, &build, &text)
}

/// Checks that a configured build calls cargo for a machine, with the compiler of the toolchain file as linker, and takes
/// what cargo makes for it.
fn is_built_for(triple: &str, build: &Path, text: &str) -> Result<()> {
    ensure!(text.contains(&format!("compiled for {triple}")), "not compiled for {triple}: {text}");
    // Without building: what it would call is in the files for make or ninja.
    let rules = [build.join("CMakeFiles/farpoint_cargo.dir/build.make"), build.join("build.ninja")];
    let rules: String = rules.iter().flat_map(fs::read_to_string).collect();
    let variable = triple.to_uppercase().replace('-', "_");
    for part in [
        format!("--target {triple}"),
        format!("/{triple}/release/"),
        format!("CARGO_TARGET_{variable}_LINKER="),
    ] {
        ensure!(rules.contains(&part), "the build for {triple} has no '{part}'");
    }
    Ok(())
}

/// Checks the lines of docs/cpp.md for FetchContent, with a repository in the place of the one on
/// the web: only the newest commit is fetched.
fn fetched(folder: &Path) -> Result<()> {
    let document = fs::read_to_string("docs/cpp.md")?;
    let lines =
        documents::blocks(&document, "cmake").find(|block| block.contains("FetchContent_Declare"));
    let lines = lines.context("docs/cpp.md does not say how to use FetchContent")?;
    let (origin, project) = (folder.join("origin"), folder.join("project"));
    run(Command::new("git").args(["clone", "--quiet", "--bare", "."]).arg(&origin))?;
    let git = |args: &[&str]| run(Command::new("git").arg("-C").arg(&origin).args(args));
    git(&["update-ref", "refs/heads/main", "HEAD"])?;
    git(&["config", "uploadpack.allowAnySHA1InWant", "true"])?;
    fs::create_dir_all(&project)?;
    let head = "cmake_minimum_required(VERSION 3.16)\nproject(fetching LANGUAGES C CXX)\n";
    fs::write(project.join("CMakeLists.txt"), format!("{head}{lines}"))?;
    let build = folder.join("fetched");
    let place = format!("url.file://{}.insteadOf", origin.display());
    let settings =
        [("COUNT", "1"), ("KEY_0", &place), ("VALUE_0", "https://github.com/farpoint/farpoint")];
    let mut command = cmake();
    command.arg("-S").arg(&project).arg("-B").arg(&build);
    command.envs(settings.map(|(name, value)| (format!("GIT_CONFIG_{name}"), value)));
    output(&mut command)?;
    let shallow = build.join("_deps/farpoint-src/.git/shallow");
    ensure!(shallow.exists(), "FetchContent of docs/cpp.md fetches the whole history");
    Ok(())
}

/// Checks that a cargo that is too old is refused, with the required version.
fn old_cargo(folder: &Path) -> Result<()> {
    let cargo = folder.join("cargo");
    fs::write(&cargo, "#!/bin/sh\necho 'cargo 1.70.0'\necho 'release: 1.70.0'\n")?;
    run(Command::new("chmod").arg("+x").arg(&cargo))?;
    let args = [format!("-DFARPOINT_CARGO={}", cargo.display())];
    let (well, text) = configure(Path::new("."), &folder.join("old"), &args)?;
    let needed = format!("farpoint needs Rust {} or later", of_workspace("rust-version")?);
    ensure!(!well && text.contains(&needed), "a cargo of 1.70 is not refused: {text}");
    Ok(())
}
