//! Encoding of messages and log records: numbers in little endian, with a checksum at the end.

use crate::{Bound, Corners, Entry, Error, Key};
use farpoint::Scalar;
use farpoint::backend::memory;

/// An encoded message.
pub type Bytes = Vec<u8>;

/// First bytes of each message: a name and a version.
const MAGIC: [u8; 4] = *b"fpt1";

/// Size of a checksum in bytes.
const CHECK: usize = 8;

/// Writes one message or record.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Begins a message of kind `kind`.
    pub(crate) fn new(kind: u8) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.push(kind);
        Self(bytes)
    }

    pub(crate) fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(crate) fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn key(mut self, key: Key) -> Self {
        self.0.extend_from_slice(&key.bits().to_le_bytes());
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        let mut writer = self.u64(text.len() as u64);
        writer.0.extend_from_slice(text.as_bytes());
        writer
    }

    /// Writes a number of the run's precision.
    pub(crate) fn number<T: Scalar>(mut self, value: T) -> Self {
        self.push_number(value);
        self
    }

    fn push_number<T: Scalar>(&mut self, value: T) {
        match size_of::<T>() {
            4 => self.0.extend_from_slice(&(value.to_f64() as f32).to_le_bytes()),
            _ => self.0.extend_from_slice(&value.to_f64().to_le_bytes()),
        }
    }

    pub(crate) fn entries<T: Scalar>(self, entries: &[Entry<T>]) -> Self {
        let mut writer = self.u64(entries.len() as u64);
        writer.0.reserve(entries.len() * (12 + 4 * size_of::<T>()) + CHECK);
        for entry in entries {
            writer.0.extend_from_slice(&entry.index.to_le_bytes());
            writer.0.extend_from_slice(&entry.tile.to_le_bytes());
            entry.at.iter().chain([&entry.value]).for_each(|&x| writer.push_number(x));
        }
        writer
    }

    pub(crate) fn corners<T: Scalar>(mut self, corners: &Corners<T>) -> Self {
        corners.low.iter().chain(&corners.high).for_each(|&x| self.push_number(x));
        self
    }

    pub(crate) fn bounds<T: Scalar>(self, bounds: &[Bound<T>]) -> Self {
        let mut writer = self.u64(bounds.len() as u64);
        writer.0.reserve(bounds.len() * 7 * size_of::<T>() + CHECK);
        bounds
            .iter()
            .fold(writer, |writer, bound| writer.corners(&bound.corners).number(bound.largest))
    }

    /// Ends the message.
    pub(crate) fn end(mut self) -> Vec<u8> {
        let check = checksum(&self.0);
        self.0.extend_from_slice(&check.to_le_bytes());
        self.0
    }
}

/// Reads one message or record. Lengths are checked before memory is reserved.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Checks magic bytes and checksum; also returns the kind.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Result<(u8, Self), Error> {
        let error = |at, why| Error::Encoding { what, at, len: bytes.len(), why };
        if bytes.len() < MAGIC.len() + 1 + CHECK {
            return Err(error(0, "too short"));
        }
        if bytes[..4] != MAGIC {
            return Err(error(0, "it does not start with fpt1"));
        }
        let (body, check) = bytes.split_at(bytes.len() - CHECK);
        if checksum(body).to_le_bytes() != check {
            return Err(error(body.len(), "checksum mismatch: it was truncated or changed"));
        }
        Ok((body[4], Self { bytes: body, at: 5, what }))
    }

    /// Error at the current offset.
    pub(crate) fn error(&self, why: &'static str) -> Error {
        Error::Encoding { what: self.what, at: self.at, len: self.bytes.len(), why }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let found = self.bytes[self.at..].first_chunk().copied();
        let found = found.ok_or_else(|| self.error("unexpected end"))?;
        self.at += N;
        Ok(found)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.take::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn key(&mut self) -> Result<Key, Error> {
        self.take().map(|bytes| Key::from_bits(u128::from_le_bytes(bytes)))
    }

    /// Reads the length of a list with elements of `size` bytes, and checks that they are present.
    pub(crate) fn count(&mut self, size: usize) -> Result<usize, Error> {
        let count = self.u64()?;
        let capacity = (self.bytes.len() - self.at) / size;
        if count > capacity as u64 {
            return Err(self.error("a length exceeds the message"));
        }
        Ok(count as usize)
    }

    pub(crate) fn text(&mut self) -> Result<String, Error> {
        let len = self.count(1)?;
        let text = String::from_utf8_lossy(&self.bytes[self.at..self.at + len]).into_owned();
        self.at += len;
        Ok(text)
    }

    /// Reads a coordinate or a squared distance, which must not be NaN.
    pub(crate) fn number<T: Scalar>(&mut self) -> Result<T, Error> {
        let value = match size_of::<T>() {
            4 => T::from_f64(f64::from(f32::from_le_bytes(self.take()?))),
            _ => T::from_f64(f64::from_le_bytes(self.take()?)),
        };
        if value.partial_cmp(&value).is_none() {
            return Err(self.error("it contains NaN"));
        }
        Ok(value)
    }

    /// Reads a squared distance.
    fn value<T: Scalar>(&mut self) -> Result<T, Error> {
        let value = self.number()?;
        if value < T::ZERO { Err(self.error("a squared distance is negative")) } else { Ok(value) }
    }

    fn point<T: Scalar>(&mut self) -> Result<[T; 3], Error> {
        Ok([self.number()?, self.number()?, self.number()?])
    }

    pub(crate) fn entries<T: Scalar>(&mut self) -> Result<Vec<Entry<T>>, Error> {
        let count = self.count(12 + 4 * size_of::<T>())?;
        let mut entries = memory::with_capacity(count);
        for _ in 0..count {
            let (index, tile) = (self.u64()?, self.u32()?);
            entries.push(Entry { at: self.point()?, value: self.value()?, index, tile });
        }
        Ok(entries)
    }

    pub(crate) fn corners<T: Scalar>(&mut self) -> Result<Corners<T>, Error> {
        Ok(Corners { low: self.point()?, high: self.point()? })
    }

    pub(crate) fn bounds<T: Scalar>(&mut self) -> Result<Vec<Bound<T>>, Error> {
        let count = self.count(7 * size_of::<T>())?;
        let mut bounds = Vec::with_capacity(count);
        for _ in 0..count {
            bounds.push(Bound { corners: self.corners()?, largest: self.value()? });
        }
        Ok(bounds)
    }

    /// Checks that everything was read.
    pub(crate) fn end(self) -> Result<(), Error> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.error("trailing bytes")) }
    }
}

/// Detects truncated and changed bytes, but not deliberate changes.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| {
        let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ (sum >> 29)
    };
    let words = bytes.chunks_exact(8);
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
    let sum = words.fold(bytes.len() as u64, |sum, chunk| step(sum, word(chunk)));
    step(sum, u64::from_le_bytes(last))
}
