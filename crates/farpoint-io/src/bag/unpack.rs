//! The records of a chunk, unpacked while it is read: memory for the largest record, not for the chunk.

use super::LARGEST;
use super::frames::{HEAD, damaged, place, too_large};
use crate::bytes::panics::catch_panic;
use crate::error::ParseError;
use mcap::McapError;
use mcap::records::op;
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use std::io::Read;

/// Bytes requested at a time.
const READ: usize = 1 << 20;
/// A record up to this size is read whatever the chunk declares.
const SMALL: usize = 1 << 20;

/// Unpacks one chunk after another, in memory that is kept.
pub(super) struct Unpacker {
    reader: LinearReader,
    /// Bytes of the largest record that it takes memory for.
    limit: usize,
}

/// Callback for the opcode and the content of a record.
pub(super) type Each<'a> = &'a mut dyn FnMut(u8, &[u8]) -> Result<(), ParseError>;

/// Largest expansion of one byte of a chunk: zstd repeats a byte 128 KiB long in four.
const RATIO: u64 = 1 << 15;

/// Head of a chunk, known before it is unpacked.
#[derive(Clone, Debug)]
pub(super) struct ChunkHead {
    /// Bytes that it declares to hold.
    pub(super) uncompressed: u64,
    pub(super) compression: String,
}

impl ChunkHead {
    /// Parses the head from a chunk's content; `None` if it ends before.
    pub(super) fn parse(content: &[u8]) -> Option<ChunkHead> {
        let number = |at: usize| Some(u64::from_le_bytes(*content.get(at..)?.first_chunk()?));
        let length = u32::from_le_bytes(*content.get(28..)?.first_chunk()?) as usize;
        let name = content.get(32..32usize.checked_add(length)?)?;
        let compression = String::from_utf8_lossy(name).into_owned();
        Some(ChunkHead { uncompressed: number(16)?, compression })
    }

    /// Refuses a declared size that `length` bytes can't unpack to.
    pub(super) fn check(&self, length: u64) -> Result<(), ParseError> {
        let max_size =
            if self.compression.is_empty() { length } else { length.saturating_mul(RATIO) };
        match self.uncompressed <= max_size {
            true => Ok(()),
            false => Err(damaged(format!(
                "a chunk of {length} bytes declares {} unpacked",
                self.uncompressed
            ))),
        }
    }
}

/// Bytes of a chunk's head with an empty compression name.
const SHORTEST: u64 = 40;

/// Bytes at the start of a chunk's content that include its head.
pub(super) const CHUNK_HEAD: usize = 64;

impl Unpacker {
    pub(super) fn new() -> Unpacker {
        Unpacker::up_to(SMALL)
    }

    fn up_to(limit: usize) -> Unpacker {
        let options = LinearReaderOptions::default()
            .with_skip_start_magic(true)
            .with_skip_end_magic(true)
            .with_validate_chunk_crcs(true)
            .with_record_length_limit(limit);
        Unpacker { reader: LinearReader::new_with_options(options), limit }
    }

    /// Calls `each` with the opcode and the content of every record of the chunk that `chunk_head` describes. Its
    /// content of `length` bytes comes from `input` and starts at byte `at` of the file. Of a chunk that is not `complete`,
    /// the available part is read, and the missing rest is not an error.
    ///
    /// # Errors
    /// If the chunk is damaged, after the records before that place; errors of `each`.
    pub(super) fn chunk(
        &mut self,
        input: &mut dyn Read,
        (at, length, complete): (u64, u64, bool),
        chunk_head: &ChunkHead,
        each: Each<'_>,
    ) -> Result<(), ParseError> {
        chunk_head.check(length).map_err(|error| error.at(place(at)))?;
        // Memory for a record is taken before it is unpacked.
        let declared = usize::try_from(chunk_head.uncompressed).unwrap_or(LARGEST).min(LARGEST);
        if declared > self.limit {
            *self = Unpacker::up_to(declared.next_power_of_two());
        }
        let done = self.unpack(input, length, chunk_head.uncompressed, each);
        if !matches!(done, Ok(true)) {
            // It is in the middle of this chunk.
            *self = Unpacker::up_to(self.limit);
        }
        match done {
            Err(Stop::Other(error)) => Err(error),
            // Data that is cut off in the middle may look damaged.
            _ if !complete => Ok(()),
            Ok(true) => Ok(()),
            Ok(false) => Err(damaged("a chunk ends in the middle of a record").at(place(at))),
            Err(Stop::Damaged(error)) => Err(error.at(place(at))),
        }
    }

    /// Returns whether the end of the chunk was reached. `remaining_unpacked` is its declared size.
    fn unpack(
        &mut self,
        input: &mut dyn Read,
        length: u64,
        mut remaining_unpacked: u64,
        each: Each<'_>,
    ) -> Result<bool, Stop> {
        let mut head = [0; HEAD];
        head[0] = op::CHUNK;
        head[1..].copy_from_slice(&length.to_le_bytes());
        self.reader.insert(HEAD).copy_from_slice(&head);
        self.reader.notify_read(HEAD);
        let mut remaining = length;
        loop {
            // The crate counts down without looking whether a record ends after its chunk.
            let event = catch_panic("a chunk is damaged", || Ok(self.reader.next_event()));
            let event = match event.map_err(Stop::Damaged)? {
                None => return Ok(true),
                Some(Err(error)) => return Err(Stop::Damaged(chunk_error(error))),
                Some(Ok(event)) => event,
            };
            match event {
                LinearReadEvent::Record { opcode: 0, .. } => {
                    return Err(Stop::Damaged(damaged(
                        "a chunk has a record of the code 0, which none has",
                    )));
                }
                LinearReadEvent::Record { opcode, data } => {
                    let rest = remaining_unpacked.checked_sub((HEAD + data.len()) as u64);
                    let longer = || Stop::Damaged(damaged("a record ends after its chunk"));
                    remaining_unpacked = rest.ok_or_else(longer)?;
                    each(opcode, data).map_err(Stop::Other)?;
                }
                // All is read and taken: the reader waits for the head of another record of the file.
                LinearReadEvent::ReadRequest(requested) if remaining == 0 => {
                    return Ok(requested == HEAD && length >= SHORTEST);
                }
                LinearReadEvent::ReadRequest(requested) => {
                    let requested =
                        requested.clamp(1, READ.min(usize::try_from(remaining).unwrap_or(READ)));
                    let read = input.read(self.reader.insert(requested));
                    let read = read.map_err(|error| {
                        Stop::Other(damaged(format!("cannot be read further: {error}")))
                    })?;
                    if read == 0 {
                        return Ok(false);
                    }
                    self.reader.notify_read(read);
                    remaining -= read as u64;
                }
            }
        }
    }
}

/// Reason why unpacking ended.
enum Stop {
    /// The chunk is damaged.
    Damaged(ParseError),
    Other(ParseError),
}

fn chunk_error(error: McapError) -> ParseError {
    match error {
        McapError::RecordTooLarge { len, .. } | McapError::ChunkTooLarge(len) => too_large(len),
        McapError::UnsupportedCompression(name) => {
            let what = format!("a chunk is compressed by '{name}', which is not read");
            ParseError::new(what).fix("'mcap compress' writes it with zstd")
        }
        McapError::BadChunkCrc { saved, calculated } => damaged(format!(
            "a chunk is damaged: its checksum is {calculated:08x}, not {saved:08x}"
        )),
        error => damaged(format!("a chunk is damaged: {error}")),
    }
}
