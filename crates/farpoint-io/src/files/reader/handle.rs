//! Reading bytes at an offset of a file, on several threads at once.

use crate::bytes::load::read_at;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Source of the bytes of a file.
#[derive(Debug)]
pub(super) enum Handle {
    Open(File),
    /// Opened for each part: a process may have few files open. The number is its length in bytes.
    Closed(PathBuf, u64),
    /// Not a single file.
    Elsewhere,
}

impl Handle {
    /// Fills `bytes` from byte `at` on.
    pub(super) fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Self::Open(file) => read_at(file, bytes, at),
            Self::Closed(path, length) => {
                let file = File::open(path)?;
                if file.metadata()?.len() != *length {
                    return Err(io::Error::other("was changed while it was read"));
                }
                read_at(&file, bytes, at)
            }
            Self::Elsewhere => Err(io::Error::other("is not one file")),
        }
    }
}
