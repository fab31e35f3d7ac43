//! Expands the paths that a user gives: files, folders, patterns (`scans/**/*.laz`) and lists (`@list.txt`).

use crate::text::count;
use crate::{Error, Watch};
use farpoint_io::{Format, is_url};
use fast_glob::glob_match;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Its path below the given folder, or below the part of a pattern without wildcards; for a file that was named
    /// itself, its name.
    pub inside: PathBuf,
}

/// Returns the files that `inputs` names, sorted by path, each once. A folder stands for its files whose names have
/// the extension of a format that can be read, and with `recursive` also for those of its subfolders; hidden ones,
/// `excluded` (the folder of the outputs) and links to folders are skipped. A line of a list (`@list.txt`) may be
/// anything that can be given itself; empty lines and those that start with `#` are ignored. `watch` receives a note of
/// subfolders that are skipped.
///
/// # Errors
/// [`Error::Input`] for a folder, pattern or list that names no file; [`Error::System`] if one can't be read. A named
/// file that does not exist is found here, and fails when it is read.
pub fn expand(
    inputs: &[PathBuf],
    recursive: bool,
    excluded: Option<&Path>,
    watch: &dyn Watch,
) -> Result<Vec<InputFile>, Error> {
    let excluded = excluded.and_then(|folder| fs::canonicalize(folder).ok());
    let walk = Walk { recursive, excluded, watch };
    let mut found = Vec::new();
    for path in inputs {
        match list_of(path) {
            Some(list) => walk.list(Path::new(list), &mut found)?,
            None => walk.add(path, &mut found)?,
        }
    }
    found.sort();
    found.dedup_by(|a, b| a.path == b.path);
    Ok(found)
}

/// Returns whether `path` names files rather than being one: a folder, a list, or a pattern.
pub fn names_several(path: &Path) -> bool {
    let is_pattern = has_wildcards(path) && !path.exists() && !is_url(&path.to_string_lossy());
    list_of(path).is_some() || path.is_dir() || is_pattern
}

/// Returns the list that an argument such as `@list.txt` names, unless there is a file of that very name.
fn list_of(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix('@').filter(|list| !list.is_empty() && !path.exists())
}

fn has_wildcards(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[{".contains(byte))
}

const READ_FIX: &str = "check the name and the permissions";

struct Walk<'a> {
    recursive: bool,
    excluded: Option<PathBuf>,
    watch: &'a dyn Watch,
}

impl Walk<'_> {
    fn add(&self, path: &Path, found: &mut Vec<InputFile>) -> Result<(), Error> {
        if path == Path::new("-") {
            return Err(Error::input(path, "standard input is one cloud", "use it alone, with -o"));
        }
        if is_url(&path.to_string_lossy()) {
            let fix = "download the files first, and use their paths";
            return Err(Error::input(path, "is a URL", fix));
        }
        let before = found.len();
        if path.is_dir() {
            if self.excluded.is_some() && fs::canonicalize(path).ok() == self.excluded {
                let fix = "write to another folder; inputs are kept";
                return Err(Error::input(path, "is also the folder of the outputs", fix));
            }
            let readable = |inside: &Path| Format::of_input(inside).is_some();
            let skipped = self.folder(path, Path::new(""), self.recursive, &readable, found)?;
            if found.len() == before {
                let fix = "use a folder with point clouds, or `recursive=True` for subfolders";
                return Err(Error::input(path, "no point cloud files in this folder", fix));
            }
            if skipped > 0 {
                let folders = if skipped == 1 { "subfolder is" } else { "subfolders are" };
                self.watch.note(&format!(
                    "{}: {} {folders} skipped; `recursive=True` takes their files, too",
                    path.display(),
                    count(skipped)
                ));
            }
        } else if has_wildcards(path) && !path.exists() {
            self.pattern(path, found)?;
            if found.len() == before {
                return Err(Error::input(path, "no file matches", "check the pattern"));
            }
        } else {
            let name = path.file_name().unwrap_or(path.as_os_str());
            found.push(InputFile { path: tidy(path), inside: name.into() });
        }
        Ok(())
    }

    fn list(&self, list: &Path, found: &mut Vec<InputFile>) -> Result<(), Error> {
        let text =
            fs::read_to_string(list).map_err(|source| Error::system(list, source, READ_FIX))?;
        let lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let before = found.len();
        for line in lines {
            self.add(Path::new(line), found)?;
        }
        match found.len() == before {
            true => Err(Error::input(list, "the list names no file", "write a path in each line")),
            false => Ok(()),
        }
    }

    /// Adds the files below `folder` that `fit`, by their path below it. Returns the number of subfolders skipped.
    fn folder(
        &self,
        folder: &Path,
        inside: &Path,
        deep: bool,
        fit: &dyn Fn(&Path) -> bool,
        found: &mut Vec<InputFile>,
    ) -> Result<usize, Error> {
        let is_excluded = |folder: &Path| {
            self.excluded.is_some() && fs::canonicalize(folder).ok() == self.excluded
        };
        if is_excluded(folder) {
            return Ok(0);
        }
        let mut skipped = 0;
        let fail = |source| Error::system(folder, source, READ_FIX);
        for entry in fs::read_dir(folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let (name, kind) = (entry.file_name(), entry.file_type().map_err(fail)?);
            let (path, inside) = (folder.join(&name), inside.join(&name));
            if is_hidden(&name) {
            } else if kind.is_dir() {
                match deep {
                    true => skipped += self.folder(&path, &inside, deep, fit, found)?,
                    false => skipped += usize::from(!is_excluded(&path)),
                }
            } else if fit(&inside) && (kind.is_file() || path.is_file()) {
                found.push(InputFile { path: tidy(&path), inside });
            }
        }
        Ok(skipped)
    }

    /// Adds files below the longest part without wildcards that match the rest.
    fn pattern(&self, pattern: &Path, found: &mut Vec<InputFile>) -> Result<(), Error> {
        let plain = |part: &Component<'_>| !has_wildcards(part.as_os_str().as_ref());
        let base: PathBuf = pattern.components().take_while(plain).collect();
        let rest: PathBuf = pattern.components().skip_while(plain).collect();
        let invalid = || Error::input(pattern, "the pattern is not valid Unicode", "name a folder");
        let text = rest.to_str().ok_or_else(invalid)?;
        let deep =
            rest.components().count() > 1 || rest.as_os_str().as_encoded_bytes().starts_with(b"**");
        let fits = |inside: &Path| glob_match(text, inside.as_os_str().as_encoded_bytes());
        let folder = if base == Path::new("") { Path::new(".") } else { &base };
        if !folder.is_dir() {
            return Ok(());
        }
        self.folder(folder, Path::new(""), deep, &fits, found).map(drop)
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Removes `./`, so that a file that is named twice is one.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
