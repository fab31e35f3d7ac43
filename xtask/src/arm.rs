//! The library's tests on 64-bit ARM, compiled and run under emulation in a small Debian system of their own, which has
//! the standard library for it.

use crate::process::{cargo, run, target_folder, works};
use crate::report::run_tests;
use anyhow::{Context, Result};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const MIRROR: &str = "http://deb.debian.org/debian";
const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Environment variable that allows the step to make its system.
const MAKE: &str = "FARPOINT_MAKE_ARM";

/// The tests, without those of large real clouds, which take an hour here.
const TESTS: &str = "FARPOINT_THOROUGH=few cargo test --offline --target $TARGET --package farpoint \
    --package farpoint-capi --lib --test it --test calls --test index -- --show-output --skip real::";

/// Packages of the system: compilers of this machine, libraries of the other, an emulator of its instructions.
const PACKAGES: [&str; 8] = [
    "rustc",
    "cargo",
    "libstd-rust-dev:arm64",
    "gcc",
    "gcc-aarch64-linux-gnu",
    "libc6-dev",
    "libc6-dev:arm64",
    "qemu-user",
];

/// Runs the tests of the library and of the C interface, with half the case counts of a quick run.
pub(crate) fn test() -> Result<Vec<String>> {
    if cfg!(target_arch = "aarch64") {
        return Ok(vec!["this machine is 64-bit ARM: all its tests are".into()]);
    }
    let root = target_folder().join("arm/root");
    if !root.join("usr/bin/qemu-aarch64").exists() {
        let can_make = env::var_os(MAKE).is_some()
            && works(Command::new("debootstrap").arg("--version"))
            && works(Command::new("unshare").args(["--mount", "true"]));
        if !can_make {
            return Ok(vec![format!(
                "64-bit ARM: {MAKE}=1, debootstrap and root make the Debian system for it in target/arm (3 GB, 4 minutes)"
            )]);
        }
        make_system(&root)?;
    }
    run(&mut cargo(&["fetch", "--quiet", "--locked", "--target", TARGET]))?;
    run_tests(&mut inside(&root, TESTS)?)
}

/// Makes the system, of some 3 GB.
fn make_system(root: &Path) -> Result<()> {
    let mut base = Command::new("debootstrap");
    base.args(["--variant=minbase", "--include=ca-certificates", "unstable"]).arg(root).arg(MIRROR);
    run(&mut base)?;
    let install = format!(
        "dpkg --add-architecture arm64 && apt-get -o Acquire::Check-Valid-Until=false -qq update && \
         DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends {} >/dev/null",
        PACKAGES.join(" ")
    );
    run(&mut inside(root, &install)?)
}

/// Returns a shell command in the system, which sees the repository and cargo's packages. The mounts end with it.
fn inside(root: &Path, command: &str) -> Result<Command> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let packages = home.context("neither CARGO_HOME nor HOME is set")?.join("registry");
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-ec"]).arg(
        "mkdir -p $0/repository $0/cargo/registry $0/build\n\
         mount --bind . $0/repository\n\
         mount --bind $1 $0/cargo/registry\n\
         mount -t proc proc $0/proc\n\
         exec chroot $0 sh -ec \"cd /repository; $2\"",
    );
    shell.arg(root).arg(packages).arg(command).env("TARGET", TARGET);
    // Builds of the two toolchains don't mix.
    shell
        .env("CARGO_HOME", "/cargo")
        .env("CARGO_TARGET_DIR", "/build")
        .env("CARGO_INCREMENTAL", "0");
    shell.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
    let emulator = "qemu-aarch64 -L /usr/aarch64-linux-gnu";
    shell.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", emulator);
    shell.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("CARGO");
    shell.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    Ok(shell)
}
