//! The source of the bytes of an MCAP file, which can be opened again.

use crate::bytes::load::Readable;
use crate::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes read at a time where few are needed.
const BUFFER: usize = 256 << 10;

/// A file, or bytes in memory.
#[derive(Clone)]
pub(super) enum Source {
    File(PathBuf),
    Bytes(Arc<[u8]>),
}

impl Source {
    pub(super) fn open(&self) -> io::Result<BufReader<Box<dyn Readable>>> {
        let inner: Box<dyn Readable> = match self {
            Source::File(path) => Box::new(File::open(path)?),
            Source::Bytes(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        };
        Ok(BufReader::with_capacity(BUFFER, inner))
    }

    pub(super) fn length(&self) -> io::Result<u64> {
        match self {
            Source::File(path) => Ok(path.metadata()?.len()),
            Source::Bytes(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// A file by its path, which must be that of a regular file: it is read more than once.
    pub(super) fn file(path: &Path, name: &str) -> Result<Source, Error> {
        let fail = |source| Error::Read { name: name.to_owned(), source };
        match path.metadata().map_err(fail)?.is_file() {
            true => Ok(Source::File(path.to_owned())),
            false => Err(Error::UnknownFormat {
                name: name.to_owned(),
                what: "not a regular file, and a bag is read more than once".into(),
                fix: "save it as a file first".into(),
            }),
        }
    }
}
