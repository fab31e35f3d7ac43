//! Starting other programs from the root of the repository.

use anyhow::{Context, Result, bail};
use std::env;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Changes to the repository's root, the parent of this crate's folder.
pub(crate) fn enter_repository_root() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent")?;
    env::set_current_dir(root).with_context(|| format!("can't enter {}", root.display()))
}

/// Returns a `cargo` command that builds as one typed into a shell would.
pub(crate) fn cargo<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    // `cargo run` describes xtask in these; build scripts must not see them.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    if !std::io::stderr().is_terminal() && env::var_os("CARGO_TERM_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "never");
    }
    command
}

/// Runs a command to its end; an error shows its arguments.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("can't start: {}", show(command)))?;
    if !status.success() {
        bail!("{} ({status})", show(command));
    }
    Ok(())
}

/// Runs a command and returns what it writes to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("can't start: {}", show(command)))?;
    if !output.status.success() {
        bail!("{} ({})", show(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns whether a command exists and succeeds. Prints nothing.
pub(crate) fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns cargo's target folder.
pub(crate) fn target_folder() -> PathBuf {
    let root = env::current_dir().unwrap_or_default();
    root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Builds targets as the workspace's tests do: with the same features, so that after them nothing
/// is compiled again. Returns the output folder.
pub(crate) fn build_as_tests(targets: &[&str]) -> Result<PathBuf> {
    // An example takes the features of development dependencies, as tests do.
    let command =
        ["build", "--quiet", "--workspace", "--bin", "farpoint", "--example", "fuzz_corpus"];
    run(cargo(&command).args(targets))?;
    Ok(target_folder().join("debug"))
}

/// Returns the command line program.
pub(crate) fn program() -> Result<PathBuf> {
    Ok(build_as_tests(&[])?.join(format!("farpoint{}", env::consts::EXE_SUFFIX)))
}

/// Returns the version of all crates.
pub(crate) fn workspace_version() -> Result<String> {
    of_workspace("version")
}

/// Returns a field that the workspace's manifest sets for all crates.
pub(crate) fn of_workspace(field: &str) -> Result<String> {
    let manifest = std::fs::read_to_string("Cargo.toml")?;
    let found = manifest
        .split_once(&format!("\n{field} = \""))
        .and_then(|(_, rest)| rest.split('"').next());
    Ok(found.with_context(|| format!("Cargo.toml has no {field}"))?.to_owned())
}

/// Returns the files and folders in a folder whose names match, in order.
pub(crate) fn files(folder: &Path, such: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let list = std::fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let paths = list.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut found: Vec<_> = paths.into_iter().filter(|path| such(&name(path))).collect();
    found.sort();
    Ok(found)
}

/// Copies a file, or a folder with its contents, except files of npm or Python.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    let fail = || format!("can't copy {} to {}", from.display(), to.display());
    if !from.is_dir() {
        std::fs::create_dir_all(to.parent().unwrap_or(to)).with_context(fail)?;
        std::fs::copy(from, to).with_context(fail)?;
        return Ok(());
    }
    std::fs::create_dir_all(to).with_context(fail)?;
    for entry in std::fs::read_dir(from).with_context(fail)? {
        let entry = entry?;
        if !["node_modules", "__pycache__"].iter().any(|made| entry.file_name() == *made) {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Formats the command as one would type it.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
