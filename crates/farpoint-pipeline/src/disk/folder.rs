//! The folder of a run: its files, and its lock.

use crate::disk::error::Error;
use farpoint_io::temporary;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The file that makes the others a spool: without it a run can't be resumed.
pub(crate) const CLOUD: &str = "cloud";
/// The same while the input is read.
pub(crate) const READING: &str = "reading";
pub(crate) const READING_NEW: &str = "reading.new";
/// Files that a run makes in its folder, in the order in which they are removed: the first ones first, so that a
/// process that is killed in between leaves no spool of which half is gone.
const FILES: [&str; 11] = [
    READING,
    READING_NEW,
    CLOUD,
    "cloud.new",
    "points",
    "log",
    "rows",
    "rows-sorted",
    "distances",
    "by-row",
    "records",
];
/// Created first and removed last: it marks the folder as one of a run.
const LOCK: &str = "lock";
/// Content of the lock, by which [`clean`] knows a folder that no run has named.
const MARK: &[u8] = b"farpoint spool\n";

/// Files that a killed run left.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// A file, or the folder of a spool.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The reason why it was kept; `None` if it is removed.
    pub kept: Option<&'static str>,
}

/// Removes the files that killed runs left in `folder`: temporary files and folders, and spools in it and in the
/// folders directly in it. Those that a process has locked stay, and so do spools that a run can resume.
///
/// # Errors
/// If the folder can't be read.
pub fn clean(folder: &Path) -> Result<Vec<Leftover>, Error> {
    let failed = |source| Error::unreadable(folder, source);
    let removed = [temporary::remove_left_folders(folder), temporary::remove_left_files(folder)];
    let removed = removed.into_iter().flatten();
    let mut found: Vec<_> =
        removed.map(|(path, bytes)| Leftover { path, bytes, kept: None }).collect();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(clean_spool(&entry.path()));
        }
    }
    found.extend(clean_spool(folder));
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Removes the folder of a run, unless it is in use or can be resumed; `None` if it is none.
fn clean_spool(path: &Path) -> Option<Leftover> {
    let lock = marked_lock(path)?;
    let (path, bytes) = (path.to_owned(), temporary::size(path));
    let kept = |why| Some(Leftover { path: path.clone(), bytes, kept: Some(why) });
    if lock.try_lock().is_err() {
        return kept("a run works in it");
    }
    let folder = Folder { path: path.clone(), lock, created: true, temporary: None };
    if folder.has_spool() {
        return kept("an interrupted run, which `resume=True` continues; delete it to start again");
    }
    if refuse_other_files(&path, true).is_err() {
        return kept("contains other files");
    }
    folder.finish();
    if path.join(LOCK).exists() {
        kept("cannot be removed")
    } else {
        Some(Leftover { path, bytes, kept: None })
    }
}

/// Opens the lock of a folder that is one of a run; `None` if it is none.
fn marked_lock(path: &Path) -> Option<File> {
    let lock = File::options().read(true).write(true).open(path.join(LOCK)).ok()?;
    let mut content = Vec::new();
    (&lock).take(MARK.len() as u64 + 1).read_to_end(&mut content).ok()?;
    (content == MARK).then_some(lock)
}

/// Refuses a folder with files of others: with any, unless they are those of a run. One that does not exist is none.
fn refuse_other_files(path: &Path, of_run: bool) -> Result<(), Error> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(|source| Error::unreadable(path, source))?,
    };
    for entry in entries {
        let name = entry.map_err(|source| Error::unreadable(path, source))?.file_name();
        if !(of_run && FILES.iter().chain([&LOCK]).any(|known| name == **known)) {
            let what = format!("contains other files, such as '{}'", name.display());
            return Err(Error::unusable(path, what, "use an empty folder"));
        }
    }
    Ok(())
}

/// A folder that belongs to this run alone.
pub(crate) struct Folder {
    path: PathBuf,
    /// Locked until this is dropped.
    lock: File,
    /// True if this run created the folder.
    created: bool,
    /// Removed with all that is in it when this is dropped, or by a later run if this one is killed.
    temporary: Option<temporary::Folder>,
}

impl Folder {
    /// Takes the given folder, created if missing, or a temporary one in `beside`.
    pub(crate) fn take(requested: Option<&Path>, beside: &Path) -> Result<Folder, Error> {
        let (path, temporary) = match requested {
            Some(path) => (path.to_owned(), None),
            None => {
                let folder = temporary::Folder::within(beside);
                let folder = folder.map_err(|source| Error::written(beside, source))?;
                (folder.path().to_owned(), Some(folder))
            }
        };
        let (created, place) = (!path.is_dir(), path.join(LOCK));
        let failed = |source| Error::written(&place, source);
        let (lock, mark) = match marked_lock(&path) {
            Some(lock) => (lock, &b""[..]),
            None => {
                // Before anything is created: a folder of somebody else stays as it is.
                if temporary.is_none() {
                    refuse_other_files(&path, false)?;
                }
                let new = fs::create_dir_all(&path).and_then(|()| File::create_new(&place));
                (new.map_err(failed)?, MARK)
            }
        };
        match lock.try_lock() {
            Ok(()) => {
                (&lock).write_all(mark).map_err(failed)?;
                let folder = Folder { path, lock, created, temporary };
                if folder.temporary.is_none() && !folder.has_spool() {
                    refuse_other_files(&folder.path, true)?;
                }
                Ok(folder)
            }
            Err(TryLockError::WouldBlock) => Err(Error::unusable(
                &path,
                "another run works in this folder",
                "wait for it, or choose another folder with `spool`",
            )),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Returns the path of a file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an error unless `needed` bytes are free, or `free` is given.
    pub(crate) fn check_space(&self, needed: u64, free: Option<u64>) -> Result<(), Error> {
        let free = free.or_else(|| temporary::free_space(&self.path));
        match free.filter(|free| *free < needed) {
            None => Ok(()),
            Some(free) => Err(Error::no_space(&self.path, needed, free)),
        }
    }

    /// Returns whether there is a spool that a run can resume.
    pub(crate) fn has_spool(&self) -> bool {
        [CLOUD, READING].iter().any(|name| self.file(name).exists())
    }

    /// Returns the files that [`Folder::finish`] removes, in its order.
    fn removed(&self) -> impl Iterator<Item = PathBuf> {
        FILES.into_iter().chain([LOCK]).map(|name| self.file(name))
    }

    /// Removes all files of the run. The result is written by then: files that can't be removed stay.
    pub(crate) fn finish(self) {
        if self.temporary.is_some() {
            return;
        }
        for path in self.removed() {
            let done = fs::remove_file(&path);
            if done.is_ok() && path.ends_with(CLOUD) {
                // Holds also if the power fails.
                let _ = File::open(&self.path).and_then(|folder| folder.sync_all());
            }
        }
        let _ = self.lock.unlock();
        if self.created {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Event, Job, Outputs, sample};
    use farpoint::Amount;
    use farpoint_io::{Cloud, Coordinates, ReadOptions, Reader, WriteOptions, write};

    /// Runs a job of this folder until it writes, or to its end.
    fn run(place: &Path, resume: bool, whole: bool) -> Result<(), Error> {
        let reader = Reader::open(&place.join("a.ply"), &ReadOptions::default(), None)?;
        let job = Job::new(Amount::Ratio(0.25), 128 << 20).sizes(500, 400, 50_000);
        let job = job.spool(place.join("spool")).resume(resume).sorted(true);
        let (out, options) = (place.join("o.ply"), WriteOptions::default());
        let outputs = Outputs { points: Some((&out, &options)), indices: None };
        sample(&reader, &job, &outputs, &mut |event| whole || event != Event::Writing).map(drop)
    }

    #[test]
    fn killed_between_two_removals() {
        let place = tempfile::tempdir().unwrap();
        let cloud = Cloud::new(Coordinates::F32(farpoint_generate::room(2_000, 3)));
        let rows: Vec<usize> = (0..2_000).collect();
        let name = |name: &str| place.path().join(name);
        write(&name("a.ply"), &cloud, &rows, &WriteOptions::default()).unwrap();
        run(place.path(), false, true).unwrap();
        let truth = fs::read(name("o.ply")).unwrap();
        for removals in 0..=FILES.len() + 1 {
            for resume in [false, true] {
                assert!(matches!(run(place.path(), false, false), Err(Error::Stopped)));
                // Other files that exist while outputs are written.
                let names = [READING, READING_NEW, "cloud.new", "rows", "rows-sorted", "distances"];
                for file in names.into_iter().chain(["by-row", "records"]) {
                    fs::write(name("spool").join(file), b"x").unwrap();
                }
                let folder = Folder::take(Some(&name("spool")), place.path()).unwrap();
                for path in folder.removed().take(removals) {
                    fs::remove_file(&path).unwrap();
                }
                let left = folder.has_spool();
                assert_eq!(left, removals < 3);
                drop(folder);
                if left && !resume {
                    let error = run(place.path(), false, true).unwrap_err().to_string();
                    assert!(error.contains("`resume=True`"), "{error}");
                    run(place.path(), true, true).unwrap();
                } else {
                    run(place.path(), resume, true).unwrap();
                }
                assert!(fs::read(name("o.ply")).unwrap() == truth);
                let _ = fs::remove_dir_all(name("spool"));
            }
        }
    }

    #[test]
    fn spools_that_no_run_can_resume_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let cloud = Cloud::new(Coordinates::F32(farpoint_generate::room(2_000, 3)));
        let rows: Vec<usize> = (0..2_000).collect();
        write(&place.path().join("a.ply"), &cloud, &rows, &WriteOptions::default()).unwrap();
        let spool = place.path().join("spool");
        let kept = |reason: Option<&str>| {
            // In the folder itself, and in the one around it.
            for folder in [spool.as_path(), place.path()] {
                let found = clean(folder).unwrap();
                assert_eq!(found.len(), 1, "{found:?}");
                assert!(found[0].path == spool && found[0].bytes > 0, "{found:?}");
                assert!(reason.is_none_or(|r| found[0].kept.unwrap().contains(r)), "{found:?}");
                if reason.is_none() {
                    assert!(found[0].kept.is_none() && !spool.exists());
                    break;
                }
            }
        };
        assert!(matches!(run(place.path(), false, false), Err(Error::Stopped)));
        kept(Some("`resume=True`"));
        let folder = Folder::take(Some(&spool), place.path()).unwrap();
        kept(Some("a run works"));
        drop(folder);
        run(place.path(), true, true).unwrap();
        // A folder of somebody else stays, even with files of the same names.
        fs::create_dir_all(&spool).unwrap();
        fs::write(spool.join(LOCK), b"").unwrap();
        fs::write(spool.join("points"), b"x").unwrap();
        assert_eq!(clean(place.path()).unwrap(), []);
        fs::remove_dir_all(&spool).unwrap();
        // Killed after the spool had begun to be removed.
        assert!(matches!(run(place.path(), false, false), Err(Error::Stopped)));
        fs::remove_file(spool.join(CLOUD)).unwrap();
        fs::write(spool.join("letter.txt"), b"dear").unwrap();
        kept(Some("other files"));
        fs::remove_file(spool.join("letter.txt")).unwrap();
        kept(None);
        assert!(clean(&spool).is_err());
    }

    #[test]
    fn folders_of_others_are_refused_as_they_are() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("own");
        let long = [MARK, b"more"].concat();
        let contents: [(&str, &[u8]); 6] = [
            (LOCK, b""),
            (LOCK, b"my own words, longer than a mark"),
            (LOCK, &long),
            (CLOUD, b"x"),
            ("points", b""),
            ("letter.txt", b"dear"),
        ];
        for (name, bytes) in contents {
            fs::create_dir(&path).unwrap();
            fs::write(path.join(name), bytes).unwrap();
            let error = Folder::take(Some(&path), base.path()).err().unwrap().to_string();
            assert!(error.contains(&format!("other files, such as '{name}'")), "{error}");
            let found: Vec<_> =
                fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(
                (found, fs::read(path.join(name)).unwrap()),
                (vec![name.into()], bytes.into())
            );
            fs::remove_dir_all(&path).unwrap();
        }
        fs::create_dir_all(path.join(LOCK)).unwrap();
        assert!(Folder::take(Some(&path), base.path()).is_err() && path.join(LOCK).is_dir());
    }

    #[test]
    fn one_run_a_folder() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("a/b");
        let first = Folder::take(Some(&path), base.path()).unwrap();
        let error = Folder::take(Some(&path), base.path()).err().unwrap().to_string();
        assert!(error.contains("another run works in this folder"), "{error}");
        fs::write(first.file("points"), b"x").unwrap();
        fs::write(first.file(CLOUD), b"x").unwrap();
        drop(first);
        let again = Folder::take(Some(&path), base.path()).unwrap();
        assert!(again.has_spool());
        again.finish();
        assert!(path.is_dir() && fs::read_dir(&path).unwrap().count() == 0);
        let own = Folder::take(None, base.path()).unwrap();
        let place = own.path().to_owned();
        assert!(place.is_dir());
        drop(own);
        assert!(!place.exists());
    }
}
