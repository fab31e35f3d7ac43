//! The LASzip record, and points compressed as one stream.

use crate::bytes::panics::catch_panic;
use crate::error::{ParseError, Place};
use laz::laszip::CompressorType;
use laz::{LasZipDecompressor, LazItemType, LazVlr};
use std::io::{Cursor, Error, ErrorKind, Read, Seek, SeekFrom};

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
