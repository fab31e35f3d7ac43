//! Bounded fuzz runs of every reader. A stable compiler can build them: libFuzzer comes with
//! the crate libfuzzer-sys (it needs a C++ compiler), and the coverage counters are a pass
//! that rustc lets one ask for.

use crate::process::{build_as_tests, cargo, files, output, run as run_command, works};
use anyhow::{Context, Result, bail};
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CORPUS: &str = "fuzz/corpus";
const MANIFEST: &str = "fuzz/Cargo.toml";

/// Flags of cargo-fuzz without a sanitizer.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cdebug-assertions";

/// Longest time limit, in seconds, of a short run: a check, of a fixed number of inputs on any machine. A long one is a search.
const SHORT: u32 = 10;

/// Inputs of a short run: two to ten seconds.
const CHECKED: u32 = 3000;

/// Runs the task `fuzz [--seconds N] [TARGET..]`.
pub(crate) fn task(args: &[String]) -> Result<()> {
    let mut seconds = 30;
    let mut requested = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--seconds" {
            let value = args.next().context("--seconds needs a number")?;
            seconds = value.parse().with_context(|| format!("--seconds {value}"))?;
        } else {
            requested.push(arg.clone());
        }
    }
    match run(seconds, &requested)? {
        Some(reason) => bail!("nothing was fuzzed: {reason}"),
        None => Ok(()),
    }
}

/// Runs the targets (all if none is named), each for `seconds`, as many at once as
/// there are cores. Returns the reason when they can't be built here.
pub(crate) fn run(seconds: u32, requested: &[String]) -> Result<Option<String>> {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    if !works(Command::new(&compiler).arg("--version")) {
        return Ok(Some(format!("there is no C++ compiler ('{compiler}') to build libFuzzer")));
    }
    let targets = targets(requested)?;
    let programs = build(seconds <= SHORT)?;
    seed()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for group in targets.chunks(cores) {
        let mut running = Vec::new();
        for target in group {
            eprintln!("fuzzing {target} for {seconds} s");
            running.push(start(&programs, target, seconds)?);
        }
        for (target, one) in group.iter().zip(running) {
            finish(target, one)?;
        }
    }
    Ok(None)
}

/// Returns all fuzz targets, or the requested ones.
fn targets(requested: &[String]) -> Result<Vec<String>> {
    let all = files(Path::new("fuzz/fuzz_targets"), |name| name.ends_with(".rs"))?;
    let name = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let all: Vec<_> = all.iter().map(name).collect();
    if let Some(unknown) = requested.iter().find(|name| !all.contains(name)) {
        bail!("there is no fuzz target '{unknown}'; there are {}", all.join(", "));
    }
    Ok(if requested.is_empty() { all } else { requested.to_vec() })
}

/// Builds all targets; returns the folder they are in. For a short run, optimizing takes longer than it saves.
fn build(short: bool) -> Result<PathBuf> {
    let rustc = output(Command::new("rustc").arg("-vV"))?;
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).context("no host")?;
    let mut command = cargo(&["build", "--release", "--bins", "--manifest-path", MANIFEST]);
    // With a target named, the flags do not reach build scripts.
    command.args(["--target", host, "--target-dir", "fuzz/target"]).env("RUSTFLAGS", FLAGS);
    if short {
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    }
    run_command(&mut command)?;
    Ok(Path::new("fuzz/target").join(host).join("release"))
}

/// Fills the corpus with small generated files of every format, unless it is filled already.
fn seed() -> Result<()> {
    if Path::new(CORPUS).exists() {
        return Ok(());
    }
    let folder = build_as_tests(&[])?;
    run_command(Command::new(folder.join("examples/fuzz_corpus")).arg(CORPUS))
}

/// A running target, and its report file.
type Running = (std::process::Child, PathBuf);

fn start(programs: &Path, target: &str, seconds: u32) -> Result<Running> {
    let corpus = Path::new(CORPUS).join(target);
    let artifacts = Path::new("fuzz/artifacts").join(target);
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    let report = artifacts.join("report.txt");
    let (seed, runs, most) = match seconds {
        ..=SHORT => (1, CHECKED.to_string(), 60),
        _ => (0, "-1".to_owned(), seconds),
    };
    let child = Command::new(programs.join(target))
        .args([format!("-seed={seed}"), format!("-runs={runs}")])
        .arg(format!("-max_total_time={most}"))
        .args(["-timeout=20", "-rss_limit_mb=2048", "-max_len=65536"])
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(corpus)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&report)?)
        .spawn()
        .with_context(|| format!("can't start the fuzz target {target}"))?;
    Ok((child, report))
}

/// Waits for a target; a finding is an error with the end of its report.
fn finish(target: &str, (mut child, report): Running) -> Result<()> {
    let status = child.wait()?;
    let text = String::from_utf8_lossy(&fs::read(&report)?).into_owned();
    let lines: Vec<_> = text.lines().collect();
    if status.success() {
        eprintln!("{target}: {}", lines.last().unwrap_or(&""));
        return Ok(());
    }
    let end = lines[lines.len().saturating_sub(30)..].join("\n");
    bail!("the fuzz target {target} found something ({status}):\n{end}")
}
