//! `cargo xtask test-gpu`: tests, sanitizer and benchmarks on a GPU, each with a record.

use crate::process::{cargo, run, target_folder, works};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs of the tests and benchmarks: they need the driver, and neither Rust nor a network.
const TESTS: &str = "farpoint-cuda-tests";
const LAB: &str = "farpoint-lab";

/// Folder of the records.
const RECORDS: &str = "lab/records/cuda";

/// Options of the task.
#[derive(Default)]
struct Options {
    build_only: bool,
    quick: bool,
    data: Option<PathBuf>,
}

/// Runs the task.
pub(crate) fn task(args: &[String]) -> Result<()> {
    let options = options(args)?;
    run(&mut cargo(&["build", "--release", "--package", TESTS, "--package", LAB]))?;
    let folder = target_folder().join("release");
    if options.build_only {
        eprintln!("{}", by_hand(&folder, options.data.as_deref()));
        return Ok(());
    }
    let devices = || {
        let mut command = Command::new(folder.join(TESTS));
        command.arg("devices");
        command
    };
    if !works(&mut devices()) {
        // The program prints the reason.
        let _ = devices().status();
        bail!("there is no GPU here\n{}", by_hand(&folder, options.data.as_deref()));
    }
    let mut failed = Vec::new();
    for step in steps(options.data.as_deref(), options.quick) {
        if let Err(error) = run(Command::new(folder.join(step.program)).args(&step.arguments)) {
            eprintln!("{error:#}");
            failed.push(step.name);
        }
    }
    ensure!(failed.is_empty(), "failed: {}; see {RECORDS}", failed.join(", "));
    eprintln!("all passed; the records are in {RECORDS}");
    Ok(())
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--build-only" => options.build_only = true,
            "--quick" => options.quick = true,
            "--data" => options.data = Some(args.next().context("--data needs a folder")?.into()),
            _ => bail!("'test-gpu' takes --build-only, --quick and --data DIR, not '{arg}'"),
        }
    }
    if let Some(folder) = options.data.as_ref().filter(|folder| !folder.is_dir()) {
        bail!("there is no folder {}", folder.display());
    }
    Ok(options)
}

/// One run of a program, which writes a record of its name.
struct Step {
    name: &'static str,
    program: &'static str,
    arguments: Vec<String>,
}

/// Returns each run, in order.
fn steps(data: Option<&Path>, quick: bool) -> Vec<Step> {
    let data = data.map(|folder| ["--data".into(), folder.display().to_string()]);
    let data = || data.clone().into_iter().flatten();
    let record = |name: &str, kind: &str| format!("{RECORDS}/{name}.{kind}");
    let check = |name: &'static str| {
        let arguments = vec![name.into(), "--report".into(), record(name, "md")];
        Step { name, program: TESTS, arguments }
    };
    let measure = |name: &'static str| {
        let [markdown, json] = ["md", "json"].map(|kind| record(name, kind));
        let words = ["gpu", name, "--markdown", &markdown, "--json", &json];
        Step { name, program: LAB, arguments: words.map(str::to_owned).into() }
    };
    let mut test = check("test");
    test.arguments.extend(data());
    test.arguments.extend(quick.then(|| "--quick".into()));
    let bench = |name: &'static str| {
        let mut step = measure(name);
        step.arguments.extend(data());
        step
    };
    let measured =
        ["bench", "bench-chamfer", "bench-search", "bench-values", "bench-voxels"].map(bench);
    let mut steps = vec![test, check("sanitize"), measure("first-call")];
    steps.extend(measured);
    steps
}

/// Returns instructions for a machine with a GPU; the programs are in `folder`.
fn by_hand(folder: &Path, data: Option<&Path>) -> String {
    let line = |step: &Step| {
        let arguments = step.arguments.join(" ").replace(&format!("{RECORDS}/"), "");
        format!("  ./{} {arguments}", step.program)
    };
    let commands: Vec<_> = steps(data, false).iter().map(line).collect();
    format!(
        "the programs are {TESTS} and {LAB} in {}\nThey run on their own on a machine with an \
         NVIDIA driver of CUDA 12.4 or later; copy them there and run\n{}\nthen commit the \
         records to {RECORDS}",
        folder.display(),
        commands.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::{by_hand, options, steps};
    use std::path::Path;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(|arg| arg.to_string()).collect()
    }

    #[test]
    fn options_are_read() {
        let read = options(&strings(&["--quick", "--data", "src", "--build-only"])).unwrap();
        assert!(
            read.quick && read.build_only && read.data.is_some_and(|data| data.ends_with("src"))
        );
        for wrong in [&["--data"][..], &["--data", "nowhere"], &["--fast"]] {
            assert!(options(&strings(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn every_step_leaves_a_record() {
        for step in steps(None, true) {
            let record = format!("/{}.md", step.name);
            assert!(step.arguments.iter().any(|word| word.ends_with(&record)), "{}", step.name);
        }
        let text = by_hand(Path::new("/x"), Some(Path::new("/data")));
        assert!(text.contains("./farpoint-cuda-tests test --report test.md"), "{text}");
        assert!(text.contains("./farpoint-lab gpu bench --markdown bench.md"), "{text}");
        assert!(text.contains("--data /data"), "{text}");
    }
}
