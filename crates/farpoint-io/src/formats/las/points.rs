//! Decompressing LAZ points, in parallel over chunks, never allocating on a header's word alone.

use super::chunks::LazChunks;
use crate::bytes::memory;
use crate::bytes::panics::catch_panic;
use crate::bytes::parallel;
use crate::cloud::layout::Chunks;
use crate::error::{ParseError, Place};
use laz::laszip::{ChunkTableEntry, CompressorType};
use laz::{LasZipDecompressor, LazItemType, LazVlr};
use std::io::{Cursor, Error, ErrorKind, Read, Seek, SeekFrom};

/// Bytes decompressed before the next allocation.
const BATCH: usize = 64 << 20;
/// Largest usual ratio of decompressed to compressed bytes of a file.
const USUAL_RATIO: usize = 100;

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
        Some(0) => CompressorType::None,
        Some(1) => CompressorType::PointWise,
        Some(3) => CompressorType::LayeredChunked,
        _ => CompressorType::PointWiseChunked,
    }
}

/// Checks layer sizes. Point formats 6 to 10 declare the size of each layer after the first point; laz allocates
/// these sizes, so their sum is compared with the chunk.
fn layers_fit(chunk: &[u8], vlr: &LazVlr, stride: usize) -> bool {
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
pub(super) fn one_chunk(
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

/// Decompresses one stream without a table of chunks.
pub(super) fn sequential(
    bytes: &[u8],
    start: u64,
    vlr: &LazVlr,
    count: u64,
    stride: usize,
) -> Result<Vec<u8>, ParseError> {
    catch_panic("the points cannot be decoded", || {
        if count == 0 {
            return Ok(Vec::new());
        }
        let source = Unseekable {
            inner: Cursor::new(bytes.get(start as usize..).unwrap_or_default()),
            refused: false,
        };
        let broken = |e: String, n: u64| {
            ParseError::truncated(format!("the points cannot be decompressed: {e}"))
                .at(Place::Point(n as usize))
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
