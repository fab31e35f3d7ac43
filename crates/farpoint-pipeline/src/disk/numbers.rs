//! Files of numbers that are whole or not there: a first line, numbers of 8 bytes, and a checksum.

use crate::disk::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Appends numbers.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Creates a file with this first line.
    pub(crate) fn new(first: &[u8]) -> Writer {
        Writer(first.to_vec())
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn real(&mut self, number: f64) {
        self.number(number.to_bits());
    }

    pub(crate) fn list<T: Copy>(&mut self, list: &[T], number: impl Fn(T) -> u64) {
        self.number(list.len() as u64);
        list.iter().for_each(|&item| self.number(number(item)));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.bytes());
    }

    /// Returns the bytes with their checksum.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let check = crc32fast::hash(&self.0);
        self.0.extend(check.to_le_bytes());
        self.0
    }
}

/// Reads numbers; `None` at the end of the bytes.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Begins after the first line; `None` if that is another one, or the checksum.
    pub(crate) fn new(bytes: &'a [u8], first: &[u8]) -> Option<Reader<'a>> {
        let (content, check) = bytes.split_last_chunk()?;
        let right = crc32fast::hash(content) == u32::from_le_bytes(*check);
        right.then(|| content.strip_prefix(first).map(Reader))?
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    pub(crate) fn real(&mut self) -> Option<f64> {
        self.number().map(f64::from_bits)
    }

    pub(crate) fn three(&mut self) -> Option<[f64; 3]> {
        Some([self.real()?, self.real()?, self.real()?])
    }

    /// Reads the length of a list whose items take 8 bytes at least.
    pub(crate) fn length(&mut self) -> Option<usize> {
        let length = self.number()?;
        usize::try_from(length).ok().filter(|&n| n <= self.0.len() / 8)
    }

    pub(crate) fn list<T>(&mut self, number: impl Fn(u64) -> Option<T>) -> Option<Vec<T>> {
        let length = self.length()?;
        (0..length).map(|_| number(self.number()?)).collect()
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

/// Writes a file, whole or not at all; `new` is its name until then.
pub(crate) fn save(bytes: &[u8], path: &Path, new: &Path) -> Result<(), Error> {
    let written = || {
        let mut file = File::create(new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(new, path)
    };
    written().map_err(|source| Error::written(path, source))
}

/// Reads a file; `None` if there is none.
pub(crate) fn load<T>(
    path: &Path,
    decode: impl FnOnce(&[u8]) -> Option<T>,
) -> Result<Option<T>, Error> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::read(path, source)),
    };
    let invalid = || Error::unusable(path, "is not the description of a spool", START_AGAIN);
    decode(&bytes).map(Some).ok_or_else(invalid)
}

pub(crate) const START_AGAIN: &str = "delete the folder and start again without `resume`";
