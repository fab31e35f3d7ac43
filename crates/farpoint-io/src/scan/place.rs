//! Reading bytes at a place of a file, on several threads at once.

use std::fs::File;
use std::io;

/// Fills `bytes` from byte `at` on.
#[cfg(unix)]
pub(super) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Fills `bytes` from byte `at` on.
#[cfg(not(unix))]
pub(super) fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    use std::sync::{Mutex, PoisonError};
    // The place is that of the file, whoever moves it.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}
