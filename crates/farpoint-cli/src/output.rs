//! Output to stdout and files. Nothing here panics when a pipe is closed.

pub use crate::messages::{complain, note, warn};
use crate::progress::Progress;
pub use crate::text::{count, number, seconds, table};
use anyhow::Result;
use farpoint_io::{Cloud, WriteOptions, printable};
use std::io::{self, Write};
use std::path::Path;

/// Writes text to stdout.
///
/// # Errors
///
/// If stdout is closed.
pub fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes bytes to stdout.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Writes lines for people to stderr, while stdout carries data.
pub(crate) fn print_error(text: &str) {
    let _ = io::stderr().write_all(lines_of(text).as_bytes());
}

/// Makes text assembled elsewhere safe for a terminal.
pub(crate) fn lines_of(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

/// Writes a file, whole or not at all.
///
/// # Errors
///
/// If the file can't be written; the text names it.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(farpoint_io::write_file(path, bytes)?)
}

/// Writes these rows of a cloud, whole or not at all, and passes on the writer's warnings.
pub(crate) fn write_cloud(
    path: &Path,
    cloud: &Cloud,
    rows: &[usize],
    options: &WriteOptions,
) -> Result<()> {
    let progress = Progress::start("writing", &path.display().to_string());
    let warnings = farpoint_io::write(path, cloud, rows, options)?;
    drop(progress);
    warnings.iter().for_each(|warning| warn(&format!("{}: {warning}", path.display())));
    Ok(())
}
