//! The records of a file, one after another: a byte for the opcode, eight for the length, the content.

use super::{LARGEST, MAGIC, RECOVER};
use crate::bytes::load::Readable;
use crate::error::{ParseError, Place};
use std::io::{BufReader, Read};

/// Bytes in front of each record.
pub(super) const HEAD: usize = 9;

/// The head of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) opcode: u8,
    /// Byte offset of the content.
    pub(super) at: u64,
    /// Length of the content in bytes.
    pub(super) length: u64,
    /// True if the file reaches to the end of the record.
    pub(super) complete: bool,
}

impl Head {
    /// Returns the number of bytes of the content that are in the file.
    pub(super) fn available(&self, end: u64) -> u64 {
        self.length.min(end.saturating_sub(self.at))
    }
}

/// A file, read record by record.
pub(super) struct Frames {
    input: BufReader<Box<dyn Readable>>,
    at: u64,
    end: u64,
}

impl Frames {
    /// Starts at the first record of a file of `end` bytes.
    pub(super) fn new(
        mut input: BufReader<Box<dyn Readable>>,
        end: u64,
    ) -> Result<Frames, ParseError> {
        let mut magic = [0; 8];
        let not_mcap = |_| {
            ParseError::new("not an MCAP file: it does not start with the MCAP magic")
                .at(Place::Byte(0))
        };
        input.read_exact(&mut magic).map_err(not_mcap)?;
        if magic != MAGIC {
            return Err(not_mcap(std::io::ErrorKind::InvalidData.into()));
        }
        Ok(Frames { input, at: magic.len() as u64, end })
    }

    /// Returns the length of the file.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the byte offset of the next record, or of the rest of this one.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Reads the head of the next record; `None` at the end of the records.
    pub(super) fn next(&mut self) -> Result<Option<Head>, ParseError> {
        if self.at + HEAD as u64 > self.end {
            return Ok(None);
        }
        let mut head = [0; HEAD];
        self.fill(&mut head)?;
        let (&opcode, length) = head.split_first().unwrap_or((&0, &[]));
        // No record has the code 0: the file ends here, and was filled up with zeros.
        if opcode == 0 {
            self.at -= HEAD as u64;
            return Ok(None);
        }
        let length = u64::from_le_bytes(length.first_chunk().copied().unwrap_or_default());
        let complete = length <= self.end - self.at;
        Ok(Some(Head { opcode, at: self.at, length, complete }))
    }

    /// Reads the content of the record whose head was read last, as far as the file has it.
    pub(super) fn content(&mut self, head: &Head) -> Result<Vec<u8>, ParseError> {
        let length = head.available(self.end);
        if length > LARGEST as u64 {
            return Err(too_large(length).at(place(head.at)));
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Skips the rest of the record whose head was read last.
    pub(super) fn skip(&mut self, head: &Head) -> Result<(), ParseError> {
        let content_end = head.at + head.available(self.end);
        let offset = i64::try_from(content_end - self.at).unwrap_or(i64::MAX);
        self.input.seek_relative(offset).map_err(|error| read_error(error, self.at))?;
        self.at = content_end;
        Ok(())
    }

    /// Reads some bytes of the content, at most up to `content_end`.
    pub(super) fn read(&mut self, into: &mut [u8], content_end: u64) -> Result<usize, ParseError> {
        let remaining = content_end.min(self.end).saturating_sub(self.at);
        let count = into.len().min(usize::try_from(remaining).unwrap_or(usize::MAX));
        let count =
            self.input.read(&mut into[..count]).map_err(|error| read_error(error, self.at))?;
        self.at += count as u64;
        Ok(count)
    }

    fn fill(&mut self, into: &mut [u8]) -> Result<(), ParseError> {
        self.input.read_exact(into).map_err(|error| read_error(error, self.at))?;
        self.at += into.len() as u64;
        Ok(())
    }
}

pub(super) fn too_large(length: u64) -> ParseError {
    let what = format!("a record of {length} bytes, more than the limit of {LARGEST}");
    ParseError::new(what).fix("the file is damaged, or the message is not a sensor's")
}

/// A system error while the file was read.
fn read_error(error: std::io::Error, at: u64) -> ParseError {
    ParseError::unread(&error).at(place(at))
}

pub(super) fn place(at: u64) -> Place {
    Place::Byte(usize::try_from(at).unwrap_or(usize::MAX))
}

/// A file that breaks the format's rules.
pub(super) fn damaged(what: impl Into<String>) -> ParseError {
    ParseError::new(what).fix(RECOVER)
}
