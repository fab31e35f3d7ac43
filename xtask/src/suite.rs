//! `cargo xtask test`: the checks, in the order in which a failure is best known.

use crate::limits::{cpu_seconds, within};
use crate::process::{cargo, files, run as run_command, works};
use crate::report::{THOROUGH, run_tests};
use crate::{
    arm, budget, circles, cpp, documents, fuzz, kernels, licenses, native, openings, publish,
    python, readers, sanitize, site, sizes, tasks, toolchains, viewer, workflows,
};
use anyhow::{Context, Result, bail};
use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Reasons for work that a step skipped.
type Skipped = Vec<String>;

struct Step {
    name: &'static str,
    run: fn() -> Result<Skipped>,
    part: Part,
    /// Time limit in seconds: several times the duration on two cores, of a machine that may be slow.
    limit: u64,
}

/// Runs that a step belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// Every run.
    Both,
    /// Runs without `--all`, which has a thorough step in its place.
    Quick,
    /// Runs with `--all`.
    All,
}

/// Multiplies all time limits, for machines that are slow or busy.
const PATIENCE: &str = "FARPOINT_PATIENCE";

/// Packages of the laboratory, whose tests are part of `--all`.
const UNPUBLISHED: [&str; 2] = ["farpoint-lab", "farpoint-cuda-tests"];

/// Folders with scripts that no test runs.
const SCRIPTS: [&str; 3] = ["lab/peers", "lab/python", "lab/segmentation/scripts"];

/// Seconds of fuzzing each reader as part of the suite.
const FUZZ_SECONDS: u32 = 7;

const STEPS: [Step; 31] = [
    step(Part::Both, 120, "format", format),
    step(Part::Both, 60, "documents", documents::check),
    step(Part::Both, 60, "budget", budget::check),
    step(Part::Both, 60, "circles", circles::check),
    // Downloads all packages.
    step(Part::Both, 300, "licenses", licenses::check),
    step(Part::Both, 120, "kernels", kernels),
    step(Part::Quick, 3600, "tests", tests),
    step(Part::All, 3600, "thorough", thorough),
    step(Part::Both, 300, "readme", documents::run_commands),
    step(Part::Both, 1800, "python", python::test_core),
    step(Part::All, 60, "openings", openings::check),
    step(Part::All, 120, "scripts", scripts),
    step(Part::All, 300, "deny", cargo_deny),
    step(Part::All, 300, "packages", publish::check),
    step(Part::All, 600, "workflows", workflows::check),
    step(Part::All, 900, "clippy", clippy),
    step(Part::All, 900, "msrv", toolchains::oldest_rust),
    step(Part::All, 300, "wasm", toolchains::wasm),
    step(Part::All, 900, "semver", toolchains::semver),
    step(Part::All, 600, "rustdoc", documentation),
    step(Part::All, 600, "site", site::check),
    step(Part::All, 600, "viewer", viewer::check),
    step(Part::All, 900, "readers", readers::check),
    // The first step that builds the artifacts for users, of which it takes the time; the next three use them.
    step(Part::All, 2400, "sizes", sizes::check),
    step(Part::All, 900, "native", native::check),
    step(Part::All, 1200, "cpp", cpp::check),
    step(Part::All, 3600, "python-all", python::test_all),
    step(Part::All, 3600, "address", sanitize::address),
    step(Part::All, 2400, "fuzz", fuzz_readers),
    step(Part::All, 600, "miri", sanitize::miri),
    step(Part::All, 3600, "arm", arm::test),
];

const fn step(part: Part, limit: u64, name: &'static str, run: fn() -> Result<Skipped>) -> Step {
    Step { name, run, part, limit }
}

/// A step that has ended.
struct Done {
    name: &'static str,
    time: Duration,
    /// CPU seconds of the processes that it started.
    cpu: Option<f64>,
    skipped: Result<Skipped>,
}

/// Runs the task: the quick steps, all, or the named ones; the first failure ends it.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let chosen = chosen(args)?;
    let patience = std::env::var(PATIENCE).ok().map(|text| text.parse());
    let patience: f64 = patience.transpose().context(PATIENCE)?.unwrap_or(1.0);
    let mut done: Vec<Done> = Vec::new();
    for (at, step) in chosen.iter().enumerate() {
        eprintln!("== {} ({} of {})", step.name, at + 1, chosen.len());
        let (begin, before) = (Instant::now(), cpu_seconds());
        let limit = Duration::from_secs(step.limit).mul_f64(patience);
        let skipped = within(limit, step.run);
        let cpu = cpu_seconds().zip(before).map(|(now, before)| now - before);
        let ended = Done { name: step.name, time: begin.elapsed(), cpu, skipped };
        eprintln!("== {}\n", ended.line());
        done.push(ended);
        if done.last().is_some_and(|last| last.skipped.is_err()) {
            break;
        }
    }
    summarize(done)
}

/// Returns the steps for the arguments of the task.
fn chosen(args: &[String]) -> Result<Vec<&'static Step>> {
    let (all, names): (Vec<_>, Vec<_>) = args.iter().partition(|arg| *arg == "--all");
    let known = STEPS.map(|step| step.name);
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there is no step '{unknown}'; there are {}", known.join(", "));
    }
    let other = if all.is_empty() { Part::All } else { Part::Quick };
    let steps = STEPS.iter().filter(|step| match names.is_empty() {
        true => step.part != other,
        false => names.iter().any(|name| *name == step.name),
    });
    Ok(steps.collect())
}

impl Done {
    /// Returns its name, wall seconds and CPU seconds.
    fn line(&self) -> String {
        line(self.name, self.time, self.cpu)
    }
}

fn line(name: &str, time: Duration, cpu: Option<f64>) -> String {
    let cpu = cpu.map_or(String::new(), |cpu| format!("{cpu:>9.1} CPU s"));
    format!("{name:<10} {:>8.1} s{cpu}", time.as_secs_f64())
}

/// Prints the steps that ran, what was skipped, and how many passed; returns the failure, if one did not.
fn summarize(mut done: Vec<Done>) -> Result<()> {
    println!("Summary");
    for step in &done {
        let note = match &step.skipped {
            Ok(skipped) if skipped.is_empty() => "",
            Ok(_) => "  (something skipped, see below)",
            Err(_) => "  failed",
        };
        println!("  {}{note}", step.line());
    }
    let cpu = done.iter().map(|step| step.cpu).sum();
    println!("  {}", line("together", done.iter().map(|step| step.time).sum(), cpu));
    let failed = done.pop_if(|step| step.skipped.is_err());
    for step in &done {
        for line in step.skipped.iter().flatten() {
            println!("skipped: {}: {line}", step.name);
        }
    }
    println!("steps: {} passed, {} failed", done.len(), usize::from(failed.is_some()));
    match failed {
        Some(step) => {
            step.skipped.map(drop).with_context(|| format!("the step '{}' failed", step.name))
        }
        None => Ok(()),
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
    let mut check = cargo(&["deny", "--workspace", "check", "bans", "licenses", "sources"]);
    let advisories = works(&mut cargo(&["deny", "fetch", "db"]));
    if advisories {
        check.arg("advisories");
    }
    run_command(&mut check)?;
    Ok(match advisories {
        true => Vec::new(),
        false => vec!["security advisories, which can't be fetched".into()],
    })
}

fn clippy() -> Result<Skipped> {
    run_command(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // Without bags and kernels for GPUs.
    let small = ["clippy", "-p", "farpoint-cli", "--no-default-features", "--", "-D", "warnings"];
    run_command(&mut cargo(&small))?;
    Ok(Vec::new())
}

/// Checks that the committed archive is of the kernels' sources.
fn kernels() -> Result<Skipped> {
    kernels::check(false)
}

/// Runs unit, property, golden and command line tests, of few cases, of all published crates.
fn tests() -> Result<Skipped> {
    let mut command = cargo(&["test", "--workspace", "--tests"]);
    command.args(UNPUBLISHED.map(|package| format!("--exclude={package}")));
    run_tests(command.args(["--", "--show-output"]).env_remove(THOROUGH))
}

/// Runs the same tests of many cases, and the examples of the documentation.
fn thorough() -> Result<Skipped> {
    let mut skipped = run_tests(workspace_tests("--tests").env(THOROUGH, "1"))?;
    skipped.extend(run_tests(&mut workspace_tests("--doc"))?);
    Ok(skipped)
}

fn workspace_tests(kind: &str) -> Command {
    cargo(&["test", "--workspace", kind, "--", "--show-output"])
}

fn documentation() -> Result<Skipped> {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
    run_command(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Vec::new())
}

fn fuzz_readers() -> Result<Skipped> {
    Ok(fuzz::run(FUZZ_SECONDS, &[])?.into_iter().collect())
}

/// Checks that the scripts of the laboratory parse.
fn scripts() -> Result<Skipped> {
    let Some(python) = tasks::python() else {
        return Ok(vec!["python3 is not installed".into()]);
    };
    let code = "import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]";
    let mut parse = Command::new(python);
    parse.args(["-c", code]);
    for folder in SCRIPTS {
        parse.args(files(Path::new(folder), |name| name.ends_with(".py"))?);
    }
    run_command(&mut parse)?;
    if Path::new(".ci/run").exists() && works(Command::new("bash").arg("--version")) {
        run_command(Command::new("bash").args(["-n", ".ci/run"]))?;
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::{Part, STEPS, chosen};

    fn names(args: &[&str]) -> Vec<&'static str> {
        let args: Vec<_> = args.iter().map(|arg| arg.to_string()).collect();
        chosen(&args).unwrap().iter().map(|step| step.name).collect()
    }

    #[test]
    fn all_begins_with_the_quick_steps() {
        let (quick, all) = (names(&[]), names(&["--all"]));
        let begins = quick.iter().map(|name| if *name == "tests" { "thorough" } else { *name });
        assert!(begins.eq(all[..quick.len()].iter().copied()), "{quick:?} {all:?}");
        assert_eq!(all.len() + 1, STEPS.len());
        assert_eq!(names(&["miri", "format"]), ["format", "miri"]);
        assert!(chosen(&["none".into()]).is_err());
    }

    #[test]
    fn the_workflow_runs_every_step() {
        let workflow = std::fs::read_to_string("../.github/workflows/test.yml").unwrap();
        let words: Vec<_> = workflow.split_whitespace().collect();
        for step in STEPS.iter().filter(|step| step.part != Part::Quick) {
            assert!(words.contains(&step.name), "{}", step.name);
        }
    }
}
