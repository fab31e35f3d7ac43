//! Memory safety shown by tools: the library's tests under AddressSanitizer, a part of them under
//! Miri. (ThreadSanitizer needs a standard library that is compiled with it, which the toolchain does
//! not bring: without one it takes what rayon's locks order for races.)

use crate::process::{cargo, output, target_folder, works};
use crate::report::{THOROUGH, run_tests};
use anyhow::{Result, ensure};
use std::path::Path;
use std::process::Command;

type Skipped = Vec<String>;

/// Target of the build, which the toolchain needs explicitly: the sanitizers are not for
/// build scripts, which have no target of their own.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Unit tests that Miri can run: no vector instructions, no threads, no system calls. The other
/// names would take hours.
const FOR_MIRI: [&str; 3] = ["memory::padded", "scalar::", "random::"];

/// Runs the tests of the library under AddressSanitizer, with the case counts of a quick run: with
/// more threads than cores, on every instruction set, in both precisions, with up to 16 axes.
pub(crate) fn address() -> Result<Skipped> {
    if let Some(reason) = obstacle("asan")? {
        return Ok(vec![reason]);
    }
    let folder = target_folder().join("address-sanitizer");
    let mut command = instrumented(&folder);
    // Large clouds, whose samples the other runs compare with the recorded ones.
    command.args(["--test", "it", "--", "--show-output", "--skip", "real::", "--skip", "golden::"]);
    let skipped = run_tests(&mut command)?;
    have_tests_for_miri(&output(instrumented(&folder).args(["--", "--list"]))?)?;
    // Built once and for this step alone, on a disk that may be small.
    if std::env::var_os("CI").is_some() {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(skipped)
}

/// Returns `cargo test` of the library's unit tests, compiled for AddressSanitizer in this folder.
fn instrumented(folder: &Path) -> Command {
    let mut command = cargo(&["test", "--package", "farpoint", "--target", TARGET, "--lib"]);
    // With more optimization, compiling takes longer than the tests.
    command.args(["--config", "profile.dev.package.farpoint.opt-level=1"]).env_remove(THOROUGH);
    // The flag is unstable, and this makes the stable compiler accept it.
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address");
    command.env("CARGO_INCREMENTAL", "0").env("CARGO_TARGET_DIR", folder);
    // Memory that threads keep for their next run is no leak, and too large requests are refused as by any allocator.
    command.env("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1");
    command
}

/// Checks that Miri's names are those of tests, even where Miri is not installed.
fn have_tests_for_miri(list: &str) -> Result<()> {
    for name in FOR_MIRI {
        let runs = list.lines().any(|test| test.starts_with(name) && test.ends_with(": test"));
        ensure!(
            runs,
            "Miri is to run the tests '{name}', but there are none; see xtask/src/sanitize.rs"
        );
    }
    Ok(())
}

/// Returns the reason why a sanitizer can't be used on this machine, if so.
fn obstacle(runtime: &str) -> Result<Option<String>> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(Some("sanitizers are used on Linux x86-64 only".into()));
    }
    let folder = output(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let runtime = format!("_rt.{runtime}.a");
    let files = Path::new(folder.trim()).read_dir()?.flatten();
    let found =
        files.into_iter().any(|file| file.file_name().to_string_lossy().ends_with(&runtime));
    Ok((!found).then(|| format!("the toolchain comes without {runtime}")))
}

/// Runs code without vectors and threads under Miri.
pub(crate) fn miri() -> Result<Skipped> {
    if !works(&mut cargo(&["miri", "--version"])) {
        return Ok(vec!["the Miri component is not installed".into()]);
    }
    let mut command = cargo(&["miri", "test", "--package", "farpoint", "--lib", "--"]);
    run_tests(command.args(FOR_MIRI).env("MIRIFLAGS", "-Zmiri-disable-isolation"))
}
