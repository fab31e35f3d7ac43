//! Output paths of files, and checks that refuse a run before any work.

use crate::memory::weight;
use crate::{Error, InputFile};
use farpoint_io::{Copc, FileId, Format};
use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A file to be worked on.
#[derive(Clone, Debug)]
pub struct File {
    /// Path of the input.
    pub input: PathBuf,
    /// Path of the output.
    pub output: PathBuf,
    /// Path of the output below the folder of all outputs.
    pub place: PathBuf,
    /// Length in bytes; 0 if it does not exist.
    pub size: u64,
    /// Time of its last change, in nanoseconds from 1970.
    pub modified: i64,
    /// Estimated bytes of memory that the work takes.
    pub weight: u64,
}

/// Gives each file its output in the folder `out`: the path below the given one, with the extension `to` if there is
/// one.
///
/// # Errors
/// [`Error::Input`] if two files would have the same output, or an output is one of the inputs.
pub fn plan(found: Vec<InputFile>, out: &Path, to: Option<&str>) -> Result<Vec<File>, Error> {
    let mut files: Vec<File> = Vec::with_capacity(found.len());
    let mut outputs: HashMap<PathBuf, usize> = HashMap::with_capacity(found.len());
    let mut inputs = HashSet::new();
    for InputFile { path, inside } in found {
        // Outputs are not compressed.
        let packed = inside.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        let inside = if packed { inside.with_extension("") } else { inside };
        let place = match to {
            Some(extension) => renamed(&inside, extension),
            None => inside,
        };
        if let Some(other) = outputs.insert(place.clone(), files.len()) {
            let problem = format!(
                "its output {} is also that of {}",
                out.join(&place).display(),
                files[other].input.display()
            );
            let fix = match path.parent() == files[other].input.parent() {
                true => "rename one of them, or process them in two runs with two output folders",
                false => {
                    "use the folder above both with `recursive=True`, which keeps \
                     their tree, or process them in two runs with two output folders"
                }
            };
            return Err(Error::input(&path, problem, fix));
        }
        let metadata = fs::metadata(&path).ok();
        inputs.extend(FileId::of(&path));
        let size = metadata.as_ref().map_or(0, Metadata::len);
        let modified = metadata.as_ref().map_or(0, modified);
        let weight = weight(&path, size);
        files.push(File { input: path, output: out.join(&place), place, size, modified, weight });
    }
    match files.iter().find(|file| FileId::of(&file.output).is_some_and(|id| inputs.contains(&id)))
    {
        Some(file) => Err(Error::input(
            &file.output,
            format!("the output of {} is one of the inputs", file.input.display()),
            "write to another folder; inputs are kept",
        )),
        None => Ok(files),
    }
}

/// Returns the time of the last change, in nanoseconds from 1970.
pub(crate) fn modified(metadata: &Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

/// Returns the path with another extension in place of one of a format.
fn renamed(path: &Path, extension: &str) -> PathBuf {
    if Format::from_path(path).is_some() {
        // `.copc.laz` is one ending.
        let plain = if Copc::is_named(path) { path.with_extension("") } else { path.to_owned() };
        return plain.with_extension(extension);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(extension);
    path.with_file_name(name)
}
