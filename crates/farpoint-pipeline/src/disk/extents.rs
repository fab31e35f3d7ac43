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
    /// Bytes after the full extents.
    buffer: Vec<u8>,
    /// True if the last extent of the run is the one for these bytes.
    begun: bool,
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
        Extents::open(path, size, 0, vec![Run::default(); lists])
    }

    /// Opens a file that ends at `end`, to append to its lists.
    pub(crate) fn open(
        path: &Path,
        size: usize,
        end: u64,
        runs: Vec<Run>,
    ) -> Result<Extents, Error> {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let file = file.and_then(|file| file.set_len(end).map(|()| file));
        let file = file.map_err(|source| Error::written(path, source))?;
        let list = |run: Run| {
            let last = (run.length % size as u64) as usize;
            let mut buffer = vec![0; last];
            run.read(&file, size, run.length - last as u64, &mut buffer)?;
            Ok(Mutex::new(List { begun: last > 0, run, buffer }))
        };
        let lists: io::Result<_> = runs.into_iter().map(list).collect();
        let lists = lists.map_err(|source| Error::read(path, source))?;
        Ok(Extents { file, path: path.to_owned(), size, end: AtomicU64::new(end), lists })
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
            list.buffer.clear();
            list.begun = false;
            bytes = later;
        }
        list.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes the bytes after the full extents to an extent of their own.
    fn write(&self, list: &mut List) -> Result<(), Error> {
        if !list.begun {
            list.run.places.push(self.end.fetch_add(self.size as u64, Ordering::Relaxed));
            list.begun = true;
        }
        let place = list.run.places.last().copied().unwrap_or_default();
        let written = write_at(&self.file, &list.buffer, place);
        written.map_err(|source| Error::written(&self.path, source))
    }

    /// Writes all bytes; returns the length of the file, and the lists.
    fn flush(&self) -> Result<(u64, Vec<Run>), Error> {
        let run = |list: &Mutex<List>| {
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            if !list.buffer.is_empty() {
                self.write(&mut list)?;
            }
            Ok(list.run.clone())
        };
        let runs = self.lists.iter().map(run).collect::<Result<_, Error>>()?;
        Ok((self.end.load(Ordering::Relaxed), runs))
    }

    /// Writes all bytes, so that they survive a loss of power; returns the length of the file, and the lists.
    pub(crate) fn sync(&self) -> Result<(u64, Vec<Run>), Error> {
        let flushed = self.flush()?;
        self.file.sync_data().map_err(|source| Error::written(&self.path, source))?;
        Ok(flushed)
    }

    /// Writes all bytes; returns the file, its length, and the lists.
    pub(crate) fn finish(self) -> Result<(File, u64, Vec<Run>), Error> {
        let (end, runs) = self.flush()?;
        Ok((self.file, end, runs))
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
        let path = folder.path().join("lists");
        for size in [1, 7, 64, 1000] {
            let extents = Extents::create(&path, 5, size).unwrap();
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
            // Written in between, and by two processes.
            let (end, runs) = extents.sync().unwrap();
            extents.append(1, &[9; 100]).unwrap();
            drop(extents);
            let extents = Extents::open(&path, size, end, runs).unwrap();
            let more = |list: usize| (list * 100..list * 130).map(move |k| byte(list, k));
            for list in 0..5 {
                extents.append(list, &more(list).collect::<Vec<u8>>()).unwrap();
            }
            let (file, end, runs) = extents.finish().unwrap();
            assert!(end % size as u64 == 0);
            for (list, run) in runs.iter().enumerate() {
                assert_eq!(run.length, list as u64 * 130);
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
