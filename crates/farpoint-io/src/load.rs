//! The bytes of a whole file, read by all threads.
//!
//! Files are not mapped: another process may change one at any time, which is undefined behavior for mapped
//! memory, and one that is cut short meanwhile ends this process. Each thread copies its parts into
//! memory that it is the first to touch, which takes as long as mapped pages do.

use crate::parallel;
use std::fs::File;
use std::io::{self, Read, Seek};

/// What can be read from any place: what dependencies read from, so that their code is there for one type.
pub(crate) trait Readable: Read + Seek + Send {}
impl<T: Read + Seek + Send> Readable for T {}

/// Bytes that a thread reads at a time.
const PART: usize = 2 << 20;

/// Everything in a file that is `length` bytes long, as far as the system knows.
pub(crate) fn whole(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    match usize::try_from(length) {
        Ok(length) if length >= 2 * PART && file.metadata()?.is_file() => parts(file, length),
        // Pipes have no length, and the system makes up some files while they are read.
        _ => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        }
    }
}

#[cfg(unix)]
fn parts(file: &File, length: usize) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    // Zeros that the system gives when they are touched, which a part's thread is first to do.
    let mut bytes = vec![0; length];
    let parts = bytes.chunks_mut(PART).enumerate();
    parallel::try_map(parts, |(k, part)| file.read_exact_at(part, (k * PART) as u64))?;
    Ok(bytes)
}

#[cfg(not(unix))]
fn parts(mut file: &File, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
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
            assert!(whole(&mut file, length as u64).unwrap() == bytes, "{length} bytes");
        }
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(3 * PART as u64).unwrap();
        let error = whole(&mut file, 4 * PART as u64).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
