//! The bytes of a whole file, read by all threads.
//!
//! Files are not mapped: another process may change one at any time, which is undefined behavior for mapped
//! memory, and one that is truncated meanwhile ends this process. Each thread copies its parts into
//! memory that it is the first to touch, which takes as long as mapped pages do.

use crate::bytes::share::Counter;
use crate::error::{Error, ParseError};
use crate::{bytes::memory, bytes::parallel};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};

/// A reader with random access: the one type that dependencies read from, so that their code exists once.
pub(crate) trait Readable: Read + Seek + Send {}
impl<T: Read + Seek + Send> Readable for T {}

/// Bytes that a thread reads at a time.
const PART: usize = 2 << 20;

/// Bytes of a stream between two checks of the free memory.
const STEP: u64 = 64 << 20;

/// Finds what is wrong with the first bytes of a stream, so that no more of them are read.
pub(crate) type Check<'a> = &'a dyn Fn(&[u8]) -> Result<(), Error>;

/// Reads a whole file of `length` bytes, as far as the system knows; `name` is for messages.
pub(crate) fn read_all(
    file: &mut File,
    length: u64,
    name: &str,
    check: Check<'_>,
) -> Result<Vec<u8>, Error> {
    let info = file.metadata();
    if info.as_ref().is_ok_and(is_device) {
        return Err(Error::UnknownFormat {
            name: name.to_owned(),
            what: "this is a device, whose bytes may have no end".into(),
            fix: "pass a file, or a pipe that ends".into(),
        });
    }
    match usize::try_from(length) {
        Ok(length) if length >= 2 * PART && info.is_ok_and(|info| info.is_file()) => {
            parts(file, length).map_err(|source| Error::Read { name: name.to_owned(), source })
        }
        // Pipes have no length, and the system makes up some files while they are read.
        _ => stream(file, name, check),
    }
}

#[cfg(unix)]
fn is_device(info: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    info.file_type().is_char_device() || info.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

/// Reads a whole stream, which may have no end.
///
/// # Errors
/// If it cannot be read, takes more memory than is free, or if `check` refuses its first 64 MiB.
pub(crate) fn stream(input: &mut dyn Read, name: &str, check: Check<'_>) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        let read = Read::take(&mut *input, STEP).read_to_end(&mut bytes);
        read.map_err(|source| Error::Read { name: name.to_owned(), source })?;
        if bytes.len() == before {
            return Ok(bytes);
        }
        if before == 0 && bytes.len() as u64 == STEP {
            check(&bytes)?;
        }
        // A vector that grows is moved to twice its size.
        memory::require(name, bytes.len() as u64)?;
    }
}

#[cfg(unix)]
fn parts(file: &File, length: usize) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    // The system zeroes pages when they are touched, first by the thread of each part.
    let mut bytes = vec![0; length];
    let (parts, counter) = (bytes.chunks_mut(PART).enumerate(), Counter::of_bytes(length));
    parallel::try_map(parts, |(k, part)| {
        counter.add(part.len());
        file.read_exact_at(part, (k * PART) as u64)
    })?;
    Ok(bytes)
}

#[cfg(not(unix))]
fn parts(mut file: &File, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Fills `bytes` from byte `at` on.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Fills `bytes` from byte `at` on.
#[cfg(not(unix))]
pub(crate) fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::sync::{Mutex, PoisonError};
    // All users of the file share its position.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// Reads at most `length` bytes from an offset on.
pub(crate) fn part(source: &mut dyn Readable, at: u64, length: u64) -> Result<Vec<u8>, ParseError> {
    let mut bytes = Vec::new();
    let read =
        source.seek(SeekFrom::Start(at)).and_then(|_| source.take(length).read_to_end(&mut bytes));
    read.map_err(|error| {
        ParseError::new(format!("cannot be read: {error}")).fix("check the disk")
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn files_of_any_length() {
        for length in [0, 1, 2 * PART - 1, 2 * PART, 5 * PART + 3] {
            let bytes: Vec<u8> = (0..length).map(|k| ((k / 7) ^ (k >> 13)) as u8).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            file.rewind().unwrap();
            assert!(
                read_all(&mut file, length as u64, "a", &|_| Ok(())).unwrap() == bytes,
                "{length} bytes"
            );
        }
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(3 * PART as u64).unwrap();
        let error = read_all(&mut file, 4 * PART as u64, "a.laz", &|_| Ok(())).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("a.laz: became shorter while it was read"), "{error}");
    }

    #[test]
    fn a_stream_is_read_to_its_end() {
        for length in [0, 1, 5 << 20, STEP + 1] {
            let bytes = stream(&mut io::repeat(7).take(length), "standard input", &|_| Ok(()));
            let bytes = bytes.unwrap();
            assert!(bytes.len() as u64 == length && bytes.iter().all(|&b| b == 7), "{length}");
        }
    }

    #[test]
    fn a_stream_without_end_ends_where_its_start_is_refused() {
        let refuse = |start: &[u8]| Err(Error::RowOutOfRange { row: start.len(), len: 0 });
        let error = stream(&mut io::repeat(7), "standard input", &refuse).unwrap_err();
        assert!(matches!(error, Error::RowOutOfRange { row, .. } if row as u64 == STEP), "{error}");
    }
}
