//! Writing LAS and LAZ a block of records at a time: the same bytes as all at once.

use super::counts::Counts;
use super::describe::describe_kept;
use super::write::{before_points, header_bytes, move_extended, prepare, warn_of_octree};
use crate::bytes::panics::catch_panic;
use crate::cloud::header::LasHeader;
use crate::cloud::layout::Blocks;
use crate::error::ParseError;
use laz::laszip::ChunkTable;
use laz::{LazVlr, ParLasZipCompressor};
use std::fs::File;
use std::io::{Cursor, Seek, SeekFrom, Write};

/// Bytes in front of the chunks: the offset of their table.
const OFFSET: usize = ChunkTable::OFFSET_SIZE;

/// Writes the input's header, the records that `next` returns and the records after them.
pub(crate) fn stream(
    header: &LasHeader,
    compress: bool,
    file: &mut File,
    next: Blocks<'_>,
    warnings: &mut Vec<String>,
) -> Result<(), ParseError> {
    let mut header = header.clone();
    warn_of_octree(&header, warnings);
    describe_kept(&mut header, &[])?;
    let laz = prepare(&mut header, compress)?;
    let mut counts = Counts::new(&header);
    file.write_all(&before_points(&header)?).map_err(write_error)?;
    let mut counted = || {
        let block = next()?;
        block.iter().for_each(|block| counts.add(block));
        Ok(block)
    };
    match laz {
        Some(vlr) => compressed(file, vlr, &mut counted)?,
        None => {
            while let Some(block) = counted().map_err(write_error)? {
                file.write_all(&block).map_err(write_error)?;
            }
        }
    }
    counts.state(&mut header);
    let end = file.stream_position().map_err(write_error)?;
    move_extended(&mut header, end);
    for record in &header.extended {
        file.write_all(&record.bytes).map_err(write_error)?;
    }
    file.seek(SeekFrom::Start(0)).map_err(write_error)?;
    file.write_all(&header_bytes(&header.raw)?).map_err(write_error)
}

/// An error that carries the system's error.
fn write_error(error: std::io::Error) -> ParseError {
    ParseError { io: Some(error), ..ParseError::new("cannot be written") }
}

fn compressed(file: &mut File, vlr: LazVlr, next: Blocks<'_>) -> Result<(), ParseError> {
    catch_panic("the points cannot be compressed", || {
        let start = file.stream_position().map_err(write_error)?;
        // Into memory, like files that are made at once: a second type would compile laz twice.
        let mut laz = ParLasZipCompressor::new(Cursor::new(Vec::new()), vlr)
            .map_err(|e| ParseError::new(format!("the points cannot be compressed: {e}")))?;
        // Without any point there is a table all the same.
        laz.compress_many(&[]).map_err(write_error)?;
        file.write_all(&[0; OFFSET]).map_err(write_error)?;
        while let Some(block) = next().map_err(write_error)? {
            laz.compress_many(&block).map_err(write_error)?;
            let made = laz.get_mut();
            file.write_all(&made.get_ref()[OFFSET..]).map_err(write_error)?;
            made.get_mut().truncate(OFFSET);
            made.set_position(OFFSET as u64);
        }
        laz.done().map_err(|e| write_error(std::io::Error::other(e.to_string())))?;
        let end = laz.into_inner().into_inner();
        finish(file, start, &end).map_err(write_error)
    })
}

/// Appends the last chunk and the table of all chunks, and writes at `start` the table's place in the file. These
/// bytes begin with its offset among them.
fn finish(file: &mut File, start: u64, end: &[u8]) -> std::io::Result<()> {
    let Some((offset, rest)) = end.split_first_chunk::<OFFSET>() else { return Ok(()) };
    let table = file.stream_position()? + u64::from_le_bytes(*offset) - OFFSET as u64;
    file.write_all(rest)?;
    file.seek(SeekFrom::Start(start))?;
    file.write_all(&table.to_le_bytes())?;
    file.seek(SeekFrom::End(0)).map(drop)
}
