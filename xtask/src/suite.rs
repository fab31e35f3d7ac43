//! `cargo xtask test`: every check, in the order in which it pays to know that one fails.

use crate::process::{cargo, run as run_command, target_folder, works};
use crate::test_report::run_tests;
use crate::{
    circles, cpp, documents, fuzz, kernels, licenses, native, publish, python, readers, sanitize,
    site, tasks, toolchains, viewer, workflows,
};
use anyhow::{Context, Result, bail};
use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// What a step left undone, each with the reason.
type Skipped = Vec<String>;
/// A step that passed, and the time it took.
type Done = (&'static str, Duration, Skipped);
type Step = (&'static str, fn() -> Result<Skipped>);

/// Seconds of fuzzing each reader as part of the suite.
const FUZZ_SECONDS: u32 = 7;

const STEPS: [Step; 25] = [
    ("format", format),
    ("documents", documents::check),
    ("circles", circles::check),
    ("licenses", licenses::check),
    ("deny", cargo_deny),
    ("packages", publish::check),
    ("workflows", workflows::check),
    ("clippy", clippy),
    ("kernels", compile_kernels),
    ("tests", tests),
    ("native", native::check),
    ("address", sanitize::address),
    ("msrv", toolchains::oldest_rust),
    ("wasm", toolchains::wasm),
    ("semver", toolchains::semver),
    ("rustdoc", documentation),
    ("readme", readme_commands),
    ("cpp", cpp::check),
    ("readers", readers::check),
    ("viewer", viewer::check),
    ("site", site::check),
    ("python", python::test),
    ("fuzz", fuzz_readers),
    ("miri", sanitize::miri),
    ("scripts", scripts),
];

/// The task itself: all steps, or those named; the first failure ends it.
pub(crate) fn run(wanted: &[String]) -> Result<()> {
    let names = STEPS.map(|(name, _)| name);
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no step '{unknown}'; there are {}", names.join(", "));
    }
    let begin = Instant::now();
    let mut done: Vec<Done> = Vec::new();
    for (at, (name, step)) in STEPS.into_iter().enumerate() {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        eprintln!("== {name} ({} of {})", at + 1, STEPS.len());
        let begin = Instant::now();
        let skipped = step().with_context(|| {
            let passed: Vec<_> = done.iter().map(|(name, ..)| *name).collect();
            let passed = if passed.is_empty() { "nothing".into() } else { passed.join(", ") };
            format!("the step '{name}' failed (passed before it: {passed})")
        })?;
        let time = begin.elapsed();
        eprintln!("== {name}: {:.1} s\n", time.as_secs_f64());
        done.push((name, time, skipped));
    }
    summarize(&done, begin.elapsed());
    Ok(())
}

fn summarize(done: &[Done], time: Duration) {
    println!("Summary");
    for (name, time, skipped) in done {
        let note = if skipped.is_empty() { "" } else { "  (something skipped, see below)" };
        println!("  {name:<10} {:>7.1} s{note}", time.as_secs_f64());
    }
    println!("  {:<10} {:>7.1} s", "all", time.as_secs_f64());
    let skipped: Vec<_> = done
        .iter()
        .flat_map(|(name, _, skipped)| skipped.iter().map(move |line| format!("{name}: {line}")))
        .collect();
    if skipped.is_empty() {
        println!("Every check ran and passed.");
    } else {
        println!("Every check that ran passed. Skipped:\n  {}", skipped.join("\n  "));
    }
}

fn format() -> Result<Skipped> {
    let mut command = cargo(&["fmt", "--all", "--check"]);
    if !std::io::stdout().is_terminal() {
        command.args(["--", "--color", "never"]);
    }
    run_command(&mut command)?;
    Ok(Vec::new())
}

fn cargo_deny() -> Result<Skipped> {
    if !works(&mut cargo(&["deny", "--version"])) {
        return Ok(vec!["cargo-deny is not installed (licenses were checked without it)".into()]);
    }
    run_command(&mut cargo(&["deny", "--workspace", "check", "bans", "licenses", "sources"]))?;
    Ok(Vec::new())
}

fn clippy() -> Result<Skipped> {
    run_command(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    Ok(Vec::new())
}

/// The committed archive is what the kernels compile to. Those that changed are compiled.
fn compile_kernels() -> Result<Skipped> {
    kernels::check(false)
}

/// Unit, property, golden, command line and documentation tests.
fn tests() -> Result<Skipped> {
    run_tests(&mut cargo(&["test", "--workspace", "--", "--show-output"]))
}

fn documentation() -> Result<Skipped> {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
    run_command(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Vec::new())
}

/// Documents whose commands are run.
const COMMANDS: [&str; 3] = ["README.md", "docs/quick-start.md", "docs/guide/command-line.md"];

/// The command line examples of the documents, each run as it stands there.
fn readme_commands() -> Result<Skipped> {
    // The command line tests need the program, so this builds it, or finds it built by them.
    run_command(&mut cargo(&["test", "--workspace", "--tests", "--no-run", "--quiet"]))?;
    let debug = std::path::absolute(target_folder().join("debug"))?;
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(debug).chain(std::env::split_paths(&others));
    let path = std::env::join_paths(folders)?;
    let folder = target_folder().join("readme");
    std::fs::remove_dir_all(&folder).or_else(ignore_absent)?;
    std::fs::create_dir_all(&folder)?;
    let mut commands = 0;
    for document in COMMANDS {
        let text = std::fs::read_to_string(document)?;
        let lines = documents::blocks(&text, "sh").flat_map(|block| block.lines());
        for line in lines.filter(|line| line.starts_with("farpoint ")) {
            eprintln!("$ {line}");
            // By a shell, since some write into a file.
            let mut command = Command::new("sh");
            run_command(command.args(["-c", line]).env("PATH", &path).current_dir(&folder))?;
            commands += 1;
        }
    }
    eprintln!("{commands} commands");
    Ok(Vec::new())
}

fn ignore_absent(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn fuzz_readers() -> Result<Skipped> {
    Ok(fuzz::run(FUZZ_SECONDS, &[])?.into_iter().collect())
}

/// The benchmark scripts parse.
fn scripts() -> Result<Skipped> {
    let Some(python) = tasks::python() else {
        return Ok(vec!["python3 is not installed".into()]);
    };
    let code = "import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]";
    run_command(Command::new(python).args(["-c", code]).args(tasks::PEERS))?;
    if Path::new(".ci/run").exists() && works(Command::new("bash").arg("--version")) {
        run_command(Command::new("bash").args(["-n", ".ci/run"]))?;
    }
    Ok(Vec::new())
}
