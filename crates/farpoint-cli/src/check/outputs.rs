//! Outputs of a command: none is an input or another output, and those that stand if it fails.

use crate::args::{Named, Report};
use crate::output::count;
use anyhow::{Result, bail, ensure};
use farpoint_io::FileId;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

/// Checks that a file other than a cloud can be written to `path`, whose name must have one of these
/// endings.
pub(crate) fn file(option: &str, path: &Path, endings: &[&str]) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let name = path.display();
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ensure!(
        endings.iter().any(|expected| ending.eq_ignore_ascii_case(expected)),
        "{option} {name}: the name must end in .{}; use {}",
        endings.join(" or ."),
        path.with_extension(endings[0]).display()
    );
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    ensure!(
        folder.is_dir(),
        "{option} {name}: the folder {} does not exist; create it first, or write elsewhere",
        folder.display()
    );
    ensure!(!path.is_dir(), "{option} {name}: is a folder; use the name of a file");
    Ok(())
}

/// The outputs of the command, each as it was before.
static OUTPUTS: Mutex<Vec<(PathBuf, Option<State>)>> = Mutex::new(Vec::new());

/// A file that is there, and the time of its last change.
type State = (FileId, Option<SystemTime>);

/// Refuses a report that can't be written, and outputs that are one file with an input or with each other, under
/// whatever names. `own` are all that the command writes besides the report, `inputs` its clouds, and `read` the other
/// files that it reads.
pub(crate) fn outputs(
    report: &Report,
    own: &[Named<'_>],
    inputs: &[&Path],
    read: &[Named<'_>],
) -> Result<()> {
    const READ: bool = true;
    let json = report.json.as_deref().filter(|_| !report.prints());
    json.map_or(Ok(()), |path| file("--json", path, &["json"]))?;
    let clouds = inputs.iter().map(|path| ("", Some(*path)));
    let mut known: HashMap<FileId, (&str, bool)> = HashMap::new();
    for (option, path) in clouds.chain(read.iter().copied()) {
        known.extend(path.and_then(FileId::of).map(|id| (id, (option, READ))));
    }
    let mut states = Vec::new();
    let outputs = own.iter().copied().chain([("--json", json)]);
    for (option, path) in outputs.filter_map(|(option, path)| Some((option, path?))) {
        states.push((path.to_owned(), state(path)));
        let name = path.display();
        match FileId::of(path).and_then(|id| known.insert(id, (option, !READ))) {
            None => {}
            Some(("", _)) => {
                bail!("{option} {name}: is the input; write to another name; the input is kept")
            }
            Some((other, READ)) => {
                bail!("{option} {name}: is also the file of {other}; write to another name")
            }
            Some((other, _)) => {
                bail!("{option} {name}: {other} names the same file; use two names")
            }
        }
    }
    if let Ok(mut outputs) = OUTPUTS.lock() {
        *outputs = states;
    }
    Ok(())
}

fn state(path: &Path) -> Option<State> {
    let changed = fs::metadata(path).ok()?.modified().ok();
    FileId::of(path).map(|id| (id, changed))
}

/// Returns which outputs of a command that failed stand nevertheless, as the end of its message; empty if none do.
pub(crate) fn standing() -> String {
    let outputs = OUTPUTS.lock().map(|outputs| outputs.clone()).unwrap_or_default();
    let written = outputs.into_iter().filter(|(path, before)| state(path) != *before);
    let names: Vec<_> = written.map(|(path, _)| path.display().to_string()).collect();
    match names.len() {
        0 => String::new(),
        1..4 => format!("; {} is written", names.join(" and ")),
        more => format!("; {} outputs are written", count(more)),
    }
}
