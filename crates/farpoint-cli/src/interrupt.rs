//! Ctrl-C: stop at once, but never in the middle of a file.
//!
//! Output goes to temporary files that are renamed at the end. While one is being written an
//! interrupt waits for it; a second one does not.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Files being written.
static WRITING: AtomicUsize = AtomicUsize::new(0);
/// Whether an interrupt waits.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the run ends itself when an interrupt comes.
static GENTLE: AtomicBool = AtomicBool::new(false);
/// Folders that an interrupt removes.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Exit status after Ctrl-C, as shells expect it.
const STATUS: i32 = 130;

/// Takes over Ctrl-C. Without it (no signals on this system) the process just ends.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        let waits = GENTLE.load(Ordering::SeqCst) || WRITING.load(Ordering::SeqCst) > 0;
        if again || !waits {
            end();
        }
    });
}

/// Runs `write`, which must leave either the whole file or none; then exits if an
/// interrupt came meanwhile.
pub fn guarded<R>(write: impl FnOnce() -> R) -> R {
    WRITING.fetch_add(1, Ordering::SeqCst);
    let result = write();
    WRITING.fetch_sub(1, Ordering::SeqCst);
    if INTERRUPTED.load(Ordering::SeqCst) && !GENTLE.load(Ordering::SeqCst) {
        end();
    }
    result
}

/// From now on the first interrupt only sets what this returns, for work on several files at a time, which
/// ends at the next file or step; then [`end`] is to be called.
pub(crate) fn gentle() -> &'static AtomicBool {
    GENTLE.store(true, Ordering::SeqCst);
    &INTERRUPTED
}

/// Ends the process as after an interrupt, after removing its folders.
pub(crate) fn end() -> ! {
    for folder in FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = std::fs::remove_dir_all(folder);
    }
    std::process::exit(STATUS)
}

/// A folder that is removed when it is dropped, or when an interrupt ends the process.
pub(crate) struct Temporary(TempDir);

impl Temporary {
    /// A new one in a folder.
    pub(crate) fn new(beside: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(".farpoint-spool-").tempdir_in(beside)?;
        let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        folders.push(folder.path().to_owned());
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        folders.retain(|folder| folder != self.0.path());
    }
}
