//! The manifest of a folder of outputs, `farpoint.jsonl`: a line for each file, added once its output is in place.
//! During a run, `.farpoint-tries` next to it lists the files in progress, so that the next run knows a file that
//! crashed the process.
//!
//! A run holds a lock on the manifest, which the system releases when the process ends, even by a crash.

use crate::text::escaped;
use crate::{Error, File, Row};
use farpoint_io::temporary;
use std::collections::{HashMap, HashSet};
use std::fs::{self, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Name of the manifest.
pub const MANIFEST: &str = "farpoint.jsonl";
/// Name of the list of tries.
const TRIES: &str = ".farpoint-tries";
/// A file that ended this many processes is not tried again.
pub const TRIES_MOST: u32 = 3;

/// The manifest of a run in progress.
#[derive(Debug)]
pub struct Manifest {
    folder: PathBuf,
    lines: fs::File,
    tries: fs::File,
    /// The last row of each output.
    rows: HashMap<String, Row>,
    /// Outputs for which work began in an earlier run and did not end.
    open: HashSet<String>,
    /// Outputs in progress.
    in_progress: HashSet<String>,
    /// Outputs that may be half-written, because their process was killed.
    interrupted: HashSet<String>,
    /// Lines that could not be read.
    pub unreadable: usize,
}

const FIX: &str = "check the folder and its free space";

impl Manifest {
    /// Opens the manifest in `folder`, both created if missing. A last line that was cut off is removed, and so are
    /// half-written files of a run that was killed.
    ///
    /// # Errors
    /// [`Error::Input`] if another run works in the folder, [`Error::System`] if the system refuses.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(|source| Error::system(folder, source, FIX))?;
        let path = folder.join(MANIFEST);
        let fail = |source| Error::system(&path, source, FIX);
        let mut lines = append(&path).map_err(fail)?;
        match lines.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let fix = "wait for its end, or write to another folder";
                return Err(Error::input(folder, "another run writes into this folder", fix));
            }
            // A file system without locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let text = complete_lines(&mut lines).map_err(fail)?;
        let (mut rows, mut unreadable) = (HashMap::new(), 0);
        for line in text.lines() {
            match Row::from_line(line) {
                Some(row) => drop(rows.insert(row.output.clone(), row)),
                None => unreadable += 1,
            }
        }
        let path = folder.join(TRIES);
        let fail = |source| Error::system(&path, source, FIX);
        let mut tries = append(&path).map_err(fail)?;
        let open = open_tries(&complete_lines(&mut tries).map_err(fail)?);
        let (folder, in_progress, interrupted) =
            (folder.to_owned(), HashSet::new(), HashSet::new());
        let manifest =
            Self { folder, lines, tries, rows, open, in_progress, interrupted, unreadable };
        manifest.remove_partial(&manifest.open);
        Ok(manifest)
    }

    /// Returns the last row of the file's output.
    pub fn row(&self, file: &File) -> Option<&Row> {
        self.rows.get(&escaped(&file.place))
    }

    /// Returns the row of a file that needs no work: its output is there as it was written, from the unchanged file,
    /// with these options; or the file ended the process that worked on it too often.
    pub fn finished(&self, file: &File, options: &str) -> Option<&Row> {
        let row = self.row(file).filter(|row| row.agrees(file, options))?;
        let has_size = |bytes: u64| {
            fs::metadata(&file.output)
                .is_ok_and(|metadata| metadata.is_file() && metadata.len() == bytes)
        };
        match &row.result {
            Ok(done) => has_size(done.bytes).then_some(row),
            Err(_) => (row.killed > 0).then_some(row),
        }
    }

    /// Returns whether work on the file was in progress when a run was killed.
    pub fn was_open(&self, file: &File) -> bool {
        self.open.contains(&escaped(&file.place))
    }

    /// Records that work on the file begins.
    ///
    /// # Errors
    /// [`Error::System`] if the system refuses.
    pub fn begin(&mut self, file: &File) -> Result<(), Error> {
        self.in_progress.insert(escaped(&file.place));
        self.note('+', file)
    }

    /// Records that work on the file ended otherwise than by the end of its process.
    fn note(&mut self, sign: char, file: &File) -> Result<(), Error> {
        let place = serde_json::Value::from(escaped(&file.place));
        let path = self.folder.join(TRIES);
        line(&mut self.tries, format!("{sign}{place}\n"))
            .map_err(|source| Error::system(&path, source, FIX))
    }

    /// Adds the row of a file whose output is in place, or that has none.
    ///
    /// # Errors
    /// [`Error::System`] if the system refuses.
    pub fn finish(&mut self, file: &File, row: Row) -> Result<(), Error> {
        let path = self.folder.join(MANIFEST);
        line(&mut self.lines, row.to_line() + "\n")
            .map_err(|source| Error::system(&path, source, FIX))?;
        self.in_progress.remove(&row.output);
        self.rows.insert(row.output.clone(), row);
        self.note('-', file)
    }

    /// Records that the process that worked on the file was ended.
    pub fn was_cut(&mut self, file: &File) {
        self.interrupted.insert(escaped(&file.place));
    }

    /// Ends a run that was not killed: no try is open, and no work is in progress any more.
    pub fn close(self) {
        self.remove_partial(&self.in_progress);
        self.remove_partial(&self.interrupted);
        // The rest only lists these files as begun, to be tried again.
        let _ = fs::remove_file(self.folder.join(TRIES));
    }

    /// Removes half-written files of these outputs, as far as they are in the folder: the list of tries may have been
    /// written by anybody.
    fn remove_partial(&self, places: &HashSet<String>) {
        let Ok(root) = fs::canonicalize(&self.folder) else { return };
        for output in places.iter().map(|place| self.folder.join(place)) {
            let folder = output.parent().and_then(|folder| fs::canonicalize(folder).ok());
            if folder.is_some_and(|folder| folder.starts_with(&root)) {
                temporary::remove_leftovers(&output);
            }
        }
    }
}

/// Opens the file for reading and for adding lines.
fn append(path: &Path) -> io::Result<fs::File> {
    fs::File::options().create(true).read(true).append(true).open(path)
}

/// Reads the lines of a file, and removes a last one that was cut off.
fn complete_lines(file: &mut fs::File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    let complete_len = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if complete_len < bytes.len() {
        file.set_len(complete_len as u64)?;
        bytes.truncate(complete_len);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Adds a line in one write.
fn line(file: &mut fs::File, text: String) -> io::Result<()> {
    file.write_all(text.as_bytes())
}

/// Returns the outputs for which work began and did not end.
fn open_tries(text: &str) -> HashSet<String> {
    let mut open = HashSet::new();
    for line in text.lines() {
        let Some((sign, place)) = line.split_at_checked(1) else { continue };
        let Ok(place) = serde_json::from_str::<String>(place) else { continue };
        match sign {
            "+" => open.insert(place),
            _ => open.remove(&place),
        };
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_partial_files_of_own_outputs_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let name = |name: &str| place.path().join(name);
        let names = [
            // Of an output that a killed run had begun, and of one that another process writes.
            "thin/.farpoint-a.ply.tmp",
            "thin/.farpoint-b.ply.tmp",
            // Of other runs, here and elsewhere.
            "thin/.farpoint-other.ply.tmp",
            "victim/.farpoint-x.ply.tmp",
            "victim/.farpoint-y.ply.tmp",
            "victim/.farpoint-z.ply.tmp",
        ];
        ["thin", "victim"].iter().for_each(|folder| fs::create_dir(name(folder)).unwrap());
        names.iter().for_each(|file| fs::write(name(file), b"half").unwrap());
        let mut places = vec!["a.ply".to_owned(), "b.ply".into(), "../victim/x.ply".into()];
        places.push(name("victim/y.ply").to_str().unwrap().to_owned());
        #[cfg(unix)]
        std::os::unix::fs::symlink(name("victim"), name("thin/link")).unwrap();
        places.push("link/z.ply".into());
        let tries = places.iter().map(|place| format!("+{}\n", serde_json::Value::from(&**place)));
        fs::write(name("thin/.farpoint-tries"), tries.collect::<String>()).unwrap();
        let used = fs::File::options().write(true).open(name(names[1])).unwrap();
        used.lock().unwrap();
        Manifest::open(&name("thin")).unwrap().close();
        let exists = names.map(|file| name(file).exists());
        assert_eq!(exists, [false, true, true, true, true, true]);
    }
}
