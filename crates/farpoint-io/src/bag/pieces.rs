//! A file as pieces in order, each of which can be worked on alone: chunks that are not too large, and records.

use super::MAGIC;
use super::frames::{Frames, HEAD, Head, damaged, place};
use super::source::Source;
use super::unpack::{CHUNK_HEAD, ChunkHead, Each, Unpacker};
use crate::error::ParseError;
use mcap::records::op;
use std::io::{self, Read, Seek, SeekFrom};

/// Larger chunks are unpacked while they are read, record by record.
const LARGEST_PACKED: u64 = 24 << 20;
const LARGEST_CHUNK: u64 = 32 << 20;

/// A unit that can be worked on alone.
#[derive(Debug)]
pub(super) enum Piece {
    /// The content of a chunk of `length` bytes, as far as the file has it.
    Chunk { content: Vec<u8>, at: u64, length: u64, chunk_head: ChunkHead, complete: bool },
    /// A record, of a chunk or not.
    Record { opcode: u8, content: Vec<u8>, chunked: bool },
    /// Position and length of an attachment, which may be larger than memory.
    Attachment { at: u64, length: u64 },
}

impl Piece {
    /// Approximate memory that it takes while in work: the reader's unpacked chunk besides itself.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Piece::Chunk { content, chunk_head, .. } => {
                content.len() as u64 + chunk_head.uncompressed
            }
            Piece::Record { content, .. } => 2 * content.len() as u64,
            Piece::Attachment { .. } => HEAD as u64,
        }
    }
}

/// End of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// At the end of the data.
    Complete,
    /// Before the end of the data; the text is a warning with the place.
    Truncated(String),
}

/// True to continue.
pub(super) type Go = bool;

/// Calls `each` with every piece of the data, in order, until it returns false. The data ends where the summary
/// starts.
pub(super) fn each_piece(
    source: &Source,
    each: &mut dyn FnMut(Piece) -> Result<Go, ParseError>,
) -> Result<End, ParseError> {
    let mut frames = open(source)?;
    let (mut unpacker, mut last) = (None, 0);
    loop {
        let Some(head) = frames.next()? else {
            let at = frames.at();
            return match ends(source) {
                true => Err(wrong_length(last)),
                false => Ok(End::Truncated(format!("ends at byte {at} without the closing magic"))),
            };
        };
        if !head.complete && ends(source) {
            return Err(wrong_length(head.at));
        }
        last = head.at;
        let go = match head.opcode {
            op::DATA_END | op::FOOTER => return Ok(End::Complete),
            op::CHUNK => chunk(&mut frames, &head, &mut unpacker, each)?,
            _ if !head.complete => false,
            op::ATTACHMENT => each(Piece::Attachment { at: head.at, length: head.length })?,
            op::MESSAGE_INDEX | op::HEADER => true,
            opcode => {
                let content = frames.content(&head)?;
                each(Piece::Record { opcode, content, chunked: false })?
            }
        };
        if !head.complete {
            let missing = head.length - head.available(frames.end());
            return Ok(End::Truncated(format!(
                "is truncated: {missing} bytes of the record at byte {} are missing",
                head.at
            )));
        }
        if !go {
            return Ok(End::Complete);
        }
        frames.skip(&head)?;
    }
}

/// Error for a record that reaches beyond the end of a whole file.
fn wrong_length(at: u64) -> ParseError {
    damaged("the length of this record, or of one before it, is wrong").at(place(at))
}

/// Returns whether the file ends with the magic bytes.
pub(super) fn ends(source: &Source) -> bool {
    let mut last = [0; MAGIC.len()];
    let mut read = || -> io::Result<()> {
        let mut input = source.open()?;
        input.seek(SeekFrom::End(-(last.len() as i64)))?;
        input.read_exact(&mut last)
    };
    let long = source.length().is_ok_and(|length| length >= 2 * MAGIC.len() as u64);
    long && read().is_ok() && last == MAGIC
}

/// The records of the file, from the first.
pub(super) fn open(source: &Source) -> Result<Frames, ParseError> {
    let read_error = |error: io::Error| ParseError::unread(&error);
    Frames::new(source.open().map_err(read_error)?, source.length().map_err(read_error)?)
}

/// Passes on one chunk whole, or its records.
fn chunk(
    frames: &mut Frames,
    head: &Head,
    unpacker: &mut Option<Unpacker>,
    each: &mut dyn FnMut(Piece) -> Result<Go, ParseError>,
) -> Result<Go, ParseError> {
    let available = head.available(frames.end());
    let mut start = vec![0; available.min(CHUNK_HEAD as u64) as usize];
    let content_end = head.at + available;
    fill(frames, &mut start, content_end)?;
    let Some(chunk_head) = ChunkHead::parse(&start) else {
        return match head.complete {
            true => Err(damaged("a chunk ends within its head").at(place(head.at))),
            false => Ok(false),
        };
    };
    if available <= LARGEST_PACKED && chunk_head.uncompressed <= LARGEST_CHUNK {
        let mut content = start;
        let read = content.len();
        content.resize(available as usize, 0);
        fill(frames, &mut content[read..], content_end)?;
        let Head { at, length, complete, .. } = *head;
        return each(Piece::Chunk { content, at, length, chunk_head, complete });
    }
    let unpacker = unpacker.get_or_insert_with(Unpacker::new);
    let mut rest = Rest { start: &start, frames, content_end };
    let mut go = true;
    let place = (head.at, head.length, head.complete);
    unpacker.chunk(&mut rest, place, &chunk_head, &mut |opcode, data| {
        if go && opcode != op::MESSAGE_INDEX {
            go = each(Piece::Record { opcode, content: data.to_vec(), chunked: true })?;
        }
        Ok(())
    })?;
    Ok(go)
}

fn fill(frames: &mut Frames, mut into: &mut [u8], content_end: u64) -> Result<(), ParseError> {
    while !into.is_empty() {
        let read = frames.read(into, content_end)?;
        if read == 0 {
            return Err(damaged("the file became shorter while it was read"));
        }
        into = &mut into[read..];
    }
    Ok(())
}

/// The content of a chunk whose first bytes are read already.
struct Rest<'a> {
    start: &'a [u8],
    frames: &'a mut Frames,
    content_end: u64,
}

impl Read for Rest<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.start.is_empty() {
            return self.start.read(into);
        }
        let content_end = self.content_end;
        self.frames.read(into, content_end).map_err(|error| io::Error::other(error.what))
    }
}

/// Calls `each` with the records of a piece; an attachment has none.
pub(super) fn each_record(
    piece: &Piece,
    unpacker: &mut Unpacker,
    each: Each<'_>,
) -> Result<(), ParseError> {
    match piece {
        Piece::Chunk { content, at, length, chunk_head, complete } => {
            unpacker.chunk(&mut &content[..], (*at, *length, *complete), chunk_head, each)
        }
        Piece::Record { opcode, content, .. } => each(*opcode, content),
        Piece::Attachment { .. } => Ok(()),
    }
}
