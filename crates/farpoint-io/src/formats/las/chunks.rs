//! The chunks of a LAZ file, each of which is read and decompressed alone, never allocating on a header's word alone.

use super::points::layers_fit;
use crate::bytes::load::{Readable, part};
use crate::bytes::panics::catch_panic;
use crate::bytes::{memory, parallel};
use crate::cloud::layout::Chunks;
use crate::error::{ParseError, Place};
use laz::LazVlr;
use laz::laszip::{ChunkTable, ChunkTableEntry};
use std::io::Cursor;

/// Bytes decompressed before the next allocation.
const BATCH: usize = 64 << 20;
/// Largest usual ratio of decompressed to compressed bytes of a file.
const USUAL_RATIO: usize = 100;
/// Largest bytes of points of a chunk that is read alone; usual ones hold 1 to 4 MB.
const LARGEST: usize = 64 << 20;
/// Points of this size are decompressed whatever their compressed size.
const SMALL: u64 = 64 << 20;
/// No real points are compressed further than this; a larger declared size is refused.
const RATIO: u64 = 10_000;
/// Most bytes of the table for a chunk, whose two numbers take up to 7 bytes each.
const ENTRY: u64 = 16;

/// Places of the chunks.
#[derive(Debug)]
pub(crate) struct LazChunks {
    pub(super) vlr: LazVlr,
    pub(super) stride: usize,
    pub(super) all: Vec<ChunkRange>,
    /// Chunks after those that the points need.
    pub(super) unused: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkRange {
    pub(super) at: u64,
    pub(super) bytes: usize,
    pub(super) points: usize,
}

impl LazChunks {
    /// Finds the chunks of `count` points from byte `start` of a file of `length` bytes; `None` without a table.
    pub(super) fn find(
        source: &mut dyn Readable,
        length: u64,
        start: u64,
        vlr: &LazVlr,
        count: u64,
        stride: usize,
    ) -> Result<Option<LazChunks>, ParseError> {
        let Some(table) = table(source, length, start, vlr)? else { return Ok(None) };
        let mut chunks = LazChunks { vlr: vlr.clone(), stride, all: Vec::new(), unused: 0 };
        chunks.cut(&table, length, start, count)?;
        Ok(Some(chunks))
    }

    /// Returns whether each chunk has a size at which it can be read alone.
    pub(super) fn are_small(&self) -> bool {
        self.all.iter().all(|chunk| chunk.points.saturating_mul(self.stride) <= LARGEST)
    }

    /// Finds as many chunks as the points need.
    fn cut(
        &mut self,
        table: &ChunkTable,
        length: u64,
        start: u64,
        count: u64,
    ) -> Result<(), ParseError> {
        let (mut at, mut remaining) = (start + 8, count);
        for entry in table.as_ref() {
            let chunk_points = match self.vlr.uses_variable_size_chunks() {
                true => entry.point_count,
                false => u64::from(self.vlr.chunk_size()),
            };
            let points = chunk_points.min(remaining);
            let end = at.checked_add(entry.byte_count).filter(|&end| end <= length);
            let fails = |error: ParseError| Err(error.at(Place::Byte(at as usize)));
            let number = self.all.len() + 1;
            // A chunk starts with an uncompressed point.
            let whole = entry.byte_count >= self.stride as u64;
            match end {
                _ if points == 0 && remaining == 0 => self.unused += usize::from(whole),
                None => {
                    return fails(ParseError::truncated(format!("chunk {number} is truncated")));
                }
                Some(_) if points == 0 => {}
                Some(_) if !whole || !plausible(points, self.stride, entry.byte_count) => {
                    return fails(ParseError::new(format!("chunk {number} is damaged")));
                }
                Some(_) => {
                    let bytes = entry.byte_count as usize;
                    self.all.push(ChunkRange { at, bytes, points: points as usize });
                }
            }
            at = at.saturating_add(entry.byte_count);
            remaining -= points;
        }
        match remaining {
            0 => Ok(()),
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
        let mut out = vec![0; self.all[index].points * self.stride];
        one_chunk(self, index, bytes, &mut out)?;
        Ok(out)
    }
}

/// Decompresses all chunks of a file.
pub(super) fn chunked(file: &[u8], chunks: &LazChunks) -> Result<Vec<u8>, ParseError> {
    let (all, stride) = (&chunks.all[..], chunks.stride);
    let points: usize = all.iter().map(|chunk| chunk.points).sum();
    memory::fits(points as u64, stride + size_of::<[f64; 3]>())?;
    let packed: usize = all.iter().map(|chunk| chunk.bytes).sum();
    // A small declared size is allocated at once: zeros that each thread is first to touch.
    let batch = BATCH.max(packed.saturating_mul(USUAL_RATIO));
    let (mut out, mut done) = (Vec::new(), 0);
    while done < all.len() {
        let mut size = 0;
        let more = all[done..].iter().take_while(|c| {
            size += c.points * stride;
            size <= batch
        });
        let now = done..done + more.count().max(1);
        let filled = out.len();
        let size: usize = all[now.clone()].iter().map(|c| c.points * stride).sum();
        match filled {
            0 => out = vec![0; size],
            _ => out.resize(filled + size, 0),
        }
        let mut free = &mut out[filled..];
        done = now.end;
        let slices = now.map(|index| (index, free.split_off_mut(..all[index].points * stride)));
        parallel::try_map(slices, |(index, slice)| {
            let (at, length) = chunks.place(index);
            let bytes = &file[at as usize..][..length];
            one_chunk(chunks, index, bytes, slice.unwrap_or_default())
        })?;
    }
    Ok(out)
}

/// Decompresses one chunk from its bytes. A single entry makes laz's parallel function decompress on this very thread,
/// where its panics are caught.
fn one_chunk(
    chunks: &LazChunks,
    index: usize,
    bytes: &[u8],
    out: &mut [u8],
) -> Result<(), ParseError> {
    let (chunk, vlr) = (chunks.all[index], &chunks.vlr);
    let entry =
        ChunkTableEntry { point_count: chunk.points as u64, byte_count: bytes.len() as u64 };
    let decompressed = match layers_fit(bytes, vlr, chunks.stride) {
        false => Err(ParseError::new(format!("chunk {} is damaged", index + 1))),
        true => catch_panic("a chunk of points cannot be decoded", || {
            laz::par_decompress(bytes, out, vlr, &[entry]).map_err(|e| {
                ParseError::new(format!("a chunk of points cannot be decompressed: {e}"))
            })
        }),
    };
    decompressed.map_err(|error| error.at(Place::Byte(chunk.at as usize)))
}

/// Returns whether that many points may be compressed to so few bytes.
pub(super) fn plausible(points: u64, stride: usize, bytes: u64) -> bool {
    let size = points.saturating_mul(stride as u64);
    size <= SMALL || size / RATIO <= bytes
}

/// Reads the table of chunks; `None` if the writer stored none.
fn table(
    source: &mut dyn Readable,
    length: u64,
    start: u64,
    vlr: &LazVlr,
) -> Result<Option<ChunkTable>, ParseError> {
    let mut offset = |at: u64| -> Option<u64> {
        let bytes = part(source, at, 8).ok()?.try_into().ok()?;
        u64::try_from(i64::from_le_bytes(bytes)).ok().filter(|&at| at >= start + 8)
    };
    // A writer that could not seek back puts the offset at the end of the file.
    let Some(at) = offset(start).or_else(|| offset(length.checked_sub(8)?)) else {
        return Ok(None);
    };
    let head = part(source, at, 8)?;
    let Some(number) = head.get(4..8).and_then(|bytes| bytes.try_into().ok()) else {
        let what = format!("the table of chunks should be at byte {at}, the file has {length}");
        return Err(ParseError::truncated(what));
    };
    let number = u64::from(u32::from_le_bytes(number));
    // A chunk starts with an uncompressed point, of 20 bytes at least.
    if number > length / 20 {
        let what = format!("{number} chunks are declared, more than the file can hold");
        return Err(ParseError::new(what).at(Place::Byte(at as usize)));
    }
    let bytes = part(source, at, 64 + ENTRY * number)?;
    catch_panic("the table of chunks cannot be decoded", || {
        let table = ChunkTable::read(&mut Cursor::new(&bytes), vlr.uses_variable_size_chunks());
        let failed = |e| ParseError::truncated(format!("the table of chunks: {e}"));
        table.map(Some).map_err(|e| failed(e).at(Place::Byte(at as usize)))
    })
}
