//! Messages on stderr: errors, warnings and notes of one line each, filtered by `--quiet` and
//! `--verbose`. Warnings are kept, because reports in JSON repeat them.

use farpoint_io::printable;
pub(crate) use farpoint_pipeline::text::count;
use farpoint_pipeline::{Kind, Notes};
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

/// Level of messages on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// Warnings, notes and progress too.
    Normal,
    /// Every stage with its time too.
    Verbose,
}

static VERBOSITY: AtomicU8 = AtomicU8::new(Verbosity::Normal as u8);
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Sets the level of messages.
pub(crate) fn set_verbosity(verbosity: Verbosity) {
    VERBOSITY.store(verbosity as u8, Ordering::Relaxed);
}

/// Returns whether messages of this level are printed.
pub(crate) fn is_enabled(verbosity: Verbosity) -> bool {
    VERBOSITY.load(Ordering::Relaxed) >= verbosity as u8
}

/// Writes one line to stderr: `farpoint: warning: ...`. Line breaks in it become spaces, control characters are escaped,
/// and options are spelled as here.
pub fn complain(kind: &str, text: &str) {
    let _ = writeln!(io::stderr(), "farpoint: {kind}: {}", printable(&spelled(&one_line(text))));
}

/// Returns a message of the library with its options as those of the command line.
pub(crate) fn spelled(text: &str) -> String {
    farpoint_io::spelled(text, |name, value| {
        let value = if value == "True" { "" } else { value };
        format!("--{} {value}", name.replace('_', "-")).trim_end().to_owned()
    })
}

/// Writes a warning to stderr, and keeps it for the report.
pub fn warn(text: &str) {
    if let Ok(mut warnings) = WARNINGS.lock() {
        warnings.push(spelled(&one_line(text)));
    }
    if is_enabled(Verbosity::Normal) {
        complain("warning", text);
    }
}

/// Writes a note to stderr.
pub fn note(text: &str) {
    if is_enabled(Verbosity::Normal) {
        complain("note", text);
    }
}

/// Writes a warning or a note.
pub(crate) fn print_message(kind: Kind, text: &str) {
    match kind {
        Kind::Warning => warn(text),
        Kind::Note => note(text),
    }
}

/// Writes the library's notes.
pub(crate) fn print_notes(notes: &Notes) {
    notes.iter().for_each(|(kind, text)| print_message(kind, text));
}

/// Writes a stage and its time, if verbose.
pub(crate) fn stage(name: &str, time: &str) {
    if is_enabled(Verbosity::Verbose) {
        complain("stage", &format!("{name}: {time}"));
    }
}

/// Returns all warnings so far.
pub(crate) fn warnings() -> Vec<String> {
    WARNINGS.lock().map(|warnings| warnings.clone()).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
