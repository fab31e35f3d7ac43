//! Temporary files and folders beside outputs, and the removal of those that a killed process leaves.
//!
//! The file of `scan.ply` is `.farpoint-scan.ply.tmp`, and locked as long as its process lives: the name says whose
//! it is, and the system releases the lock however the process ends. A folder has a file for its lock. On a file
//! system without locks nobody can tell, and files left there stay.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, TryLockError as Busy};
use std::time::Duration;
use tempfile::{NamedTempFile, TempDir};

/// Names of the temporary files of an output, which several processes may write at a time; further ones have
/// names at random.
const NAMES: usize = 4;

/// Paths that this process has to remove if it ends without returning to their owners; `None` once it has done so.
static PATHS: Mutex<Option<Vec<PathBuf>>> = Mutex::new(Some(Vec::new()));

/// A path that [`remove_temporaries`] removes, until this is dropped.
#[derive(Debug)]
pub(crate) struct Guard(PathBuf);

impl Guard {
    fn new(path: &Path) -> io::Result<Guard> {
        if let Some(mut paths) = paths() {
            paths.as_mut().ok_or_else(ending)?.push(path.to_owned());
        }
        Ok(Guard(path.to_owned()))
    }

    /// Renames the file to its place, unless the process is ending: then nothing is replaced any more.
    pub(crate) fn persist(self, file: NamedTempFile, place: &Path) -> io::Result<()> {
        let paths = paths();
        if paths.as_ref().is_some_and(|paths| paths.is_none()) {
            return Err(ending());
        }
        file.persist(place).map(drop).map_err(|failed| failed.error)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(paths) = paths().as_deref_mut().and_then(Option::as_mut) {
            paths.retain(|path| *path != self.0);
        }
    }
}

fn ending() -> io::Error {
    io::Error::other("the process was told to end")
}

/// Locks the list, unless a thread holds it for long: one that has run out of memory while it did.
fn paths() -> Option<std::sync::MutexGuard<'static, Option<Vec<PathBuf>>>> {
    for _ in 0..100 {
        match PATHS.try_lock() {
            Ok(paths) => return Some(paths),
            Err(Busy::Poisoned(paths)) => return Some(paths.into_inner()),
            Err(Busy::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}

/// Removes all temporary files and folders of this process, for programs that are about to end without returning to
/// their owners: from now on no output is put in its place.
pub fn remove_temporaries() {
    for path in paths().and_then(|mut paths| paths.take()).iter().flatten() {
        // One that stays is removed by the next run.
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
}

/// Removes the temporary files of an output that ended processes left.
pub fn remove_leftovers(output: &Path) {
    for number in 0..NAMES {
        remove_left(&output.with_file_name(name(output, number) + ENDING));
    }
}

/// Returns the bytes that are free in the file system of a folder; `None` if unknown, which is everywhere but on Unix.
pub fn free_space(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    return rustix::fs::statvfs(folder)
        .ok()
        .map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    #[cfg(not(unix))]
    None.filter(|_: &u64| folder.exists())
}

/// Creates a temporary file beside an output, to be renamed to it.
pub(crate) fn beside(output: &Path) -> io::Result<(NamedTempFile, Guard)> {
    remove_leftovers(output);
    let folder = output.parent().unwrap_or(Path::new(""));
    let make = |name: String, random: usize| -> io::Result<(NamedTempFile, Guard)> {
        let mut builder = tempfile::Builder::new();
        let file = builder.prefix(&name).suffix(ENDING).rand_bytes(random).make_in(folder, new)?;
        let guard = Guard::new(file.path())?;
        Ok((file, guard))
    };
    for number in 0..NAMES {
        match make(name(output, number), 0) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
    make(name(output, NAMES), 6)
}

/// Creates a new file that is locked.
fn new(path: &Path) -> io::Result<File> {
    // With the permissions of any new file.
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    // Until it was locked it looked like one of an ended process.
    let locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    if !locked || is_removed(&file, path) {
        Err(io::ErrorKind::AlreadyExists.into())
    } else {
        Ok(file)
    }
}

/// A temporary folder, which is removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Folder {
    // Dropped in this order, so that the folder is locked until it is removed, if the system allows it.
    folder: TempDir,
    _guard: Guard,
    _lock: File,
}

impl Folder {
    /// Creates a folder in this one, and removes those of ended processes from it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn within(folder: &Path) -> io::Result<Folder> {
        remove_left_folders(folder);
        loop {
            let folder = tempfile::Builder::new().prefix(FOLDER).tempdir_in(folder)?;
            match new(&folder.path().join(LOCK)) {
                Ok(lock) => {
                    let guard = Guard::new(folder.path())?;
                    return Ok(Folder { folder, _guard: guard, _lock: lock });
                }
                // Another process took it for one that was left.
                Err(_) if !folder.path().exists() => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Moves it to a path where nothing is yet, and keeps it there.
    ///
    /// # Errors
    /// If the system refuses; then it is removed.
    pub fn rename(self, to: &Path) -> io::Result<()> {
        fs::remove_file(self.path().join(LOCK))?;
        fs::rename(self.path(), to)
    }
}

/// Prefix of the names of temporary folders.
const FOLDER: &str = ".farpoint-spool-";
/// The file in a temporary folder that is locked.
const LOCK: &str = ".lock";

/// Removes the temporary folders in a folder whose processes are gone; returns their paths and sizes in bytes.
pub fn remove_left_folders(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let ours = entry.file_name().as_encoded_bytes().starts_with(FOLDER.as_bytes());
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let (path, size) = (entry.path().join(LOCK), size(&entry.path()));
        let done = match File::options().read(true).write(true).open(&path) {
            Ok(lock) if lock.try_lock().is_ok() && is_at(&lock, &path) => {
                fs::remove_dir_all(entry.path())
            }
            Ok(_) => continue,
            // Its process was killed before it had a lock: then it is empty.
            Err(_) => fs::remove_dir(entry.path()),
        };
        removed.extend(done.is_ok().then(|| (entry.path(), size)));
    }
    removed
}

/// Removes the temporary files in a folder whose processes are gone, of any output; returns their paths and sizes in
/// bytes.
pub fn remove_left_files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.as_encoded_bytes();
        let ours = name.starts_with(FILE.as_bytes()) && name.ends_with(ENDING.as_bytes());
        let Some(info) = entry.metadata().ok().filter(|info| ours && info.is_file()) else {
            continue;
        };
        removed.extend(remove_left(&path).then_some((path, info.len())));
    }
    removed
}

/// Returns the bytes of the files in a folder.
pub fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

/// Removes a file unless a process has locked it; returns whether it is gone.
fn remove_left(path: &Path) -> bool {
    let Ok(file) = File::options().read(true).write(true).open(path) else { return false };
    // The holder of the lock of the file at this path is alone with it.
    file.try_lock().is_ok() && is_at(&file, path) && fs::remove_file(path).is_ok()
}

/// Returns whether an open file was removed from this path.
fn is_removed(file: &File, path: &Path) -> bool {
    // Numbers of files may change on network file systems: then there is still a link to it.
    #[cfg(unix)]
    let links = std::os::unix::fs::MetadataExt::nlink;
    #[cfg(not(unix))]
    let links = |_: &fs::Metadata| 0;
    !is_at(file, path) && file.metadata().is_ok_and(|info| links(&info) == 0)
}

/// Returns whether an open file is the one at this path.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (file.metadata(), fs::symlink_metadata(path)) {
        use std::os::unix::fs::MetadataExt;
        return a.dev() == b.dev() && a.ino() == b.ino();
    }
    path.exists() && file.metadata().is_ok()
}

/// Prefix and ending of the names of temporary files.
const FILE: &str = ".farpoint-";
const ENDING: &str = ".tmp";

/// The name of a temporary file without its ending, short enough for any file system.
fn name(output: &Path, number: usize) -> String {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=name.len().min(200)).rev().find(|&end| name.is_char_boundary(end));
    let name = &name[..end.unwrap_or(0)];
    match number {
        0 => format!("{FILE}{name}"),
        _ => format!("{FILE}{name}-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn stale_files_are_removed_and_locked_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("a.ply");
        let stale = folder.path().join(".farpoint-a.ply.tmp");
        // As after `kill -9`, of this output and of others.
        fs::write(&stale, b"half").unwrap();
        let other = folder.path().join(".farpoint-b.ply.tmp");
        fs::write(&other, b"half").unwrap();
        let (mut first, _guard) = beside(&output).unwrap();
        assert_eq!(first.path(), stale);
        first.write_all(b"first").unwrap();
        let (second, _guard) = beside(&output).unwrap();
        assert_ne!(second.path(), stale);
        remove_leftovers(&output);
        assert!(second.path().exists() && fs::read(&stale).unwrap() == b"first");
        drop(second);
        let second = folder.path().join(".farpoint-a.ply-1.tmp");
        fs::write(&second, b"half").unwrap();
        remove_leftovers(&output);
        assert!(stale.exists() && !second.exists() && other.exists());
        assert_eq!(remove_left_files(folder.path()), [(other, 4)]);
        assert!(stale.exists());
        first.persist(&output).unwrap();
        assert_eq!(fs::read(&output).unwrap(), b"first");
    }

    #[test]
    fn folders_of_processes_that_are_gone_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let [stale, empty, strange] =
            ["1", "2", "3"].map(|name| place.path().join(format!("{FOLDER}{name}")));
        [&stale, &empty, &strange].iter().for_each(|folder| fs::create_dir(folder).unwrap());
        ["points", LOCK].iter().for_each(|name| fs::write(stale.join(name), b"x").unwrap());
        fs::write(strange.join("letter.txt"), b"dear").unwrap();
        let first = Folder::within(place.path()).unwrap();
        fs::write(first.path().join("points"), b"x").unwrap();
        assert!(!stale.exists() && !empty.exists() && strange.join("letter.txt").exists());
        assert_eq!(remove_left_folders(place.path()), []);
        let second = Folder::within(place.path()).unwrap();
        assert!(first.path().join("points").exists());
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
        let to = place.path().join("kept");
        fs::write(second.path().join("points"), b"x").unwrap();
        second.rename(&to).unwrap();
        assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }

    #[test]
    fn as_many_as_are_needed_and_names_of_any_length() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", &"ä".repeat(127)] {
            let all: Vec<_> = (0..9).map(|_| beside(&folder.path().join(name)).unwrap()).collect();
            assert!(all.iter().all(|(file, _)| file.path().exists()));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_behind_a_link_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let [victim, link] = ["victim", ".farpoint-a.ply.tmp"].map(|name| folder.path().join(name));
        fs::write(&victim, b"dear").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        let (mut file, _guard) = beside(&folder.path().join("a.ply")).unwrap();
        file.write_all(b"points").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"dear");
    }
}
