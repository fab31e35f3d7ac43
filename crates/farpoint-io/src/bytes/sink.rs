//! Files that are written completely or not at all: to a temporary file next to the destination, which is on
//! the disk before it is renamed, so that an interrupted run or a power failure leaves the old file or none.

use crate::bytes::share::Counter;
use crate::{Error, bytes::temporary};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// A writer with random access: the one type that dependencies write to, so that their code exists once.
pub(crate) trait Target: Write + Seek {}
impl<T: Write + Seek> Target for T {}

/// Message for a file that its permissions protect, though its folder would let it be replaced.
pub(crate) const READ_ONLY: &str = "the file exists and is read-only";

/// Bytes that are written at a time.
const PART: usize = 8 << 20;

/// Target of an output.
pub(crate) enum Sink<'a> {
    /// A file, which is seekable.
    File(&'a mut File),
    /// A pipe or a device, from its start to its end.
    Stream(&'a mut dyn Write),
}

/// Writes the bytes to `path`, completely or not at all.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    put_by(path, |sink| {
        let out: &mut dyn Write = match sink {
            Sink::File(file) => file,
            Sink::Stream(stream) => stream,
        };
        let counter = Counter::of_bytes(bytes.len());
        bytes.chunks(PART).try_for_each(|part| {
            out.write_all(part)?;
            counter.add(part.len());
            Ok(())
        })
    })
}

/// Writes the output of `write` to `path`, completely or not at all.
pub(crate) fn put_by(
    path: &Path,
    write: impl FnOnce(Sink<'_>) -> io::Result<()>,
) -> Result<(), Error> {
    let written = if path == Path::new("-") {
        let mut out = io::stdout().lock();
        write(Sink::Stream(&mut out)).and_then(|()| out.flush())
    } else {
        put_file(path, write)
    };
    written.map_err(|source| Error::Write { name: path.display().to_string(), source })
}

fn put_file(path: &Path, write: impl FnOnce(Sink<'_>) -> io::Result<()>) -> io::Result<()> {
    // A link is followed, so that renaming replaces its target and not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let existing = fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        // A pipe or a device cannot be renamed over.
        return write(Sink::Stream(&mut File::options().write(true).open(&target)?));
    }
    if existing.as_ref().is_some_and(|m| m.permissions().readonly()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, READ_ONLY));
    }
    let (mut file, guard) = temporary::beside(&target)?;
    write(Sink::File(file.as_file_mut()))?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.as_file().sync_all()?;
    guard.persist(file, &target)?;
    sync_folder(&folder_of(&target));
    Ok(())
}

/// Syncs a file's new name in its folder. The file is in its place by now, and not every file system supports this
/// for folders: a refusal is no error.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
