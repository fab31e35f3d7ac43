//! Decompressing LAZ points, in parallel over chunks, never allocating on a header's word alone.

use crate::bytes::memory;
use crate::bytes::panics::catch_panic;
use crate::bytes::parallel;
use crate::error::{ParseError, Place};
use laz::laszip::{ChunkTable, ChunkTableEntry, CompressorType};
use laz::{LasZipDecompressor, LazItemType, LazVlr};
use std::io::{Cursor, Error, ErrorKind, Read, Seek, SeekFrom};

/// Bytes decompressed before the next allocation.
const BATCH: usize = 64 << 20;
/// Largest usual ratio of decompressed to compressed bytes of a file.
const USUAL_RATIO: usize = 100;
/// No real chunk is compressed further than this; a larger declared size is refused.
const RATIO: usize = 10_000;

/// One chunk: its compressed bytes and the number of points to decompress.
pub(super) struct Chunk<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) points: usize,
}

/// Decompresses `count` records of `stride` bytes.
pub(super) fn decompress(
    bytes: &[u8],
    start: usize,
    vlr: &[u8],
    count: u64,
    stride: usize,
) -> Result<Vec<u8>, ParseError> {
    let vlr = described(vlr, stride)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let count = usize::try_from(count)
        .map_err(|_| ParseError::new(format!("{count} points are too many")))?;
    match (compressor(&vlr), chunk_table(bytes, start, &vlr)?) {
        (CompressorType::PointWise, _) => sequential(bytes, start, &vlr, count, stride),
        (CompressorType::PointWiseChunked, None) if !vlr.uses_variable_size_chunks() => {
            sequential(bytes, start, &vlr, count, stride)
        }
        (_, None) => Err(ParseError::truncated("the table of chunks is missing")),
        (_, Some(table)) => {
            let chunks = chunks(bytes, start, &vlr, &table, count, stride)?;
            chunked(&chunks, &vlr, stride)
        }
    }
}

/// Parses the LASzip record, which must describe points of `stride` bytes.
pub(super) fn described(vlr: &[u8], stride: usize) -> Result<LazVlr, ParseError> {
    catch_panic("the LASzip record cannot be decoded", || {
        let vlr = LazVlr::from_buffer(vlr)
            .map_err(|e| ParseError::new(format!("the LASzip record: {e}")))?;
        let size = vlr.items().iter().map(|i| usize::from(i.size())).sum::<usize>();
        if vlr.items().is_empty() || size != stride {
            let what = format!(
                "the LASzip record describes points of {size} bytes, the header of {stride}"
            );
            return Err(ParseError::new(what));
        }
        Ok(vlr)
    })
}

/// Returns the compressor type, which has no accessor: the record's first two bytes.
pub(super) fn compressor(vlr: &LazVlr) -> CompressorType {
    let mut bytes = Vec::new();
    // Writing to a Vec cannot fail.
    let _ = vlr.write_to(&mut bytes);
    match bytes.first() {
        Some(1) => CompressorType::PointWise,
        Some(3) => CompressorType::LayeredChunked,
        _ => CompressorType::PointWiseChunked,
    }
}

/// Reads the table of chunks; `None` if the writer stored none.
fn chunk_table(bytes: &[u8], start: usize, vlr: &LazVlr) -> Result<Option<ChunkTable>, ParseError> {
    let offset = |at: usize| -> Option<usize> {
        let offset = i64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
        usize::try_from(offset).ok().filter(|&o| o >= start + 8)
    };
    // A writer that could not seek back puts the offset at the end of the file.
    let Some(at) = offset(start).or_else(|| offset(bytes.len().checked_sub(8)?)) else {
        return Ok(None);
    };
    let Some(head) = bytes.get(at..).and_then(|b| b.get(..8)) else {
        let what =
            format!("the table of chunks should be at byte {at}, the file has {}", bytes.len());
        return Err(ParseError::truncated(what));
    };
    let number = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    // A chunk starts with an uncompressed point, of 20 bytes at least.
    if number > bytes.len() / 20 {
        let what = format!("{number} chunks are declared, more than the file can hold");
        return Err(ParseError::new(what).at(Place::Byte(at)));
    }
    catch_panic("the table of chunks cannot be decoded", || {
        let mut cursor = Cursor::new(&bytes[at..]);
        let table = ChunkTable::read(&mut cursor, vlr.uses_variable_size_chunks());
        table
            .map(Some)
            .map_err(|e| ParseError::new(format!("the table of chunks: {e}")).at(Place::Byte(at)))
    })
}

/// Cuts the data into as many chunks as the points need.
fn chunks<'a>(
    bytes: &'a [u8],
    start: usize,
    vlr: &LazVlr,
    table: &ChunkTable,
    count: usize,
    stride: usize,
) -> Result<Vec<Chunk<'a>>, ParseError> {
    let mut chunks = Vec::new();
    let mut at = start + 8;
    let mut remaining = count;
    for entry in table.as_ref() {
        if remaining == 0 {
            break;
        }
        let chunk_points = match vlr.uses_variable_size_chunks() {
            true => usize::try_from(entry.point_count).unwrap_or(usize::MAX),
            false => vlr.chunk_size() as usize,
        };
        let points = chunk_points.min(remaining);
        let end = usize::try_from(entry.byte_count).ok().and_then(|n| at.checked_add(n));
        let cut = || {
            ParseError::truncated(format!("chunk {} is truncated", chunks.len() + 1))
                .at(Place::Byte(at))
        };
        let data = end.and_then(|end| bytes.get(at..end)).ok_or_else(cut)?;
        let plausible =
            points.checked_mul(stride).is_some_and(|n| n <= BATCH || n / RATIO <= data.len());
        if points > 0 && (data.len() < stride || !plausible || !layers_fit(data, vlr, stride)) {
            return Err(ParseError::new(format!("chunk {} is damaged", chunks.len() + 1))
                .at(Place::Byte(at)));
        }
        if points > 0 {
            chunks.push(Chunk { bytes: data, at, points });
        }
        at += data.len();
        remaining -= points;
    }
    if remaining > 0 {
        let what =
            format!("the header declares {count} points, the chunks hold {}", count - remaining);
        return Err(ParseError::truncated(what));
    }
    Ok(chunks)
}

/// Checks layer sizes. Point formats 6 to 10 declare the size of each layer after the first point; laz allocates
/// these sizes, so their sum is compared with the chunk.
pub(super) fn layers_fit(chunk: &[u8], vlr: &LazVlr, stride: usize) -> bool {
    let layers = vlr.items().iter().map(|item| match item.item_type() {
        LazItemType::Point14 => 9,
        LazItemType::RGBNIR14 => 2,
        LazItemType::RGB14 | LazItemType::WavePacket14 => 1,
        LazItemType::Byte14(count) => usize::from(count),
        _ => 0,
    });
    let layers: usize = layers.sum();
    if layers == 0 {
        return true;
    }
    let Some(sizes) = chunk.get(stride + 4..stride + 4 + 4 * layers) else { return false };
    let size = |s: &[u8]| u64::from(u32::from_le_bytes([s[0], s[1], s[2], s[3]]));
    let total: u64 = sizes.chunks_exact(4).map(size).sum();
    total <= (chunk.len() - stride - 4 - 4 * layers) as u64
}

fn chunked(chunks: &[Chunk], vlr: &LazVlr, stride: usize) -> Result<Vec<u8>, ParseError> {
    let points: usize = chunks.iter().map(|chunk| chunk.points).sum();
    memory::fits(points as u64, stride + size_of::<[f64; 3]>())?;
    let packed: usize = chunks.iter().map(|chunk| chunk.bytes.len()).sum();
    // A small declared size is allocated at once: zeros that each thread is first to touch.
    let batch = BATCH.max(packed.saturating_mul(USUAL_RATIO));
    let mut out = Vec::new();
    let mut rest = chunks;
    while !rest.is_empty() {
        let mut size = 0;
        let more = rest.iter().take_while(|c| {
            size += c.points * stride;
            size <= batch
        });
        let (now, later) = rest.split_at(more.count().max(1));
        let filled = out.len();
        let size: usize = now.iter().map(|c| c.points * stride).sum();
        match filled {
            0 => out = vec![0; size],
            _ => out.resize(filled + size, 0),
        }
        let mut free = &mut out[filled..];
        let slices = now.iter().map(|chunk| (chunk, free.split_off_mut(..chunk.points * stride)));
        parallel::try_map(slices, |(chunk, slice)| {
            one_chunk(chunk, slice.unwrap_or_default(), vlr)
                .map_err(|f| f.at(Place::Byte(chunk.at)))
        })?;
        rest = later;
    }
    Ok(out)
}

/// Decompresses one chunk. A single entry makes laz's parallel function decompress on this very thread, where its
/// panics are caught.
pub(super) fn one_chunk(chunk: &Chunk, out: &mut [u8], vlr: &LazVlr) -> Result<(), ParseError> {
    let entry =
        ChunkTableEntry { point_count: chunk.points as u64, byte_count: chunk.bytes.len() as u64 };
    catch_panic("a chunk of points cannot be decoded", || {
        laz::par_decompress(chunk.bytes, out, vlr, &[entry])
            .map_err(|e| ParseError::new(format!("a chunk of points cannot be decompressed: {e}")))
    })
}

/// Decompresses one stream without a table of chunks.
fn sequential(
    bytes: &[u8],
    start: usize,
    vlr: &LazVlr,
    count: usize,
    stride: usize,
) -> Result<Vec<u8>, ParseError> {
    catch_panic("the points cannot be decoded", || {
        let source = Unseekable {
            inner: Cursor::new(bytes.get(start..).unwrap_or_default()),
            refused: false,
        };
        let broken = |e: String, n: usize| {
            ParseError::truncated(format!("the points cannot be decompressed: {e}"))
                .at(Place::Point(n))
        };
        let mut laz =
            LasZipDecompressor::new(source, vlr.clone()).map_err(|e| broken(e.to_string(), 0))?;
        let mut out = Vec::new();
        for point in 0..count {
            let filled = out.len();
            out.resize(filled + stride, 0);
            laz.decompress_one(&mut out[filled..]).map_err(|e| broken(e.to_string(), point))?;
        }
        Ok(out)
    })
}

/// Refuses the first seek, by which laz searches a table that is known to be missing.
struct Unseekable<'a> {
    inner: Cursor<&'a [u8]>,
    refused: bool,
}

impl Read for Unseekable<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read(out)
    }
}

impl Seek for Unseekable<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        if !self.refused {
            self.refused = true;
            return Err(Error::from(ErrorKind::Unsupported));
        }
        self.inner.seek(to)
    }
}
