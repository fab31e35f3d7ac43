//! Test programs in C: plain, with sanitizers, under valgrind, by every compiler that is there.

use super::{CRATE, compiler, include};
use crate::process::{files, run, show, works};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Warnings that fail a build.
const WARNINGS: [&str; 6] =
    ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

/// Compiles and runs all programs.
pub(super) fn check(folder: &Path, skipped: &mut Vec<String>) -> Result<()> {
    let programs = files(&Path::new(CRATE).join("tests/c"), |name| name.ends_with(".c"))?;
    let mut compilers = vec![compiler()];
    compilers.retain(|compiler| works(Command::new(compiler).arg("--version")));
    if compilers.is_empty() {
        skipped.push(format!("the programs in C: there is no C compiler ('{}')", compiler()));
        return Ok(());
    }
    match works(Command::new("clang").arg("--version")) {
        true => compilers.push("clang".into()),
        false => skipped.push("the programs in C by clang, which is not installed".into()),
    }
    for compiler in &compilers {
        let built = build(compiler, &[], &programs, folder)?;
        run_all(&built, |program| Command::new(program))?;
    }
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    match build(&compilers[0], &sanitizers, &programs[..1], folder) {
        Err(_) => {
            skipped.push("the programs in C with sanitizers, which the compiler lacks".into())
        }
        Ok(_) => {
            let built = build(&compilers[0], &sanitizers, &programs, folder)?;
            run_all(&built, |program| Command::new(program))?;
        }
    }
    if !works(Command::new("valgrind").arg("--version")) {
        skipped.push("the programs in C under valgrind, which is not installed".into());
        return Ok(());
    }
    let built = build(&compilers[0], &[], &programs, folder)?;
    run_all(&built, |program| {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        // Memory that the pool's threads keep until the process ends is reachable or possibly so.
        command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
        command.arg(program).arg("slow");
        command
    })
}

fn build(
    compiler: &str,
    flags: &[&str],
    sources: &[PathBuf],
    folder: &Path,
) -> Result<Vec<PathBuf>> {
    let mut built = Vec::new();
    for source in sources {
        let program = folder.join(source.file_stem().context("a source without a name")?);
        let mut compile = Command::new(compiler);
        compile.args(WARNINGS).args(["-O1", "-g"]).args(flags).arg("-I").arg(include());
        compile.arg(source).arg("-o").arg(&program).arg("-L").arg(folder);
        compile.args(["-lfarpoint", "-lm", "-pthread", "-Wl,-rpath,$ORIGIN"]);
        run(&mut compile)?;
        built.push(program);
    }
    Ok(built)
}

/// Runs programs, as many at a time as there are cores.
fn run_all(programs: &[PathBuf], command: impl Fn(&Path) -> Command) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for some in programs.chunks(cores) {
        let mut running = Vec::new();
        for program in some {
            let mut command = command(program);
            let child =
                command.spawn().with_context(|| format!("can't start: {}", show(&command)))?;
            running.push((show(&command), child));
        }
        for (what, child) in &mut running {
            let status = child.wait()?;
            ensure!(status.success(), "{what} ({status})");
        }
    }
    Ok(())
}
