//! Limits of the sizes of artifacts for users, and a committed record of the work of the release build.
//!
//! Machines differ in speed. Therefore the record is a ratio: CPU seconds of the release build from nothing over those that
//! the compiler takes for the yardstick, a program that stays the same, on the same machine before and after it.

use crate::limits::cpu_seconds;
use crate::process::{cargo, output, run, target_folder};
use crate::{native, python};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Size limits in megabytes. The target of the command is 12; it has 16.7, and may not grow again.
const COMMAND: f64 = 17.2;
/// The target is 8.
const WHEEL: f64 = 11.5;
const LIBRARY: f64 = 6.0;
const KERNELS: f64 = 4.5;

pub(crate) const ARCHIVE: &str = "crates/farpoint-cuda/kernels/built/kernels.bin";
const RECORD: &str = "xtask/release-build.txt";

/// Largest ratio of the release build's work to the record.
const GROWTH: f64 = 1.2;

/// Runs the step: builds the artifacts and compares; other steps continue with them. Returns what was skipped, and why.
pub(crate) fn check() -> Result<Vec<String>> {
    let mut skipped = Vec::new();
    let mut wrong = Vec::new();
    if target_folder().join("release").exists() {
        let folder = target_folder();
        skipped.push(format!("CPU seconds of the release build, which {} holds", folder.display()));
        build(&folder)?;
    } else {
        match measure(&target_folder())? {
            Some(work) => wrong.extend(work.compare(&fs::read_to_string(RECORD)?)?),
            None => skipped.push("CPU seconds of the release build, known on Linux only".into()),
        }
    }
    let program = format!("farpoint{}", std::env::consts::EXE_SUFFIX);
    let mut parts = vec![
        ("the command", target_folder().join("release").join(program), COMMAND),
        ("the kernels", ARCHIVE.into(), KERNELS),
    ];
    match cfg!(target_os = "linux") {
        true => parts.push(("the C library", native::library()?.join("libfarpoint.so"), LIBRARY)),
        false => skipped.push("the size of the C library, known on Linux only".into()),
    }
    match python::builder() {
        Ok(venv) => parts.push(("the wheel", python::build(&venv)?, WHEEL)),
        Err(obstacle) => skipped.push(format!("the wheel ({obstacle:#})")),
    }
    for (name, file, limit) in parts {
        let bytes = fs::metadata(&file).with_context(|| format!("no {}", file.display()))?.len();
        eprintln!("{name}: {:.2} MB of {limit}", bytes as f64 / 1e6);
        wrong.extend(too_large(name, bytes, limit));
    }
    ensure!(wrong.is_empty(), "more than before:\n  {}", wrong.join("\n  "));
    Ok(skipped)
}

/// Runs `cargo xtask sizes`: writes the record anew.
pub(crate) fn write() -> Result<()> {
    let folder = target_folder().join("sizes");
    let work = measure(&folder)?.context("CPU seconds are known on Linux only")?;
    fs::remove_dir_all(folder)?;
    fs::write(RECORD, work.record(output(Command::new("rustc").arg("--version"))?.trim()))?;
    Ok(())
}

fn too_large(name: &str, bytes: u64, limit: f64) -> Option<String> {
    let megabytes = bytes as f64 / 1e6;
    let more = (megabytes / limit - 1.0) * 100.0;
    let problem =
        || format!("{name}: {megabytes:.2} MB, {more:.1} % more than the limit of {limit}");
    (megabytes > limit).then(problem)
}

/// CPU seconds of the release build and of the yardstick.
struct Work {
    build: f64,
    yardstick: f64,
}

impl Work {
    /// Returns an error text if the work is more than the record allows.
    fn compare(&self, record: &str) -> Result<Option<String>> {
        let line = record.lines().find_map(|line| line.strip_prefix("ratio = "));
        let record: f64 = line.with_context(|| format!("no ratio in {RECORD}"))?.parse()?;
        let Self { build, yardstick } = self;
        let ratio = build / yardstick;
        let more = (ratio / record - 1.0) * 100.0;
        let what = format!(
            "the release build: {build:.0} CPU seconds, {ratio:.1} times the yardstick's {yardstick:.1}, {more:+.0} % of the \
             {record:.1} in {RECORD}"
        );
        eprintln!("{what}");
        let problem = format!("{what} (if that is worth it: `cargo xtask sizes`)");
        Ok((ratio > record * GROWTH).then_some(problem))
    }

    fn record(&self, compiler: &str) -> String {
        let Self { build, yardstick } = self;
        format!(
            "# CPU seconds of `cargo build --release` from nothing over those of the yardstick (xtask/src/sizes.rs).\n\
             # Written by `cargo xtask sizes`, by {compiler}.\n\
             ratio = {:.2}\nbuild = {build:.0}\nyardstick = {yardstick:.1}\n",
            build / yardstick
        )
    }
}

/// Builds the command from nothing, between two runs of the yardstick.
fn measure(target: &Path) -> Result<Option<Work>> {
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
    Ok(Some(Work { build: after - before, yardstick }))
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

#[cfg(test)]
mod tests {
    use super::{Work, too_large};

    #[test]
    fn sizes_have_limits() {
        assert_eq!(too_large("x", 6_000_000, 6.0), None);
        let text = too_large("x", 6_600_000, 6.0).unwrap();
        assert_eq!(text, "x: 6.60 MB, 10.0 % more than the limit of 6");
    }

    #[test]
    fn work_is_compared_with_the_record() {
        let work = |build| Work { build, yardstick: 10.0 };
        let record = work(200.0).record("rustc");
        assert!(work(239.0).compare(&record).unwrap().is_none());
        let problem = work(242.0).compare(&record).unwrap().unwrap();
        assert!(problem.contains("242 CPU seconds") && problem.contains("+21 %"), "{problem}");
        assert!(work(1.0).compare("").is_err());
    }
}
