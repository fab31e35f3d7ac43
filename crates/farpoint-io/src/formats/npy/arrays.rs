//! Writing NPZ: arrays of numbers one after the other, not compressed, as `numpy.savez` writes them.

use crate::bytes::sink::{Sink, Target};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, result::ZipResult};

/// Number of values buffered before they are written.
const PIECE: usize = 8192;
/// Bytes from which an entry of an archive needs the larger fields of zip64. The limit is 4 GiB, and
/// a header comes before the values.
const LARGE: usize = (u32::MAX - 65_536) as usize;

/// An array for [`crate::write_arrays`].
#[derive(Clone, Copy)]
pub struct Array<'a> {
    /// Its name in the archive.
    pub name: &'a str,
    /// Its shape; the last axis is contiguous.
    pub shape: &'a [usize],
    /// The values, as many as the shape has.
    pub values: Values<'a>,
}

/// The values of an [`Array`].
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Values<'a> {
    /// float32.
    F32(&'a [f32]),
    /// float64.
    F64(&'a [f64]),
    /// int64, computed from the index while it is written, so that no copy of all is made.
    I64(&'a dyn Fn(usize) -> i64),
}

impl Array<'_> {
    /// Returns the number of values of the shape.
    fn places(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |all, axis| all.checked_mul(*axis))
    }

    /// Describes a mismatch of shape and values.
    pub(crate) fn mismatch(&self) -> Option<String> {
        let count = match self.values {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::I64(_) => return None,
        };
        let Self { name, shape, .. } = self;
        (self.places() != Some(count))
            .then(|| format!("the array '{name}' of shape {shape:?} has {count} values"))
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let places = self.places().unwrap_or(0);
        let (code, _) = self.kind();
        out.write_all(&super::write::header(&format!("'{code}'"), self.shape))?;
        match self.values {
            Values::F32(values) => put(out, places, |place| values[place].to_le_bytes()),
            Values::F64(values) => put(out, places, |place| values[place].to_le_bytes()),
            Values::I64(at) => put(out, places, |place| at(place).to_le_bytes()),
        }
    }

    /// Returns NumPy's name of the type, and its bytes.
    fn kind(&self) -> (&'static str, usize) {
        match self.values {
            Values::F32(_) => ("<f4", 4),
            Values::F64(_) => ("<f8", 8),
            Values::I64(_) => ("<i8", 8),
        }
    }

    fn is_large(&self, large: usize) -> bool {
        self.places()
            .and_then(|places| places.checked_mul(self.kind().1))
            .is_none_or(|bytes| bytes >= large)
    }
}

/// Writes values piece by piece.
fn put<const N: usize>(
    out: &mut impl Write,
    values: usize,
    bytes: impl Fn(usize) -> [u8; N],
) -> io::Result<()> {
    let mut piece = Vec::with_capacity(PIECE.min(values) * N);
    for first in (0..values).step_by(PIECE) {
        piece.clear();
        (first..values.min(first + PIECE)).for_each(|place| piece.extend(bytes(place)));
        out.write_all(&piece)?;
    }
    Ok(())
}

/// Writes the archive.
pub(crate) fn write_archive(sink: Sink<'_>, arrays: &[Array<'_>]) -> io::Result<()> {
    match sink {
        Sink::File(file) => {
            archive(ZipWriter::new(Failing::new(file as &mut dyn Target)), arrays, LARGE)?
        }
        Sink::Stream(stream) => {
            let stream = Failing::new(BufWriter::new(stream));
            archive(ZipWriter::new_stream(stream), arrays, LARGE)?
        }
    }
    Ok(())
}

/// An output that accepts anything after its first error: the archive finishes itself when it is dropped, and would
/// print that this fails too.
struct Failing<W> {
    inner: W,
    failed: bool,
    /// Position that the output would have.
    at: u64,
}

impl<W> Failing<W> {
    fn new(inner: W) -> Failing<W> {
        Failing { inner, failed: false, at: 0 }
    }

    fn checked<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.inspect_err(|error| self.failed |= error.kind() != io::ErrorKind::Interrupted)
    }
}

impl<W: Write> Write for Failing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.failed { Ok(bytes.len()) } else { self.inner.write(bytes) };
        self.at += *written.as_ref().unwrap_or(&0) as u64;
        self.checked(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = if self.failed { Ok(()) } else { self.inner.flush() };
        self.checked(flushed)
    }
}

impl<W: Seek> Seek for Failing<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            _ if !self.failed => self.inner.seek(to),
            SeekFrom::Start(at) => Ok(at),
            SeekFrom::Current(by) | SeekFrom::End(by) => Ok(self.at.saturating_add_signed(by)),
        };
        self.at = *at.as_ref().unwrap_or(&self.at);
        self.checked(at)
    }
}

/// Arrays of `large` bytes and more get the larger fields of zip64.
fn archive<W: Write + Seek>(
    mut archive: ZipWriter<W>,
    arrays: &[Array<'_>],
    large: usize,
) -> ZipResult<()> {
    // Without a date the bytes are the same from run to run.
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for array in arrays {
        archive
            .start_file(format!("{}.npy", array.name), options.large_file(array.is_large(large)))?;
        array.write(&mut archive)?;
    }
    archive.finish()?.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Read};
    use zip::ZipArchive;

    fn unpacked(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
        let entries = archive.len();
        let mut entry = |k| {
            let mut file = archive.by_index(k).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            (file.name().unwrap().into_owned(), bytes)
        };
        (0..entries).map(&mut entry).collect()
    }

    #[test]
    fn arrays_come_back_from_files_and_streams() {
        let distances: Vec<f32> = (0..20_000).map(|k| k as f32 / 3.0).collect();
        let rows = |place: usize| place as i64 - 1;
        let arrays = [
            Array { name: "distances", shape: &[10_000, 2], values: Values::F32(&distances) },
            Array { name: "none", shape: &[0, 4], values: Values::F64(&[]) },
            Array { name: "rows", shape: &[3], values: Values::I64(&rows) },
        ];
        let mut stream = Vec::new();
        write_archive(Sink::Stream(&mut stream), &arrays).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        write_archive(Sink::File(&mut file), &arrays).unwrap();
        let mut written = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut written).unwrap();
        let found = unpacked(&written);
        assert_eq!(found, unpacked(&stream));
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["distances.npy", "none.npy", "rows.npy"]);
        let head = |k: usize| super::super::parse(&found[k].1).unwrap();
        assert_eq!((head(0).shape, head(1).shape), (vec![10_000, 2], vec![0, 4]));
        let values: Vec<u8> = distances.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert!(found[0].1[head(0).start..] == values);
        let rows: Vec<u8> = [-1i64, 0, 1].iter().flat_map(|row| row.to_le_bytes()).collect();
        assert_eq!(found[2].1[head(2).start..], rows);
    }

    #[test]
    fn values_that_do_not_fill_a_shape_are_reported() {
        let values = [1.0; 5];
        let array = |shape| Array { name: "a", shape, values: Values::F64(&values) };
        assert_eq!(array(&[5, 1]).mismatch(), None);
        let mismatch = array(&[2, 3]).mismatch().unwrap();
        assert_eq!(mismatch, "the array 'a' of shape [2, 3] has 5 values");
        assert!(array(&[usize::MAX, 2]).mismatch().is_some());
    }

    #[test]
    fn entries_beyond_four_gibibytes_are_marked() {
        let at = |_: usize| 0;
        let array = |places: usize| {
            Array { name: "a", shape: &[places], values: Values::I64(&at) }.is_large(LARGE)
        };
        assert!(!array(500_000_000) && array(540_000_000) && array(usize::MAX));
    }

    /// A file whose first [`BEFORE`](Self::BEFORE) bytes are zeros that take no memory.
    struct Sparse {
        at: u64,
        bytes: Vec<u8>,
    }

    impl Sparse {
        const BEFORE: u64 = 5 << 30;
    }

    impl Write for Sparse {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let at = self.at.checked_sub(Self::BEFORE).ok_or(io::Error::other("zeros stay"))?;
            let at = usize::try_from(at).map_err(io::Error::other)?;
            self.bytes.resize(self.bytes.len().max(at + bytes.len()), 0);
            self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
            self.at += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Read for Sparse {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let size = match usize::try_from(Self::BEFORE.saturating_sub(self.at)) {
                Ok(0) => {
                    let rest = &self.bytes[(self.at - Self::BEFORE) as usize..];
                    let size = out.len().min(rest.len());
                    out[..size].copy_from_slice(&rest[..size]);
                    size
                }
                zeros => {
                    let size = out.len().min(zeros.unwrap_or(usize::MAX));
                    out[..size].fill(0);
                    size
                }
            };
            self.at += size as u64;
            Ok(size)
        }
    }

    impl Seek for Sparse {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            let end = Self::BEFORE + self.bytes.len() as u64;
            let to = match to {
                SeekFrom::Start(at) => Some(at),
                SeekFrom::Current(by) => self.at.checked_add_signed(by),
                SeekFrom::End(by) => end.checked_add_signed(by),
            };
            let to = to.filter(|&at| at <= end).ok_or(io::Error::from(io::ErrorKind::InvalidInput));
            to.inspect(|&at| self.at = at)
        }
    }

    /// Archives of more than 4 GiB have larger fields for sizes and for offsets.
    #[test]
    fn entries_are_found_beyond_four_gibibytes() {
        let rows = |place: usize| place as i64;
        let arrays =
            ["first", "last"].map(|name| Array { name, shape: &[3], values: Values::I64(&rows) });
        let mut file = Sparse { at: Sparse::BEFORE, bytes: Vec::new() };
        archive(ZipWriter::new(&mut file), &arrays, 0).unwrap();
        let mut plain = Cursor::new(Vec::new());
        archive(ZipWriter::new(&mut plain), &arrays, usize::MAX).unwrap();
        let plain = plain.into_inner();
        // The field of zip64 follows the name of the first entry.
        let after = 30 + "first.npy".len();
        assert_eq!(file.bytes[after..after + 2], [1, 0]);
        assert_eq!(plain[after..after + 2], *b"\x93N");
        let mut found = ZipArchive::new(file).unwrap();
        for (name, bytes) in unpacked(&plain) {
            let mut entry = found.by_name(&name).unwrap();
            assert!(entry.header_start() >= Sparse::BEFORE);
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            assert_eq!(content, bytes);
        }
    }
}
