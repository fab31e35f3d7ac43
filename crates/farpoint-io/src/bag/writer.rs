//! The output: records in the order of the input, with their numbers, in chunks compressed as in the input.

use super::contents::Contents;
use super::cut::{Ready, records};
use super::frames::{damaged, place};
use super::source::Source;
use crate::bytes::sink::Target;
use crate::error::ParseError;
use mcap::records::{AttachmentHeader, Record, op};
use mcap::write::{PrivateRecordOptions, WriteOptions};
use mcap::{Compression, McapError};
use std::io::{Read, Seek, SeekFrom, Write};

/// Bytes of an attachment that are copied at a time.
const BLOCK: usize = 1 << 20;

/// An MCAP file that is being written.
pub(super) struct Writer<'a> {
    inner: mcap::Writer<Box<dyn Target + 'a>>,
    /// Source from which attachments are copied.
    source: &'a Source,
    /// Records of types that a later version of the format may define.
    pub(super) unknown: u64,
}

impl<'a> Writer<'a> {
    /// A file without messages; `seeks` says whether the target is seekable.
    pub(super) fn new(
        target: Box<dyn Target + 'a>,
        seeks: bool,
        contents: &Contents,
        source: &'a Source,
    ) -> Result<Writer<'a>, ParseError> {
        let compression = contents.compression.as_deref();
        let options = WriteOptions::new()
            .profile(contents.profile.clone())
            .library(library(&contents.library))
            .use_chunks(compression.is_some())
            .compression(match compression {
                Some("zstd") => Some(Compression::Zstd),
                Some("lz4") => Some(Compression::Lz4),
                _ => None,
            })
            // Threads are for messages.
            .compression_threads(0)
            .disable_seeking(!seeks);
        let inner = options.create(target).map_err(write_error)?;
        Ok(Writer { inner, source, unknown: 0 })
    }

    /// Writes a piece.
    pub(super) fn put(&mut self, ready: &Ready) -> Result<(), ParseError> {
        match ready {
            Ready::Records { bytes, chunked, .. } => records(bytes)
                .try_for_each(|(opcode, content)| self.record(opcode, content, *chunked)),
            Ready::Attachment { at, length } => self.attachment(*at, *length),
        }
    }

    /// Writes the index and the end.
    pub(super) fn finish(mut self) -> Result<(), ParseError> {
        self.inner.finish().map_err(write_error)?;
        self.inner.into_inner().flush().map_err(|error| write_error(error.into()))
    }

    fn record(&mut self, opcode: u8, content: &[u8], chunked: bool) -> Result<(), ParseError> {
        if opcode >= 0x80 {
            let mut options = PrivateRecordOptions::IncludeInChunks.into();
            if !chunked {
                options = Default::default();
            }
            return self.inner.write_private_record(opcode, content, options).map_err(write_error);
        }
        // The index is rebuilt.
        if matches!(opcode, op::MESSAGE_INDEX..=op::CHUNK_INDEX | op::ATTACHMENT_INDEX..=op::STATISTICS)
            || matches!(opcode, op::METADATA_INDEX | op::SUMMARY_OFFSET)
        {
            return Ok(());
        }
        let record = mcap::parse_record(opcode, content);
        match record.map_err(|error| damaged(format!("a record is damaged: {error}")))? {
            Record::Schema { header, data } => self
                .inner
                .add_schema_with_id(header.id, &header.name, &header.encoding, &data)
                .map(drop),
            Record::Channel(channel) => {
                let (topic, encoding) = (&channel.topic, &channel.message_encoding);
                let (id, schema) = (channel.id, channel.schema_id);
                self.inner
                    .add_channel_with_id(id, schema, topic, encoding, &channel.metadata)
                    .map(drop)
            }
            Record::Message { header, data } => self.inner.write_to_known_channel(&header, &data),
            Record::Metadata(metadata) => self.inner.write_metadata(&metadata),
            _ => {
                self.unknown += 1;
                Ok(())
            }
        }
        .map_err(write_error)
    }

    /// Copies an attachment in blocks, and checks that it is as it was recorded.
    fn attachment(&mut self, at: u64, length: u64) -> Result<(), ParseError> {
        let short = |_| damaged("an attachment is damaged").at(place(at));
        let mut input = self.source.open().map_err(short)?;
        input.seek(SeekFrom::Start(at)).map_err(short)?;
        let mut input = input.take(length);
        let header = AttachmentHeader {
            log_time: number(&mut input).map_err(short)?,
            create_time: number(&mut input).map_err(short)?,
            name: text(&mut input).map_err(short)?,
            media_type: text(&mut input).map_err(short)?,
        };
        let mut remaining = number(&mut input).map_err(short)?;
        if input.limit() != remaining.saturating_add(4) {
            return Err(short(std::io::ErrorKind::InvalidData.into()));
        }
        self.inner.start_attachment(remaining, header).map_err(write_error)?;
        let mut block = vec![0; BLOCK.min(usize::try_from(remaining).unwrap_or(BLOCK))];
        while remaining > 0 {
            let count = block.len().min(usize::try_from(remaining).unwrap_or(BLOCK));
            input.read_exact(&mut block[..count]).map_err(short)?;
            self.inner.put_attachment_bytes(&block[..count]).map_err(write_error)?;
            remaining -= count as u64;
        }
        self.inner.finish_attachment().map_err(write_error)
    }
}

/// Names the writer of the output, and of the input.
fn library(input: &str) -> String {
    let software = concat!("farpoint ", env!("CARGO_PKG_VERSION"));
    match input {
        "" => software.to_owned(),
        input if input.starts_with(software) => input.to_owned(),
        input => format!("{software}, from {input}"),
    }
}

fn number(input: &mut impl Read) -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn text<T: Read>(input: &mut std::io::Take<T>) -> std::io::Result<String> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u64::from(u32::from_le_bytes(length));
    if length > input.limit() {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let mut bytes = vec![0; length as usize];
    input.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

/// Maps an error of the writer: the input is at fault, except for system errors.
fn write_error(error: McapError) -> ParseError {
    match error {
        McapError::Io(error) => {
            ParseError { io: Some(error), ..ParseError::new("cannot be written") }
        }
        McapError::UnknownChannel(_, channel) => {
            damaged(format!("a message of the undefined channel {channel}"))
        }
        error => damaged(error.to_string()),
    }
}
