//! Project tasks: `cargo xtask <task>`. Uses only the standard library and anyhow, so that it
//! is built in seconds; everything heavy happens in the commands it starts.

mod arm;
mod budget;
mod circles;
mod cpp;
mod documents;
mod fuzz;
mod gpu;
mod kernels;
mod licenses;
mod limits;
mod native;
mod notices;
mod openings;
mod process;
mod publish;
mod python;
mod readers;
mod report;
mod sanitize;
mod site;
mod sizes;
mod suite;
mod tasks;
mod toolchains;
mod venv;
mod viewer;
mod workflows;

use anyhow::{Result, bail};

const HELP: &str = "\
Project tasks.

Usage: cargo xtask <task>

  test [--all] [STEP..] run the quick checks, or all, or only these steps; stops at the first
                        failure. FARPOINT_PATIENCE=N multiplies the time limits of the steps
  golden                rewrite the golden file
  kernels [--check] [--all]
                        compile the CUDA kernels that changed, or all, into the archive of the crate, or
                        compare them with it; look for fused operations
  test-gpu [--build-only] [--quick] [--data DIR]
                        tests, sanitizer and benchmarks on a GPU, recorded in
                        lab/records/cuda; --build-only: build the programs that do it
  fuzz [--seconds N] [TARGET..]
                        run the fuzz targets, N seconds each (default: 30)
  header                write the C header, and the description of the interface that it is compared with
  licenses              write THIRD-PARTY.txt, the licenses of what farpoint's binaries contain
  site                  build the documentation site into target/site/html, check its links
  viewer                build the script of the page that `farpoint view` writes
  publish --dry-run     package all crates for crates.io and build the packages; without
                        --dry-run: upload them
  lab [ARGS..]          the laboratory, in release mode: benchmarks (`bench`, `gpu`), the figures of the
                        RadiusFPS paper (`paper`)
  peers [ARGS..]        compare with other libraries (lab/peers/peers.py ARGS)
  peers chamfer [ARGS..]
                        the same for nearest neighbors (lab/peers/chamfer.py ARGS)
";

fn main() {
    if let Err(error) = run() {
        eprintln!("xtask: {error:#}");
        std::process::exit(1);
    }
}

fn run() -> Result<()> {
    process::enter_repository_root()?;
    let mut args = std::env::args().skip(1);
    let task = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    match task.as_str() {
        "test" => suite::run(&rest),
        "golden" if rest.is_empty() => tasks::write_golden(),
        "kernels" if rest.is_empty() => kernels::write(false),
        "kernels" if rest == ["--all"] => kernels::write(true),
        "kernels" if rest == ["--check"] => kernels::check(false).map(print_skipped),
        "kernels" if rest == ["--check", "--all"] => kernels::check(true).map(print_skipped),
        "test-gpu" => gpu::task(&rest),
        "fuzz" => fuzz::task(&rest),
        "header" if rest.is_empty() => native::write(),
        "licenses" if rest.is_empty() => notices::write(),
        "site" if rest.is_empty() => site::task(),
        "viewer" if rest.is_empty() => viewer::write(),
        "publish" => publish::task(&rest),
        "lab" => tasks::lab(&rest),
        "peers" => tasks::peers(&rest),
        "" | "help" | "-h" | "--help" => {
            print!("{HELP}");
            Ok(())
        }
        "golden" | "header" | "kernels" | "licenses" | "site" | "viewer" => {
            bail!("'{task}' does not take {rest:?}\n\n{HELP}")
        }
        _ => bail!("there is no task '{task}'\n\n{HELP}"),
    }
}

fn print_skipped(skipped: Vec<String>) {
    skipped.iter().for_each(|line| println!("skipped: {line}"));
}
