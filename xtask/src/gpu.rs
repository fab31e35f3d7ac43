//! `cargo xtask test-gpu`: tests, sanitizer and benchmarks on a GPU, each with a record.

use crate::process::{cargo, run, target_folder, works};
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that does all of it: it needs the driver, and neither Rust nor a network.
const PROGRAM: &str = "farpoint-cuda-tests";

/// Where records go.
const RECORDS: &str = "benches/records/cuda";

/// What the task was told.
#[derive(Default)]
struct Options {
    build_only: bool,
    quick: bool,
    data: Option<PathBuf>,
}

/// The task itself.
pub(crate) fn task(args: &[String]) -> Result<()> {
    let options = options(args)?;
    run(&mut cargo(&["build", "--release", "--package", PROGRAM]))?;
    let program = target_folder().join("release").join(PROGRAM);
    if options.build_only {
        eprintln!("{}", by_hand(&program, options.data.as_deref()));
        return Ok(());
    }
    if !works(Command::new(&program).arg("devices")) {
        // It says why.
        let _ = Command::new(&program).arg("devices").status();
        bail!("there is no GPU here\n{}", by_hand(&program, options.data.as_deref()));
    }
    let mut failed = Vec::new();
    for step in steps(options.data.as_deref(), options.quick) {
        if let Err(error) = run(Command::new(&program).args(&step)) {
            eprintln!("{error:#}");
            failed.push(step[0].clone());
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

/// The arguments of each run of the program, in order.
fn steps(data: Option<&Path>, quick: bool) -> Vec<Vec<String>> {
    let record = |name: &str| format!("{RECORDS}/{name}");
    let data = data.map(|folder| ["--data".into(), folder.display().to_string()]);
    let data = || data.clone().into_iter().flatten();
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let mut test = words(&["test", "--report", &record("test.md")]);
    test.extend(data());
    test.extend(quick.then(|| "--quick".into()));
    let sanitize = words(&["sanitize", "--report", &record("sanitize.md")]);
    let measure = |name: &str| {
        let records = [format!("{name}.md"), format!("{name}.json")].map(|name| record(&name));
        words(&[name, "--markdown", &records[0], "--json", &records[1]])
    };
    let bench = |name: &str| measure(name).into_iter().chain(data()).collect();
    vec![test, sanitize, measure("first-call"), bench("bench"), bench("bench-chamfer")]
}

/// What to do on a machine with a GPU.
fn by_hand(program: &Path, data: Option<&Path>) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let commands: Vec<_> = steps(data, false)
        .iter()
        .map(|step| format!("  ./{name} {}", step.join(" ").replace(&format!("{RECORDS}/"), "")))
        .collect();
    format!(
        "the program is {}\nIt runs on its own on a machine with an NVIDIA driver of CUDA 12.4 or \
         later; copy it there and run\n{}\nthen commit the \
         records to {RECORDS}",
        program.display(),
        commands.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::{by_hand, options, steps};
    use std::path::Path;

    fn given(args: &[&str]) -> Vec<String> {
        args.iter().map(|arg| arg.to_string()).collect()
    }

    #[test]
    fn options_are_read() {
        let read = options(&given(&["--quick", "--data", "src", "--build-only"])).unwrap();
        assert!(
            read.quick && read.build_only && read.data.is_some_and(|data| data.ends_with("src"))
        );
        for wrong in [&["--data"][..], &["--data", "nowhere"], &["--fast"]] {
            assert!(options(&given(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn every_step_leaves_a_record() {
        for step in steps(None, true) {
            assert!(step.iter().any(|word| word.ends_with(&format!("{}.md", step[0]))), "{step:?}");
        }
        let told = by_hand(Path::new("/x/farpoint-cuda-tests"), Some(Path::new("/data")));
        assert!(told.contains("./farpoint-cuda-tests bench --markdown bench.md"), "{told}");
        assert!(told.contains("--data /data"), "{told}");
    }
}
