//! The folder of a run: its files, and its lock.

use crate::error::Error;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// Files that a run makes in its folder.
const FILES: [&str; 7] = ["points", "log", "cloud", "cloud.new", "rows", "by-row", "records"];
const LOCK: &str = "lock";

/// A folder that belongs to this run alone.
pub(crate) struct Folder {
    path: PathBuf,
    /// Locked until this is dropped.
    lock: File,
    /// Whether this run made the folder.
    made: bool,
    /// Removed with all that is in it when this is dropped.
    _temporary: Option<tempfile::TempDir>,
}

impl Folder {
    /// The folder that was given, made if it is not there, or one of its own in `beside`.
    pub(crate) fn take(given: Option<&Path>, beside: &Path) -> Result<Folder, Error> {
        let (path, temporary) = match given {
            Some(path) => (path.to_owned(), None),
            None => {
                let mut builder = tempfile::Builder::new();
                builder.prefix(".farpoint-spool-");
                let folder = builder.tempdir_in(beside);
                let folder = folder.map_err(|source| Error::written(beside, source))?;
                (folder.path().to_owned(), Some(folder))
            }
        };
        let made = !path.is_dir();
        fs::create_dir_all(&path).map_err(|source| Error::written(&path, source))?;
        let place = path.join(LOCK);
        let mut options = File::options();
        let lock = options.read(true).write(true).create(true).truncate(false).open(&place);
        let lock = lock.map_err(|source| Error::written(&place, source))?;
        match lock.try_lock() {
            Ok(()) => Ok(Folder { path, lock, made, _temporary: temporary }),
            Err(TryLockError::WouldBlock) => Err(Error::unusable(
                &path,
                "another run works in this folder",
                "wait for it, or give another folder by --spool (in Python: spool=)",
            )),
            Err(TryLockError::Error(source)) => Err(Error::written(&place, source)),
        }
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is anything of a run.
    pub(crate) fn is_used(&self) -> bool {
        FILES.iter().any(|name| self.file(name).exists())
    }

    /// Whether there are files of others.
    pub(crate) fn has_others(&self) -> Result<bool, Error> {
        let failed = |source| Error::read(&self.path, source);
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if !FILES.iter().chain([&LOCK]).any(|own| name == *own) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes one of its files, if it is there.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.file(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::written(&path, source))
            }
            _ => Ok(()),
        }
    }

    /// Removes all that the run has made. The result is written by then: what can't be removed stays.
    pub(crate) fn finish(self) {
        let Folder { path, lock, made, .. } = &self;
        for name in FILES {
            let _ = self.remove(name);
        }
        let _ = fs::remove_file(path.join(LOCK));
        let _ = lock.unlock();
        if *made {
            let _ = fs::remove_dir(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_a_folder() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("a/b");
        let first = Folder::take(Some(&path), base.path()).unwrap();
        let error = Folder::take(Some(&path), base.path()).err().unwrap().to_string();
        assert!(error.contains("another run works in this folder"), "{error}");
        fs::write(first.file("points"), b"x").unwrap();
        assert!(first.is_used() && !first.has_others().unwrap());
        drop(first);
        let again = Folder::take(Some(&path), base.path()).unwrap();
        assert!(again.is_used());
        again.finish();
        assert!(path.is_dir() && fs::read_dir(&path).unwrap().count() == 0);
        let own = Folder::take(None, base.path()).unwrap();
        let place = own.path().to_owned();
        assert!(place.is_dir());
        drop(own);
        assert!(!place.exists());
    }
}
