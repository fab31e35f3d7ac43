//! The chunks of a LAZ file, each of which is read and decompressed alone.

use super::points::{self, Chunk};
use crate::bytes::panics::catch_panic;
use crate::cloud::layout::Chunks;
use crate::error::{ParseError, Place};
use laz::LazVlr;
use laz::laszip::{ChunkTable, CompressorType};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

/// Largest bytes of points of a chunk that is read alone; usual ones hold 1 to 4 MB.
const LARGEST: usize = 64 << 20;

/// Places of the chunks.
#[derive(Debug)]
pub(crate) struct LazChunks {
    vlr: LazVlr,
    stride: usize,
    all: Vec<ChunkRange>,
}

#[derive(Clone, Copy, Debug)]
struct ChunkRange {
    at: u64,
    bytes: usize,
    points: usize,
}

impl LazChunks {
    /// Finds the chunks of `count` points from byte `start` of a file of `length` bytes; `None` unless the file has a
    /// table of chunks of a usual size.
    pub(super) fn find(
        file: &mut File,
        length: u64,
        start: u64,
        vlr: &[u8],
        count: u64,
        stride: usize,
    ) -> Result<Option<LazChunks>, ParseError> {
        let vlr = points::described(vlr, stride)?;
        if points::compressor(&vlr) == CompressorType::PointWise {
            return Ok(None);
        }
        let Some(table) = table(file, length, start, &vlr)? else { return Ok(None) };
        let mut chunks = LazChunks { vlr, stride, all: Vec::new() };
        Ok(chunks.cut(&table, length, start, count)?.then_some(chunks))
    }

    /// Finds as many chunks as the points need; `false` if one is too large.
    fn cut(
        &mut self,
        table: &ChunkTable,
        length: u64,
        start: u64,
        count: u64,
    ) -> Result<bool, ParseError> {
        let (mut at, mut remaining) = (start + 8, count);
        for entry in table.as_ref() {
            let chunk_points = match self.vlr.uses_variable_size_chunks() {
                true => entry.point_count,
                false => u64::from(self.vlr.chunk_size()),
            };
            let points = chunk_points.min(remaining);
            let end = at.checked_add(entry.byte_count).filter(|&end| end <= length);
            let Some(end) = end else {
                let what = format!("chunk {} is truncated", self.all.len() + 1);
                return Err(ParseError::truncated(what).at(Place::Byte(at as usize)));
            };
            if points.saturating_mul(self.stride as u64) > LARGEST as u64 {
                return Ok(false);
            }
            if points > 0 {
                let bytes = entry.byte_count as usize;
                self.all.push(ChunkRange { at, bytes, points: points as usize });
            }
            (at, remaining) = (end, remaining - points);
        }
        match remaining {
            0 => Ok(true),
            _ => {
                let available = count - remaining;
                let what =
                    format!("the header declares {count} points, the chunks hold {available}");
                Err(ParseError::truncated(what))
            }
        }
    }
}

impl Chunks for LazChunks {
    fn points(&self) -> Vec<usize> {
        self.all.iter().map(|chunk| chunk.points).collect()
    }

    fn place(&self, index: usize) -> (u64, usize) {
        (self.all[index].at, self.all[index].bytes)
    }

    fn decompress(&self, index: usize, bytes: &[u8]) -> Result<Vec<u8>, ParseError> {
        let ChunkRange { at, points, .. } = self.all[index];
        let chunk = Chunk { bytes, at: at as usize, points };
        let located = |error: ParseError| error.at(Place::Byte(at as usize));
        if bytes.len() < self.stride || !points::layers_fit(bytes, &self.vlr, self.stride) {
            return Err(located(ParseError::new(format!("chunk {} is damaged", index + 1))));
        }
        let mut out = vec![0; points * self.stride];
        points::one_chunk(&chunk, &mut out, &self.vlr).map_err(located)?;
        Ok(out)
    }
}

/// Reads the table of chunks; `None` if there is none.
fn table(
    file: &mut File,
    length: u64,
    start: u64,
    vlr: &LazVlr,
) -> Result<Option<ChunkTable>, ParseError> {
    let table_error =
        |e: std::io::Error| ParseError::truncated(format!("the table of chunks: {e}"));
    let mut offset = |at: u64| -> Option<u64> {
        let mut bytes = [0; 8];
        file.seek(SeekFrom::Start(at)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        u64::try_from(i64::from_le_bytes(bytes)).ok().filter(|&at| at >= start + 8)
    };
    // A writer that could not seek back puts the offset at the end of the file.
    let Some(at) = offset(start).or_else(|| offset(length.checked_sub(8)?)) else {
        return Ok(None);
    };
    file.seek(SeekFrom::Start(at)).map_err(table_error)?;
    let mut head = [0; 8];
    file.read_exact(&mut head).map_err(table_error)?;
    let number = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    // A chunk starts with an uncompressed point, of 20 bytes at least.
    if u64::from(number) > length / 20 {
        let what = format!("{number} chunks are declared, more than the file can hold");
        return Err(ParseError::new(what).at(Place::Byte(at as usize)));
    }
    catch_panic("the table of chunks cannot be decoded", || {
        file.seek(SeekFrom::Start(at)).map_err(table_error)?;
        let mut source = BufReader::new(&mut *file);
        let table = ChunkTable::read(&mut source, vlr.uses_variable_size_chunks());
        table.map(Some).map_err(table_error)
    })
}
