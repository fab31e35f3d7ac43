//! Sizes of artifacts for users, and the work of the release build, compared with the budget.
//!
//! Machines differ in speed. Therefore work is a ratio: CPU seconds of the release build from nothing over those that
//! the compiler takes for the yardstick, a program that stays the same, on the same machine before and after it.

use crate::budget::Budget;
use crate::limits::cpu_seconds;
use crate::process::{cargo, run, target_folder};
use crate::{native, python};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const ARCHIVE: &str = "crates/farpoint-cuda/kernels/built/kernels.bin";
/// Runs the step: builds the artifacts and compares; other steps continue with them. Returns what was skipped, and why.
pub(crate) fn check() -> Result<Vec<String>> {
    let budget = Budget::read()?;
    let mut skipped = Vec::new();
    let mut wrong = Vec::new();
    if target_folder().join("release").exists() {
        let folder = target_folder();
        skipped.push(format!("CPU seconds of the release build, which {} holds", folder.display()));
        build(&folder)?;
    } else {
        match measure(&target_folder())? {
            Some(ratio) => wrong.extend(budget.compare("work", "release-build", ratio)),
            None => skipped.push("CPU seconds of the release build, known on Linux only".into()),
        }
    }
    let program = format!("farpoint{}", std::env::consts::EXE_SUFFIX);
    let mut parts = vec![
        ("command", target_folder().join("release").join(program)),
        ("kernels", ARCHIVE.into()),
    ];
    match cfg!(target_os = "linux") {
        true => parts.push(("library", native::library()?.join("libfarpoint.so"))),
        false => skipped.push("the size of the C library, known on Linux only".into()),
    }
    match python::builder() {
        Ok(venv) => parts.push(("wheel", python::build(&venv)?)),
        Err(obstacle) => skipped.push(format!("the wheel ({obstacle:#})")),
    }
    for (name, file) in parts {
        let bytes = fs::metadata(&file).with_context(|| format!("no {}", file.display()))?.len();
        wrong.extend(budget.compare("megabytes", name, bytes as f64 / 1e6));
    }
    ensure!(wrong.is_empty(), "more than the budget:\n  {}", wrong.join("\n  "));
    Ok(skipped)
}

/// Builds the command from nothing, between two runs of the yardstick; returns the ratio of their CPU seconds.
fn measure(target: &Path) -> Result<Option<f64>> {
    // Downloads are not the build's.
    run(&mut cargo(&["fetch", "--quiet"]))?;
    let yardstick = yardstick(target)?;
    let start = cpu_seconds();
    compile(&yardstick)?;
    let before = cpu_seconds();
    build(target)?;
    let after = cpu_seconds();
    compile(&yardstick)?;
    let (Some(start), Some(before), Some(after), Some(end)) = (start, before, after, cpu_seconds())
    else {
        return Ok(None);
    };
    let yardstick = (before - start + end - after) / 2.0;
    eprintln!("the release build: {:.0} CPU seconds, the yardstick {yardstick:.1}", after - before);
    Ok(Some((after - before) / yardstick))
}

fn build(target: &Path) -> Result<()> {
    let mut command = cargo(&["build", "--release", "--package", "farpoint-cli"]);
    run(command.env("CARGO_TARGET_DIR", target))
}

fn compile(yardstick: &Path) -> Result<()> {
    let mut command = Command::new("rustc");
    command.args(["--edition", "2024", "--crate-type", "lib", "-Copt-level=3"]);
    run(command
        .arg("-Ccodegen-units=16")
        .arg("-o")
        .arg(yardstick.with_extension("rlib"))
        .arg(yardstick))
}

/// Writes the yardstick: sorting and trees, of eight types. It stays as it is, or the record is written anew.
fn yardstick(target: &Path) -> Result<PathBuf> {
    let mut source = String::from("use std::collections::BTreeMap;\n");
    for size in 1..=8 {
        write!(
            source,
            "pub fn f{size}(mut list: Vec<[u16; {size}]>) -> BTreeMap<[u16; {size}], usize> {{\n    \
                list.sort();\n    \
                list.sort_unstable_by(|a, b| b.cmp(a));\n    \
                list.into_iter().enumerate().map(|(at, key)| (key, at)).collect()\n}}\n"
        )?;
    }
    fs::create_dir_all(target)?;
    let file = target.join("yardstick.rs");
    fs::write(&file, source)?;
    Ok(file)
}
