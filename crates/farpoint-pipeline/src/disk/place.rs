//! Reading and writing at a place of a file, on several threads at once.

use std::fs::File;
use std::io;

/// Fills `bytes` from byte `at` on.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Writes all `bytes` from byte `at` on.
#[cfg(unix)]
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
mod seeking {
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom, Write};
    use std::sync::{Mutex, PoisonError};

    /// The place is that of the file, whoever moves it.
    static ONE: Mutex<()> = Mutex::new(());

    /// Fills `bytes` from byte `at` on.
    pub(crate) fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(bytes)
    }

    /// Writes all `bytes` from byte `at` on.
    pub(crate) fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }
}
#[cfg(not(unix))]
pub(crate) use seeking::{read_at, write_at};
