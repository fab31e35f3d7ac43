//! Many lists in one file: each grows by extents of one size, so that any number of them takes one
//! file, one handle and a buffer each.

use crate::disk::error::Error;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The extents of a list and its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// Byte offset of each extent in the file; all but the last are full.
    pub(crate) places: Vec<u64>,
    /// Length in bytes.
    pub(crate) length: u64,
}

/// A list that is being written.
#[derive(Default)]
struct List {
    run: Run,
    /// Bytes after the extents.
    buffer: Vec<u8>,
}

/// A file of lists.
pub(crate) struct Extents {
    file: File,
    path: PathBuf,
    /// Bytes of an extent.
    size: usize,
    end: AtomicU64,
    lists: Vec<Mutex<List>>,
}

impl Extents {
    /// Creates a file with `lists` lists, in extents of `size` bytes.
    pub(crate) fn create(path: &Path, lists: usize, size: usize) -> Result<Extents, Error> {
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path).map_err(|source| Error::written(path, source))?;
        let lists = (0..lists).map(|_| Mutex::default()).collect();
        Ok(Extents { file, path: path.to_owned(), size, end: AtomicU64::new(0), lists })
    }

    fn list(&self, list: usize) -> MutexGuard<'_, List> {
        self.lists[list].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds bytes to a list.
    pub(crate) fn append(&self, list: usize, mut bytes: &[u8]) -> Result<(), Error> {
        let mut list = self.list(list);
        list.run.length += bytes.len() as u64;
        while list.buffer.len() + bytes.len() >= self.size {
            let (now, later) = bytes.split_at(self.size - list.buffer.len());
            list.buffer.extend_from_slice(now);
            self.write(&mut list)?;
            bytes = later;
        }
        list.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn write(&self, list: &mut List) -> Result<(), Error> {
        let place = self.end.fetch_add(self.size as u64, Ordering::Relaxed);
        let written = write_at(&self.file, &list.buffer, place);
        written.map_err(|source| Error::written(&self.path, source))?;
        list.run.places.push(place);
        list.buffer.clear();
        Ok(())
    }

    /// Writes the buffers; returns the file, its length, and the lists.
    pub(crate) fn finish(self) -> Result<(File, u64, Vec<Run>), Error> {
        for list in &self.lists {
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            if !list.buffer.is_empty() {
                self.write(&mut list)?;
            }
            list.buffer = Vec::new();
        }
        let lists = self.lists.into_iter();
        let runs = lists.map(|list| list.into_inner().unwrap_or_else(PoisonError::into_inner).run);
        Ok((self.file, self.end.into_inner(), runs.collect()))
    }
}

impl Run {
    /// Calls `each` with the place of every piece of `length` bytes from `at` on, and its range among them.
    pub(crate) fn pieces<E>(
        &self,
        size: usize,
        at: u64,
        length: usize,
        mut each: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut done = 0;
        while done < length {
            let (extent, within) =
                ((at + done as u64) / size as u64, (at + done as u64) % size as u64);
            let piece = (size - within as usize).min(length - done);
            each(self.places[extent as usize] + within, done..done + piece)?;
            done += piece;
        }
        Ok(())
    }

    /// Reads `bytes` from byte `at` of the list on.
    pub(crate) fn read(
        &self,
        file: &File,
        size: usize,
        at: u64,
        bytes: &mut [u8],
    ) -> std::io::Result<()> {
        let length = bytes.len();
        self.pieces(size, at, length, |place, piece| read_at(file, &mut bytes[piece], place))
    }

    /// Writes `bytes` from byte `at` of the list on, all of it within its length.
    pub(crate) fn write(
        &self,
        file: &File,
        size: usize,
        at: u64,
        bytes: &[u8],
    ) -> std::io::Result<()> {
        self.pieces(size, at, bytes.len(), |place, piece| write_at(file, &bytes[piece], place))
    }
}

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

    /// All users of the file share its position.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_grow_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        for size in [1, 7, 64, 1000] {
            let extents = Extents::create(&folder.path().join("lists"), 5, size).unwrap();
            let byte = |list: usize, k: usize| (list * 50 + k % 50) as u8;
            std::thread::scope(|scope| {
                for list in 0..5 {
                    let extents = &extents;
                    scope.spawn(move || {
                        let all: Vec<u8> = (0..list * 100).map(|k| byte(list, k)).collect();
                        all.chunks(13).for_each(|part| extents.append(list, part).unwrap());
                    });
                }
            });
            let (file, end, runs) = extents.finish().unwrap();
            assert!(end % size as u64 == 0);
            for (list, run) in runs.iter().enumerate() {
                assert_eq!(run.length, list as u64 * 100);
                let mut found = vec![0; run.length as usize];
                run.read(&file, size, 0, &mut found).unwrap();
                assert!(found.iter().enumerate().all(|(k, &b)| b == byte(list, k)));
                if list > 0 {
                    run.write(&file, size, 31, &[255; 20]).unwrap();
                    run.read(&file, size, 30, &mut found[..22]).unwrap();
                    assert_eq!(found[0], byte(list, 30));
                    assert!(found[1..21] == [255; 20] && found[21] == byte(list, 51));
                }
            }
        }
    }
}
